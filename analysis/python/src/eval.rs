//! Values that Python code outside of kernels gives to names: module constants, locals of factories, imports.

mod arithmetic;
mod binding;
mod builtins;
mod choice;
mod dictionaries;
mod entries;
mod functions;
mod imports;
mod methods;
mod object;
mod options;
mod parts;
mod paths;
mod records;
mod standalone;
#[cfg(test)]
mod tests;
mod text;

use std::cell::Cell;
use std::fmt;

use tilefit_syntax::BlockKey;
use tilefit_syntax::ast::{Arg, Ast, BoolOp, Clause, CompareOp, Expr, ExprId, FloatBits, StmtId};

use crate::element::Dtype;
use crate::finding::Reason;
use crate::work;
use arithmetic::{binary, compare, unary};
use builtins::{builtin, is_builtin, math, product};

pub use arithmetic::{floor_div, integers, truth};
pub use binding::{
    Binding, LONGEST_CHAIN, asks_for_program, assigned_member, binding, binding_in, bound_value, is_bound_by_program,
    too_far,
};
pub use choice::{OneOf, lifted};
pub use imports::{Bindings, Bound, Imports, Module};
pub use object::{Behaviour, Object};
pub use parts::{DEEPEST_PARTS, Parts, Weighed};
pub use paths::Pattern;
pub use records::Record;
pub use standalone::{Call, Language, Standalone};

/// The value of a Python expression, as far as it can be known without running it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    Int(i64),
    /// A number between these two, both included. Only among the values of [`OneOf`].
    Between(i64, i64),
    Float(FloatBits),
    Bool(bool),
    Str(String),
    None,
    Dtype(Dtype),
    /// A name of a language whose value is the name itself: a member of an enumeration, an element type of its own.
    Member(String),
    List(Parts<Constant>),
    Tuple(Parts<Constant>),
    /// An object of a data class.
    Record(Record),
    /// What only a language or a library knows: a memory space, a tensor of the host.
    Object(Object),
    /// A function of the file, by its name. Only where host code is followed.
    Function(String),
    /// A function inside of the one that is being run. Only among the locals of that, by the name that it has there.
    Local(StmtId),
    /// `lambda: body` of the function that is being run, or `functools.partial(…)`. Only among the locals of that.
    Thunk(ExprId),
    /// Unknown values stay inside, so that the other keys are known.
    Dict(Parts<(Constant, Constant)>),
    /// One of a few values. Only where host code is followed that weighs what launches may be given.
    OneOf(OneOf),
    Unknown(Reason),
}

/// What no text says and a value rests on all the same: how the program is started.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Assumption {
    /// Without arguments on the command line.
    NoArguments,
    /// Without this variable in the environment.
    NotSet(String),
    /// Without what the file does only where it is the program.
    Imported,
    /// With what a module declares in place of what it computes.
    Declared,
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Assumption::NoArguments => f.write_str("the script runs without arguments"),
            Assumption::Imported => f.write_str("the file is imported, so `if __name__ == \"__main__\":` does nothing"),
            Assumption::Declared => f.write_str(
                "what a module gives by `__getattr__` is what it declares under `TYPE_CHECKING`: its environment sets nothing else",
            ),
            Assumption::NotSet(name) => write!(f, "`{name}` is not set in the environment"),
        }
    }
}

impl Constant {
    /// As in Python's text, for people.
    pub fn shown(&self) -> String {
        match self {
            Constant::Float(value) => value.get().to_string(),
            Constant::Dtype(dtype) => format!("pl.{dtype}"),
            Constant::Str(text) => format!("\"{text}\""),
            value => text::text(value).unwrap_or_else(|| "an object".to_owned()),
        }
    }
}

/// What a kernel, or another expression, sees of the code around it.
///
/// A scope answers what it knows of itself; all else is asked of the scope around it. Only the outermost one forgets.
pub trait Scope {
    /// The scope around this one.
    fn outer(&self) -> Option<&dyn Scope>;

    /// The value of a name of the enclosing functions or the module; `None` where no such name is bound.
    fn constant(&self, name: &str) -> Option<Constant> {
        self.outer()?.constant(name)
    }

    /// The function of that name in the enclosing program (`self.name`) or module, for inlining and signatures; `module.name` is one of a
    /// module that the file imports.
    fn function(&self, name: &str) -> Option<FunctionSource> {
        self.outer()?.function(name)
    }

    /// What a function of that name sees, if it stands in another file.
    fn defining_scope(&self, function: &str) -> Option<Box<dyn Scope + '_>> {
        self.outer()?.defining_scope(function)
    }

    /// What a function of that name rests on and nothing defines, for people.
    fn unknown_names(&self, function: &str) -> Vec<String> {
        self.outer().map_or_else(Vec::new, |outer| outer.unknown_names(function))
    }

    /// What a parameter of the function is called with, where its annotation leaves that open.
    fn argument(&self, param: &str) -> Option<Constant> {
        self.outer()?.argument(param)
    }

    /// What `module.member` is, for a module that the file imports.
    fn module_member(&self, module: &str, member: &str) -> Option<Constant> {
        self.outer()?.module_member(module, member)
    }

    /// The module that `import module as name` binds.
    fn module(&self, name: &str) -> Option<String> {
        self.outer()?.module(name)
    }

    /// `function[grid](arguments)`, or `function.fn[grid](arguments)` past what its decorators do; `None` where it is no such function.
    fn launch(&self, function: &str, past_decorators: bool, arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        self.outer()?.launch(function, past_decorators, arguments)
    }

    /// Whether a call of that function never returns.
    fn ends(&self, path: &[&str]) -> bool {
        self.outer().is_some_and(|outer| outer.ends(path))
    }

    /// Whether host code is followed for the calls that it makes: what is not known then ends nothing.
    fn follows(&self) -> bool {
        self.outer().is_some_and(Scope::follows)
    }

    /// A number for something that only the launch decides, where each way that it may go is followed; `None` where only what is sure counts.
    fn decision(&self) -> Option<u32> {
        self.outer()?.decision()
    }

    /// What is known of a tensor of which only its element type is known.
    fn tensor_of(&self, dtype: &Constant) -> Option<Constant> {
        self.outer()?.tensor_of(dtype)
    }

    /// Whether all that a list may hold is wanted, where a condition that is not known decides. Asked where that makes a difference.
    fn takes_all(&self) -> bool {
        self.outer().is_some_and(Scope::takes_all)
    }

    /// Takes note that a value rests on an assumption.
    fn assume(&self, assumption: Assumption) {
        if let Some(outer) = self.outer() {
            outer.assume(assumption);
        }
    }

    /// The class of that name, and what its body sees.
    fn class(&self, name: &str) -> Option<(ClassSource, Box<dyn Scope + '_>)> {
        self.outer()?.class(name)
    }

    /// Where the names come from that the module imports.
    fn imports(&self) -> Option<&Imports> {
        self.outer()?.imports()
    }

    /// The meaning of a name of a language or a library, `pl.FP32` or `tl.constexpr`; `None` where it is none of theirs.
    fn language_name(&self, path: &[&str]) -> Option<Constant> {
        self.outer()?.language_name(path)
    }

    /// What a call of one of their functions gives; `None` where it is none, and then nothing asks for `arguments`.
    fn language_call(&self, path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        self.outer()?.language_call(path, arguments)
    }
}

/// The keyword of an argument of a launch that is an unpacked mapping with keys that are not all known.
pub const UNKNOWN_KEYWORDS: &str = "**";

/// An argument of a call that is evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    pub keyword: Option<String>,
    pub value: Constant,
}

/// The value that is passed under a name.
pub fn keyword<'a>(arguments: &'a [Argument], name: &str) -> Option<&'a Constant> {
    arguments.iter().find(|argument| argument.keyword.as_deref() == Some(name)).map(|argument| &argument.value)
}

/// The syntax of a class: its header with the statements up to the first method, and its methods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassSource {
    pub header: std::sync::Arc<Ast>,
    pub methods: Vec<std::sync::Arc<Ast>>,
}

/// The syntax of another function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionSource {
    pub ast: std::sync::Arc<Ast>,
    /// Its file and its block there.
    pub place: Option<(std::sync::Arc<str>, BlockKey)>,
}

/// The value of an expression of a block, whose names `scope` resolves.
pub fn evaluate(ast: &Ast, expr: ExprId, scope: &dyn Scope) -> Constant {
    let (steps, work) = Default::default();
    Evaluator { ast, scope, arguments: &[], depth: 0, cut_at: None, steps: &steps, work: &work }.value(expr)
}

/// The same for a list of which the first `count` elements are enough; comprehensions stop there.
pub fn evaluate_first(ast: &Ast, expr: ExprId, count: usize, scope: &dyn Scope) -> Constant {
    let (steps, work) = Default::default();
    Evaluator { ast, scope, arguments: &[], depth: 0, cut_at: Some(count), steps: &steps, work: &work }.value(expr)
}

/// Runs the code of a block for the calls that it makes, each of which the scope is asked for.
pub fn follow(ast: &Ast, scope: &dyn Scope) {
    let (steps, work) = Default::default();
    functions::follow(&Evaluator { ast, scope, arguments: &[], depth: 0, cut_at: None, steps: &steps, work: &work });
}

/// The value that the statements of a module leave in a name, in order; the others are not run. Each block comes with what it sees.
pub fn left_in(name: &str, blocks: &[(&Ast, &dyn Scope)]) -> Option<Constant> {
    let (steps, work) = Default::default();
    let evaluator =
        |&(ast, scope)| Evaluator { ast, scope, arguments: &[], depth: 0, cut_at: None, steps: &steps, work: &work };
    functions::left_in(name, &blocks.iter().map(evaluator).collect::<Vec<_>>())
}

/// Whether more than one statement of a module, given in blocks, changes what is in a name.
pub fn is_changed<'a>(name: &str, blocks: impl IntoIterator<Item = &'a Ast>) -> bool {
    let all = blocks.into_iter().flat_map(|ast| ast.body.iter().map(move |&stmt| (ast, stmt)));
    let mut changing = all.filter(|&(ast, stmt)| functions::changes(ast, stmt, name));
    let first = changing.next();
    let is_plain = |(ast, stmt): (&Ast, _)| matches!(ast.stmt(stmt), tilefit_syntax::ast::Stmt::Assign { .. });
    changing.next().is_some() || first.is_some_and(|first| !is_plain(first))
}

/// Runs a function, given as its header and the blocks of statements behind it, for what it returns and for the calls that it makes. A parameter
/// without an argument or default is not known.
pub fn run(parts: &[&Ast], arguments: &[Argument], scope: &dyn Scope) -> Constant {
    let (steps, work) = Default::default();
    let Some((&first, rest)) = parts.split_first() else { return unknown("nothing to run") };
    let evaluator = |ast| Evaluator { ast, scope, arguments: &[], depth: 0, cut_at: None, steps: &steps, work: &work };
    functions::run_parts(&evaluator(first), &rest.iter().map(|&ast| evaluator(ast)).collect::<Vec<_>>(), arguments)
}

/// In place of the path of the program that is started.
const PROGRAM: &str = "program.py";

/// Deeper expressions, and deeper calls of functions, count as unknown.
const DEEPEST: u32 = 100;
/// Longest list that is built, in elements, and longest text, in bytes.
const LONGEST: usize = 4096;
/// A value with more parts than these counts as unknown.
const MOST_WORK: usize = 1 << 19;
/// Values that are made in the time in which a class or a function is looked up, and its fields or parameters are given their values.
const VALUES_A_CALL: usize = 256;
/// Values within one that are copied in the time of a step.
const VALUES_A_STEP: u64 = 8;

struct Evaluator<'a> {
    ast: &'a Ast,
    scope: &'a dyn Scope,
    /// Values of parameters, inside of a function that is called.
    arguments: &'a [(String, Constant)],
    depth: u32,
    /// Elements of a comprehension after these are left out.
    cut_at: Option<usize>,
    /// Statements that called functions have run so far.
    steps: &'a Cell<u32>,
    /// Values that were made so far, each with all that is in it.
    work: &'a Cell<usize>,
}

fn unknown(reason: impl Into<String>) -> Constant {
    Constant::Unknown(Reason::new(reason))
}

impl Evaluator<'_> {
    fn value(&self, expr: ExprId) -> Constant {
        if self.depth >= DEEPEST {
            return unknown("the expression is nested too deeply");
        }
        let inner = Evaluator { depth: self.depth + 1, ..*self };
        let value = match inner.value_within(expr) {
            Constant::Unknown(reason) if is_extent(self.ast, expr) => match self.scope.decision() {
                Some(decision) => OneOf::extent(decision),
                None => Constant::Unknown(reason),
            },
            value => value,
        };
        self.count(made_at(self.ast.expr(expr), &value));
        if self.work.get() > MOST_WORK {
            return unknown("the expression takes too long to compute");
        }
        if value.is_bearable() { value } else { unknown("holds more values than tilefit looks at") }
    }

    /// Values that were made.
    fn count(&self, values: usize) {
        work::spend(1 + values as u64 / VALUES_A_STEP);
        self.work.set(self.work.get().saturating_add(values));
    }

    fn value_within(&self, expr: ExprId) -> Constant {
        if self.work.get() > MOST_WORK {
            return unknown("the expression takes too long to compute");
        }
        match self.ast.expr(expr) {
            Expr::Int(value) => match i64::try_from(*value) {
                Ok(value) => Constant::Int(value),
                Err(_) => unknown(format!("{value} is too large")),
            },
            Expr::Float(value) => Constant::Float(*value),
            Expr::Str(value) => Constant::Str(value.clone()),
            Expr::Bool(value) => Constant::Bool(*value),
            Expr::None => Constant::None,
            Expr::Name(name) => self.name(name),
            Expr::Attribute { .. } => self.attribute(expr),
            Expr::Call { func, args } => self.call(*func, args),
            Expr::Subscript { value, index } => self.subscript(*value, *index),
            Expr::Tuple(elements) => {
                self.elements(elements).map_or_else(Constant::Unknown, |parts| Constant::Tuple(parts.into()))
            }
            Expr::Set(elements) => {
                self.elements(elements).map_or_else(Constant::Unknown, |parts| Constant::Tuple(parts.into()))
            }
            Expr::List(elements) => {
                self.elements(elements).map_or_else(Constant::Unknown, |parts| Constant::List(parts.into()))
            }
            Expr::Unary { op, operand } => {
                let operand = self.value(*operand);
                let lifted = lifted(std::slice::from_ref(&operand), &|values| unary(*op, values[0].clone()));
                lifted.unwrap_or_else(|| unary(*op, operand))
            }
            Expr::Binary { op, left, right } => binary(*op, self.value(*left), self.value(*right)),
            Expr::Compare { left, rest } => self.compare(*left, rest),
            Expr::Bool2 { op, left, right } => {
                let left = self.value(*left);
                match (op, truth(&left)) {
                    (_, None) => self.both_or_one(*op, left, || self.value(*right)),
                    (BoolOp::And, Some(false)) | (BoolOp::Or, Some(true)) => left,
                    _ => self.value(*right),
                }
            }
            Expr::Ternary { then, condition, otherwise } => {
                let condition = self.value(*condition);
                match truth(&condition) {
                    Some(true) => self.value(*then),
                    Some(false) => self.value(*otherwise),
                    None => self.either(condition, *then, *otherwise),
                }
            }
            Expr::Thunk(body) => {
                // Whoever gets it may call it.
                if self.scope.follows() {
                    self.value(*body);
                }
                unknown("a lambda")
            }
            Expr::Lambda(_) => unknown("tilefit does not evaluate a lambda"),
            Expr::Other(kind) => unknown(format!("tilefit does not evaluate a {}", kind.replace('_', " "))),
            Expr::Error => unknown("the expression does not parse"),
            Expr::Dict(pairs) if pairs.len() > entries::MOST_ENTRIES => Constant::Unknown(entries::too_many_entries()),
            Expr::Dict(pairs) => {
                let each = pairs.iter().map(|&(key, value)| match self.ast.expr(key) {
                    Expr::Unpacked(mapping) => Entry::All(self.value(*mapping)),
                    _ => Entry::One(self.value(key), self.value(value)),
                });
                self.dictionary_of(each.collect())
            }
            Expr::Joined(parts) if self.scope.follows() => {
                let parts: Vec<Constant> = parts.iter().map(|&part| paths::closed(self.value(part))).collect();
                lifted(&parts, &paths::joined).unwrap_or_else(|| paths::joined(&parts))
            }
            Expr::Joined(parts) => self.all(parts).map_or_else(Constant::Unknown, |parts| text::joined(&parts)),
            Expr::Comprehension { element, clauses } => {
                match self.comprehension(clauses, |inside| inside.value(*element)) {
                    Ok(elements) => Constant::List(elements.into()),
                    Err(reason) => Constant::Unknown(reason),
                }
            }
            Expr::DictComprehension { key, value, clauses } => {
                match self.comprehension(clauses, |inside| (inside.value(*key), inside.value(*value))) {
                    Ok(pairs) => self.dictionary(pairs.into_iter()),
                    Err(reason) => Constant::Unknown(reason),
                }
            }
            Expr::Starred(inner) | Expr::Unpacked(inner) if matches!(self.ast.expr(*inner), Expr::Other(_)) => {
                self.value(*inner)
            }
            Expr::Slice { .. } | Expr::Starred(_) | Expr::Unpacked(_) | Expr::Ellipsis => {
                unknown("the expression is not a constant")
            }
        }
    }

    /// `left and right`, `left or right`, where it is not known whether `left` holds.
    fn both_or_one(&self, op: BoolOp, left: Constant, right: impl FnOnce() -> Constant) -> Constant {
        let Some((by, [holds, fails])) = split(&left) else {
            return match left {
                Constant::Unknown(_) => left,
                _ => unknown("depends on a condition that is not known"),
            };
        };
        let right = match right() {
            Constant::Unknown(_) => either_way(),
            right => right,
        };
        let (decided, open) = if op == BoolOp::And { (&fails, &holds) } else { (&holds, &fails) };
        let decided = (&choice::narrowed(&left, by, decided), decided.as_slice());
        let open = (&choice::narrowed(&right, by, open), open.as_slice());
        choice::joined(decided, open, by).unwrap_or_else(|| unknown("depends on a condition that is not known"))
    }

    /// `then if condition else otherwise`, where the condition is not known.
    fn either(&self, condition: Constant, then: ExprId, otherwise: ExprId) -> Constant {
        let by = if self.scope.takes_all() { None } else { self.scope.decision() };
        if !self.scope.takes_all() && by.is_none() {
            return condition;
        }
        let (then, otherwise) = (self.value(then), self.value(otherwise));
        let by_case = match split(&condition) {
            Some((by, [holds, fails])) => {
                let (then, otherwise) = (choice::narrowed(&then, by, &holds), choice::narrowed(&otherwise, by, &fails));
                choice::joined((&then, &holds), (&otherwise, &fails), by)
            }
            None => None,
        };
        by_case.or_else(|| choice::either(&then, &otherwise, by)).unwrap_or(match condition {
            Constant::Unknown(_) => condition,
            _ => unknown("depends on a condition that is not known"),
        })
    }

    /// Of a list or tuple. Where host code is followed, some may be unknown.
    fn elements(&self, elements: &[ExprId]) -> Result<Vec<Constant>, Reason> {
        if !self.scope.follows() {
            return self.all(elements);
        }
        let mut values = Vec::with_capacity(elements.len());
        for &element in elements {
            match self.ast.expr(element) {
                Expr::Starred(list) => match self.value(*list) {
                    Constant::List(more) | Constant::Tuple(more) => values.extend(more),
                    Constant::Unknown(reason) => return Err(reason),
                    _ => return Err(Reason::new("unpacks a value that is not a list or tuple")),
                },
                _ => values.push(self.value(element)),
            }
        }
        Ok(values)
    }

    fn all(&self, elements: &[ExprId]) -> Result<Vec<Constant>, Reason> {
        elements
            .iter()
            .map(|&element| match self.value(element) {
                Constant::Unknown(reason) => Err(reason),
                value => Ok(value),
            })
            .collect()
    }

    /// A dictionary from its parts. A mapping that may be one of several is put in each way.
    fn dictionary_of(&self, parts: Vec<Entry>) -> Constant {
        let mappings: Vec<Constant> = parts
            .iter()
            .filter_map(|part| match part {
                Entry::All(Constant::OneOf(choice)) => Some(choice.only_dictionaries()),
                Entry::All(mapping) => Some(mapping.clone()),
                Entry::One(..) => None,
            })
            .collect();
        let of_mappings = |mappings: &[Constant]| {
            let mut mappings = mappings.iter();
            let mut entries = Vec::with_capacity(parts.len());
            for part in &parts {
                match part {
                    Entry::One(key, value) => entries.push((key.clone(), value.clone())),
                    Entry::All(_) => match mappings.next() {
                        Some(Constant::Dict(more)) => entries.extend(more.iter().cloned()),
                        Some(Constant::Unknown(reason)) => return Constant::Unknown(reason.clone()),
                        _ => return unknown("unpacks a value that is not a dictionary"),
                    },
                }
            }
            self.dictionary(entries.into_iter())
        };
        lifted(&mappings, &of_mappings).unwrap_or_else(|| of_mappings(&mappings))
    }

    /// The last value of each key. A key that is not known could be any of the others.
    fn dictionary(&self, pairs: impl Iterator<Item = (Constant, Constant)>) -> Constant {
        let mut entries: Vec<(Constant, Constant)> = Vec::new();
        for (key, value) in pairs {
            match key {
                Constant::Unknown(reason) => return Constant::Unknown(reason),
                Constant::OneOf(_) => return unknown("a dictionary with a key that is not known"),
                _ => {}
            }
            if let Err(reason) = entries::put(&mut entries, key, value) {
                return Constant::Unknown(reason);
            }
        }
        Constant::Dict(entries.into())
    }

    fn comprehension<T>(&self, clauses: &[Clause], element: impl Fn(&Evaluator) -> T) -> Result<Vec<T>, Reason> {
        let mut elements = Vec::new();
        self.comprehend(clauses, &element, &mut elements)?;
        Ok(elements)
    }

    /// Adds the elements of a comprehension, whose outer clauses are bound already.
    fn comprehend<T>(
        &self,
        clauses: &[Clause],
        element: &impl Fn(&Evaluator) -> T,
        elements: &mut Vec<T>,
    ) -> Result<(), Reason> {
        if self.cut_at.is_some_and(|cut| elements.len() >= cut) {
            return Ok(());
        }
        let Some((clause, inner)) = clauses.split_first() else {
            if elements.len() == LONGEST {
                return Err(Reason::new(format!("the list has more than {LONGEST} elements")));
            }
            elements.push(element(self));
            return Ok(());
        };
        match clause {
            Clause::If(condition) => {
                let holds = self.condition(*condition);
                if holds.or_else(|reason| self.scope.takes_all().then_some(true).ok_or(reason))? {
                    self.comprehend(inner, element, elements)?;
                }
                Ok(())
            }
            Clause::For { target, iter } => {
                for item in self.items(*iter)? {
                    let mut arguments = self.bound(*target, item)?;
                    arguments.extend_from_slice(self.arguments);
                    Evaluator { arguments: &arguments, ..*self }.comprehend(inner, element, elements)?;
                }
                Ok(())
            }
        }
    }

    fn condition(&self, condition: ExprId) -> Result<bool, Reason> {
        let condition = self.value(condition);
        match (truth(&condition), condition) {
            (Some(truth), _) => Ok(truth),
            (None, Constant::Unknown(reason)) => Err(reason),
            (None, _) => Err(Reason::new("a condition is unknown")),
        }
    }

    /// What `for` goes through.
    fn items(&self, iter: ExprId) -> Result<Vec<Constant>, Reason> {
        match self.value(iter) {
            Constant::List(items) | Constant::Tuple(items) => Ok(items.into()),
            Constant::Dict(pairs) => Ok(pairs.into_iter().map(|(key, _)| key).collect()),
            Constant::OneOf(choice) if self.scope.takes_all() => {
                choice.all_elements().ok_or_else(|| Reason::new("iterates over what may be no list"))
            }
            Constant::Unknown(reason) => Err(reason),
            _ => Err(Reason::new("iterates over a value that is not a list or tuple")),
        }
    }

    /// The names that a target of `for` binds.
    fn bound(&self, target: ExprId, item: Constant) -> Result<Vec<(String, Constant)>, Reason> {
        if let Some(name) = self.ast.name(target) {
            return Ok(vec![(name.to_owned(), item)]);
        }
        let (Some(targets), Constant::Tuple(items) | Constant::List(items)) = (self.ast.elements(target), item) else {
            return Err(Reason::new("iterates over a list with a target that is not a name"));
        };
        if targets.len() != items.len() {
            return Err(Reason::new("unpacks tuples of another length in a loop"));
        }
        let pairs = targets.iter().zip(items).map(|(&target, item)| self.bound(target, item));
        Ok(pairs.collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn name(&self, name: &str) -> Constant {
        work::spend(self.arguments.len() as u64 / functions::LOCALS_A_STEP);
        if let Some((_, value)) = self.arguments.iter().find(|(argument, _)| argument == name) {
            return match value {
                Constant::Local(_) | Constant::Thunk(_) => unknown(format!("`{name}` is a local function")),
                value => value.clone(),
            };
        }
        if name == "TYPE_CHECKING" {
            return self.checks_types();
        }
        match self.scope.constant(name) {
            Some(value) => value,
            None => self
                .scope
                .language_name(&[name])
                .unwrap_or_else(|| unknown(format!("`{name}` is not defined in this file"))),
        }
    }

    /// `typing.TYPE_CHECKING`. What a module declares there and gives by `__getattr__` is taken to be what it is declared as.
    fn checks_types(&self) -> Constant {
        let declares = self.scope.function("__getattr__").is_some();
        if declares {
            self.scope.assume(Assumption::Declared);
        }
        Constant::Bool(declares)
    }

    fn attribute(&self, expr: ExprId) -> Constant {
        let Some(mut path) = self.ast.dotted(expr) else {
            let Expr::Attribute { value, name } = self.ast.expr(expr) else { return unknown("no attribute") };
            let member = records::member(self.value(*value), name);
            return member.unwrap_or_else(|| unknown(format!("the attribute `{name}`")));
        };
        if let Some(value) = self.scope.language_name(&path) {
            return value;
        }
        self.standard_module(&mut path);
        match path.as_slice() {
            ["sys", "argv"] => {
                self.scope.assume(Assumption::NoArguments);
                Constant::List([Constant::Str(PROGRAM.to_owned())].into())
            }
            ["math", "inf"] => Constant::Float(FloatBits::new(f64::INFINITY)),
            ["math", "pi"] => Constant::Float(FloatBits::new(std::f64::consts::PI)),
            [name, members @ ..] => {
                let of_module = members
                    .split_first()
                    .and_then(|(member, rest)| Some((self.scope.module_member(name, member)?, rest)));
                let (object, members) = of_module.unwrap_or_else(|| (self.name(name), members));
                let member = members.iter().try_fold(object, |object, member| records::member(object, member));
                member.unwrap_or_else(|| unknown(format!("`{}`", path.join("."))))
            }
            [] => unknown("an attribute of an expression"),
        }
    }

    /// The first part of a dotted name is what the module is called, under whatever name it is imported.
    fn standard_module(&self, path: &mut [&str]) {
        if let [first, _, ..] = path
            && !self.is_argument(first)
            && let Some(module) = self.scope.module(first)
            && let Some(known) = ["itertools", "math", "os", "sys"].into_iter().find(|known| *known == module)
        {
            *first = known;
        }
    }

    fn is_module(&self, path: &[&str]) -> bool {
        let is_bound = |name: &str| self.is_argument(name) || self.scope.constant(name).is_some();
        !path
            .first()
            .is_some_and(|first| is_bound(first) && (self.is_argument(first) || self.scope.module(first).is_none()))
    }

    fn is_argument(&self, name: &str) -> bool {
        self.arguments.iter().any(|(argument, _)| argument == name)
    }

    fn call(&self, func: ExprId, args: &[Arg]) -> Constant {
        let Some(mut path) = self.ast.dotted(func) else {
            return match self.ast.expr(func) {
                Expr::Attribute { value, name } => methods::call(self, *value, name, args),
                Expr::Subscript { value, index } => {
                    let launched = self.launch(*value, *index, args);
                    launched.unwrap_or_else(|| self.call_out_of_table(*value, *index, args))
                }
                _ => unknown("calls the result of an expression"),
            };
        };
        if let Some(function) = path.first_mut() {
            match self.arguments.iter().find(|(argument, _)| argument == function) {
                Some((_, Constant::Function(name))) => *function = name.as_str(),
                Some((name, Constant::Local(local))) if path.len() == 1 => {
                    return functions::call_local(self, name, *local, args);
                }
                Some((_, Constant::Thunk(body))) if path.len() == 1 => {
                    match functions::partial(self.ast, self.ast.expr(*body)) {
                        Some([function, given @ ..]) => return self.call(function.value, &[given, args].concat()),
                        None if args.is_empty() => return self.value(*body),
                        Some([]) | None => {}
                    }
                }
                _ => {}
            }
        }
        if let Some(value) = self.scope.language_call(&path, &|| self.passed(args)) {
            return value;
        }
        if let ([parser, method @ ("parse_args" | "parse_known_args")], true) = (path.as_slice(), args.is_empty())
            && self.scope.follows()
            && let Some(options) = options::parsed(self, parser)
        {
            let others = || Constant::Tuple(vec![options.clone(), Constant::List(Vec::new().into())].into());
            return if *method == "parse_args" { options } else { others() };
        }
        self.standard_module(&mut path);
        let is_positional = args.first().is_some_and(|arg| arg.keyword.is_none());
        match path.as_slice() {
            ["replace"] | ["dataclasses", "replace"] if is_positional => records::replace(self, args),
            ["vars"] if let [of] = args => {
                let of = self.value(of.value);
                of.get::<options::Namespace>()
                    .map_or_else(|| unknown("calls `vars`"), options::Namespace::as_dictionary)
            }
            ["open"] if self.scope.follows() => match args {
                [path, ..] => {
                    let path = self.value(path.value);
                    lifted(std::slice::from_ref(&path), &|path| paths::opened(&path[0]))
                        .unwrap_or_else(|| paths::opened(&path))
                }
                [] => unknown("opens nothing"),
            },
            [name] if self.is_argument(name) => unknown(format!("calls `{name}`, a local function")),
            [name] if self.scope.class(name).is_some() => records::construct(self, name, args),
            ["dict"] if !args.iter().any(|arg| matches!(self.ast.expr(arg.value), Expr::Starred(_))) => {
                self.made_dictionary(args)
            }
            [name] => match self.positional(args).map(|values| {
                self.count(values.iter().map(held).sum());
                let known = |values: &[Constant]| builtin(name, values).unwrap_or_else(|| unknown("no number"));
                lifted(&values, &known).filter(|_| is_builtin(name)).or_else(|| builtin(name, &values))
            }) {
                Ok(Some(value)) => value,
                Err(reason) if is_builtin(name) => self.bounded(name, args).unwrap_or(Constant::Unknown(reason)),
                Ok(None) | Err(_) => functions::call(self, name, args),
            },
            ["os", "getenv"] | ["os", "environ", "get"] => self.environment(args),
            ["os", "path", name] if self.scope.follows() => {
                let values: Vec<Constant> = args.iter().map(|arg| paths::closed(self.value(arg.value))).collect();
                let not_run = || unknown(format!("calls `os.path.{name}`, which tilefit does not evaluate"));
                let call = |values: &[Constant]| paths::call(name, values).unwrap_or_else(not_run);
                lifted(&values, &call).unwrap_or_else(|| call(&values))
            }
            ["math", name] => match self.positional(args) {
                Ok(values) => math(name, &values),
                Err(reason) => Constant::Unknown(reason),
            },
            ["itertools", "product"] => match self.positional(args) {
                Ok(values) => {
                    let made = product(&values);
                    self.count(held(&made));
                    made
                }
                Err(reason) => Constant::Unknown(reason),
            },
            [class, method] if !self.is_argument(class) && self.scope.class(class).is_some() => {
                let called = records::class_method(self, class, method, args);
                called.unwrap_or_else(|| unknown(format!("calls `{class}.{method}`, which tilefit does not evaluate")))
            }
            // `buf.get_byte()` of a dtype that is bound to a name.
            [name, "get_byte"] => match self.name(name) {
                Constant::Dtype(dtype) => Constant::Int(dtype.get_byte() as i64),
                Constant::Unknown(reason) => Constant::Unknown(reason),
                _ => unknown(format!("`{name}` is not an element type")),
            },
            _ => match (self.ast.expr(func), self.is_module(&path)) {
                (Expr::Attribute { value, name }, false) => methods::call(self, *value, name, args),
                _ => {
                    if self.scope.follows() {
                        self.arguments(args);
                    }
                    unknown(format!("calls `{}`, which tilefit does not evaluate", path.join(".")))
                }
            },
        }
    }

    /// `min(16, number)`, `max(16, number)` of a number that is not known.
    fn bounded(&self, function: &str, args: &[Arg]) -> Option<Constant> {
        let is_plain = args.len() > 1 && args.iter().all(|arg| arg.keyword.is_none());
        let is_it = matches!(function, "min" | "max") && is_plain && self.scope.decision().is_some();
        let known = |arg: &Arg| match self.value(arg.value) {
            Constant::Int(number) => Some(number),
            _ => None,
        };
        let known = args.iter().filter(|_| is_it).filter_map(known);
        let number = if function == "min" { known.min() } else { known.max() }?;
        Some(OneOf::bounded(self.scope.decision()?, function, number))
    }

    fn arguments(&self, args: &[Arg]) -> Vec<Argument> {
        self.arguments_where(args, &|mapping| match self.value(mapping) {
            Constant::OneOf(choice) => choice.as_one_dictionary(),
            mapping => mapping,
        })
    }

    /// With a word for those that are not known, where the scope asks what functions are called with.
    fn passed(&self, args: &[Arg]) -> Vec<Argument> {
        let mut arguments = self.arguments(args);
        if self.scope.follows() {
            arguments
                .extend(args.iter().find_map(|arg| self.unknown_keywords(arg).or_else(|| self.unknown_places(arg))));
        }
        arguments
    }

    /// `*list` of which the elements are not known: any parameter may be among those that get them.
    fn unknown_places(&self, arg: &Arg) -> Option<Argument> {
        let Expr::Starred(list) = self.ast.expr(arg.value) else { return None };
        let is_known = matches!(self.value(*list), Constant::List(_) | Constant::Tuple(_));
        let value = || unknown("arguments that are not known");
        (!is_known).then(|| Argument { keyword: Some(UNKNOWN_KEYWORDS.to_owned()), value: value() })
    }

    /// `mapping`: what `**mapping` unpacks.
    fn arguments_where(&self, args: &[Arg], mapping: &dyn Fn(ExprId) -> Constant) -> Vec<Argument> {
        let mut arguments = Vec::with_capacity(args.len());
        // Behind a list that is not known, places are not.
        let mut is_placed = true;
        for arg in args {
            let plain = |value| Argument { keyword: arg.keyword.clone(), value };
            match self.ast.expr(arg.value) {
                Expr::Starred(list) => match self.value(*list) {
                    Constant::List(values) | Constant::Tuple(values) if is_placed => {
                        arguments.extend(values.into_iter().map(plain));
                    }
                    _ => is_placed = false,
                },
                Expr::Unpacked(unpacked) => {
                    if let Constant::Dict(pairs) = mapping(*unpacked) {
                        arguments.extend(pairs.into_iter().filter_map(|(key, value)| match key {
                            Constant::Str(keyword) => Some(Argument { keyword: Some(keyword), value }),
                            _ => None,
                        }));
                    }
                }
                _ if arg.keyword.is_none() && !is_placed => {}
                _ => arguments.push(plain(self.value(arg.value))),
            }
        }
        arguments
    }

    /// `**options` of which not all are known: any option may be among them.
    fn unknown_keywords(&self, arg: &Arg) -> Option<Argument> {
        let Expr::Unpacked(mapping) = self.ast.expr(arg.value) else { return None };
        let is_known = |mapping: &Constant| match mapping {
            Constant::Dict(pairs) => pairs.iter().all(|(key, _)| matches!(key, Constant::Str(_))),
            _ => false,
        };
        let is_known = match self.value(*mapping) {
            Constant::OneOf(choice) => choice.dictionaries().is_some_and(|all| all.iter().all(|(_, it)| is_known(it))),
            mapping => is_known(&mapping),
        };
        let value = || unknown("keywords that are not known");
        (!is_known).then(|| Argument { keyword: Some(UNKNOWN_KEYWORDS.to_owned()), value: value() })
    }

    /// `TABLE[key](args)`: of a key that is not known it may be any of the functions.
    fn call_out_of_table(&self, table: ExprId, key: ExprId, args: &[Arg]) -> Constant {
        let functions = match (self.value(table), self.value(key)) {
            (Constant::Dict(pairs), Constant::Unknown(_) | Constant::OneOf(_)) => {
                pairs.into_iter().map(|(_, value)| value).collect()
            }
            (Constant::Dict(pairs), key) => entries::entry(&pairs, &key).into_iter().collect::<Vec<_>>(),
            _ => Vec::new(),
        };
        for function in functions {
            if let Constant::Function(name) = function {
                self.scope.language_call(&[&name], &|| self.arguments(args));
            }
        }
        unknown("calls the result of an expression")
    }

    /// `dict(other, key=value, **more)`
    fn made_dictionary(&self, args: &[Arg]) -> Constant {
        let each = args.iter().map(|arg| {
            let other = match self.ast.expr(arg.value) {
                Expr::Unpacked(mapping) => *mapping,
                _ => arg.value,
            };
            match (&arg.keyword, self.value(other)) {
                (Some(keyword), value) => Entry::One(Constant::Str(keyword.clone()), value),
                (None, mapping) => Entry::All(mapping),
            }
        });
        self.dictionary_of(each.collect())
    }

    /// `kernel[grid](args)`, where the scope knows such functions: by name, or one that a local stands for.
    fn launch(&self, table: ExprId, grid: ExprId, args: &[Arg]) -> Option<Constant> {
        let path = self.ast.dotted(table)?;
        let (name, is_bare) = match path.as_slice() {
            [name] => (*name, false),
            [name, "fn"] => (*name, true),
            _ => return None,
        };
        let local = self.arguments.iter().find(|(argument, _)| argument == name);
        let callee = match local {
            Some((_, Constant::Function(callee))) => callee.as_str(),
            Some(_) => return None,
            None => name,
        };
        let launch = |mapping: &dyn Fn(ExprId) -> Constant, seen: &dyn Fn(&Constant) -> Constant| {
            let arguments = || {
                self.value(grid);
                let mut arguments = self.arguments_where(args, mapping);
                arguments.iter_mut().for_each(|argument| argument.value = seen(&argument.value));
                arguments.extend(args.iter().filter_map(|arg| self.unknown_keywords(arg)));
                arguments
            };
            self.scope.launch(callee, is_bare, &arguments)
        };
        let open_mapping = |arg: &Arg| {
            let Expr::Unpacked(mapping) = self.ast.expr(arg.value) else { return None };
            match self.value(*mapping) {
                Constant::OneOf(choice) => Some((*mapping, choice.by, choice.dictionaries()?)),
                _ => None,
            }
        };
        // What some of the dictionaries have and others have not is given in some of the launches.
        let Some((open, by, ways)) = args.iter().find_map(open_mapping) else {
            return launch(&|mapping| self.value(mapping), &Constant::clone);
        };
        let launched = ways.into_iter().map(|(cases, way)| {
            let mapping = |mapping| if mapping == open { way.clone() } else { self.value(mapping) };
            launch(&mapping, &|value| by.map_or_else(|| value.clone(), |by| choice::narrowed(value, by, &cases)))
        });
        launched.last().flatten()
    }

    /// A variable of the environment, which is taken not to be set.
    fn environment(&self, args: &[Arg]) -> Constant {
        match self.positional(args).as_deref() {
            Ok([Constant::Str(name), default @ ..]) => {
                self.scope.assume(Assumption::NotSet(name.clone()));
                default.first().cloned().unwrap_or(Constant::None)
            }
            _ => unknown("reads an environment variable"),
        }
    }

    fn positional(&self, args: &[Arg]) -> Result<Vec<Constant>, Reason> {
        if args.iter().any(|arg| arg.keyword.is_some()) {
            return Err(Reason::new("a call with keywords"));
        }
        self.all(&args.iter().map(|arg| arg.value).collect::<Vec<_>>())
    }

    fn subscript(&self, value: ExprId, index: ExprId) -> Constant {
        let value = self.value(value);
        let (elements, is_list) = match &value {
            Constant::List(elements) => (elements, true),
            Constant::Tuple(elements) => (elements, false),
            Constant::Unknown(_) => return value,
            Constant::Dict(pairs) => {
                let key = self.value(index);
                self.count(pairs.len());
                return self.entry(pairs, &key);
            }
            Constant::OneOf(choice) => {
                return match self.value(index) {
                    key @ Constant::Unknown(_) => self.any_entry(choice, &key),
                    key => dictionaries::entry_of(&value, &key, None),
                };
            }
            _ => return unknown("indexes a value that is not a list or tuple"),
        };
        if let Expr::Slice { lower, upper, step: None } = self.ast.expr(index) {
            let bound = |bound: &Option<ExprId>, default: usize| match bound.map(|bound| self.value(bound)) {
                None => Some(default),
                Some(Constant::Int(at)) if at < 0 => Some((elements.len() as i64 + at).max(0) as usize),
                Some(Constant::Int(at)) => Some((at as usize).min(elements.len())),
                Some(_) => None,
            };
            let (Some(from), Some(to)) = (bound(lower, 0), bound(upper, elements.len())) else {
                return unknown("slices a list at an unknown position");
            };
            let part = elements.get(from..to.max(from)).unwrap_or_default().to_vec().into();
            let part = if is_list { Constant::List(part) } else { Constant::Tuple(part) };
            self.count(held(&part));
            return part;
        }
        match self.value(index) {
            Constant::Int(at) => {
                let at = if at < 0 { at + elements.len() as i64 } else { at };
                let element = usize::try_from(at).ok().and_then(|at| elements.get(at));
                element.cloned().unwrap_or_else(|| unknown("the index is out of range"))
            }
            // There is no other element.
            Constant::Unknown(_) if elements.len() == 1 => elements[0].clone(),
            Constant::Unknown(reason) => Constant::Unknown(reason),
            _ => unknown("indexes a list with a value that is not an integer"),
        }
    }

    /// `dictionary[key]`: of a key that is not known, any.
    fn entry(&self, pairs: &[(Constant, Constant)], key: &Constant) -> Constant {
        let any = || dictionaries::any_of(pairs, self.scope.decision()?);
        match key {
            Constant::Unknown(reason) => any().unwrap_or_else(|| Constant::Unknown(reason.clone())),
            key => entries::found(pairs, key, || unknown("the key is not in the dictionary")),
        }
    }

    /// The same of a value that is one of some.
    fn any_entry(&self, choice: &OneOf, key: &Constant) -> Constant {
        let of_each = |values: &[Constant]| match values {
            [Constant::Dict(pairs)] => self.entry(pairs, key),
            _ => unknown("indexes a value that is not a dictionary"),
        };
        let dictionaries = [choice.only_dictionaries()];
        lifted(&dictionaries, &of_each).unwrap_or_else(|| of_each(&dictionaries))
    }

    fn compare(&self, left: ExprId, rest: &[(CompareOp, ExprId)]) -> Constant {
        let mut left = self.value(left);
        let mut all = Constant::Bool(true);
        for (op, right) in rest {
            let right = self.value(*right);
            self.count(right.weight());
            let holds = self.compare_two(*op, &left, &right);
            all = match truth(&all) {
                Some(true) => holds,
                _ => self.both_or_one(BoolOp::And, all, || holds),
            };
            if truth(&all) == Some(false) || matches!(all, Constant::Unknown(_)) {
                return all;
            }
            left = right;
        }
        all
    }

    fn compare_two(&self, op: CompareOp, left: &Constant, right: &Constant) -> Constant {
        let compared = |values: &[Constant]| match compare(op, &values[0], &values[1]) {
            Some(holds) => Constant::Bool(holds),
            None if values.iter().any(|value| matches!(value, Constant::Between(..))) => either_way(),
            None => unknown("compares unlike values"),
        };
        if let Some(lifted) = lifted(&[left.clone(), right.clone()], &compared) {
            return lifted;
        }
        match compare(op, left, right) {
            Some(holds) => Constant::Bool(holds),
            // Whatever it is, that it is `None` holds or does not.
            None if matches!(op, CompareOp::Is | CompareOp::IsNot) && self.scope.decision().is_some() => either_way(),
            None => match [left, right].into_iter().find(|side| matches!(side, Constant::Unknown(_))) {
                Some(side) => side.clone(),
                None => unknown("compares values of different types"),
            },
        }
    }
}

/// What a dictionary is made of.
enum Entry {
    One(Constant, Constant),
    /// `**mapping`
    All(Constant),
}

/// What holds or does not.
fn either_way() -> Constant {
    OneOf::of([Constant::Bool(true), Constant::Bool(false)])
}

/// What decides a condition, and the cases in which it may hold and may fail; `None` where it is not decided by one thing.
fn split(condition: &Constant) -> Option<(u32, [Vec<u32>; 2])> {
    let Constant::OneOf(choice) = condition else { return None };
    let (mut holds, mut fails) = (Vec::new(), Vec::new());
    for (case, value) in &choice.cases {
        let cases = if truth(value)? { &mut holds } else { &mut fails };
        if !cases.contains(case) {
            cases.push(*case);
        }
    }
    Some((choice.by?, [holds, fails]))
}

/// `tensor.shape`, `tensor.size()`
fn is_shape(ast: &Ast, expr: &Expr) -> bool {
    match expr {
        Expr::Attribute { name, .. } => name == "shape",
        Expr::Call { func, args } => {
            args.is_empty() && matches!(ast.expr(*func), Expr::Attribute { name, .. } if name == "size")
        }
        _ => false,
    }
}

/// `tensor.shape[0]`, `tensor.size(0)`, `tensor.numel()`
fn is_extent(ast: &Ast, expr: ExprId) -> bool {
    match ast.expr(expr) {
        Expr::Subscript { value, index } => {
            is_shape(ast, ast.expr(*value)) && !matches!(ast.expr(*index), Expr::Slice { .. })
        }
        Expr::Call { func, args } => match (ast.expr(*func), args.len()) {
            (Expr::Attribute { name, .. }, 0) => name == "numel" || name == "nelement",
            (Expr::Attribute { name, .. }, 1) => name == "size",
            _ => false,
        },
        _ => false,
    }
}

/// How many values an expression made: a name, or a part of something, gives what there is.
fn made_at(expr: &Expr, value: &Constant) -> usize {
    match expr {
        Expr::Name(_) | Expr::Attribute { .. } | Expr::Subscript { .. } => 1,
        _ => held(value),
    }
}

/// How many values one holds itself, without those in them.
fn held(value: &Constant) -> usize {
    match value {
        Constant::List(parts) | Constant::Tuple(parts) => 1 + parts.len(),
        Constant::Dict(pairs) => 1 + 2 * pairs.len(),
        Constant::OneOf(choice) => 1 + choice.cases.len(),
        Constant::Str(text) => 1 + text.len(),
        _ => 1,
    }
}

impl Weighed for Constant {
    fn weight(&self) -> usize {
        match self {
            Constant::List(parts) | Constant::Tuple(parts) => parts.weight(),
            Constant::Dict(pairs) => pairs.weight(),
            Constant::Record(record) => record.weight(),
            Constant::OneOf(choice) => choice.values().fold(1, |sum: usize, value| sum.saturating_add(value.weight())),
            Constant::Object(object) => object.weight(),
            Constant::Str(text) => 1 + text.len(),
            _ => 1,
        }
    }

    fn depth(&self) -> u32 {
        match self {
            Constant::List(parts) | Constant::Tuple(parts) => parts.depth(),
            Constant::Dict(pairs) => pairs.depth(),
            Constant::Record(record) => record.depth(),
            Constant::Object(object) => object.depth(),
            Constant::OneOf(choice) => choice.values().map(Constant::depth).max().unwrap_or(0).saturating_add(1),
            _ => 0,
        }
    }
}

/// The dotted name of a decorator, whether it is called or not.
fn decorator_name(ast: &Ast, decorator: ExprId) -> Vec<&str> {
    let name = match ast.expr(decorator) {
        Expr::Call { func, .. } => *func,
        _ => decorator,
    };
    ast.dotted(name).unwrap_or_default()
}

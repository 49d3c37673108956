//! Values that Python code outside of kernels gives to names: module constants, locals of factories, imports.

mod records;

use std::cell::Cell;
use std::cmp::Ordering;

use tilelens_syntax::ast::{
    Arg, Ast, BinaryOp, BoolOp, Clause, CompareOp, Expr, ExprId, FloatBits, Function, ParamKind, Stmt, StmtId, UnaryOp,
};

use crate::ir::{Dtype, Reason, TensorType};
use crate::target::Space;

/// The value of a Python expression, as far as it can be known without running it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Constant {
    Int(i64),
    Float(FloatBits),
    Bool(bool),
    Str(String),
    None,
    Dtype(Dtype),
    Space(Space),
    /// Another member of an enumeration of `pl`, without the prefix: `PadValue.zero`, `NZ`.
    Member(String),
    List(Vec<Constant>),
    Tuple(Vec<Constant>),
    /// An object of a data class: its fields, and what its properties come to.
    Record(Vec<(String, Constant)>),
    /// Unknown values stay inside, so that the other keys are known.
    Dict(Vec<(Constant, Constant)>),
    /// `pl.dynamic("N")`
    Dynamic(String),
    /// `pl.MemRef()` bound to a name, or `pl.MemRef("name")`.
    Allocation {
        name: Option<String>,
        slots: u32,
    },
    Unknown(Reason),
}

/// What a kernel sees of the code around it.
pub trait Scope {
    /// The value of a name of the enclosing functions or the module; `None` where no such name is bound.
    fn constant(&self, name: &str) -> Option<Constant>;

    /// The function of that name in the enclosing program (`self.name`) or module, for inlining and signatures.
    fn function(&self, name: &str) -> Option<FunctionSource>;

    /// What a function of that name sees, if it stands in another file.
    fn home(&self, function: &str) -> Option<Box<dyn Scope + '_>> {
        let _ = function;
        None
    }

    /// The tensor that a parameter of the function is called with, where its annotation leaves that open.
    fn argument(&self, param: &str) -> Option<TensorType> {
        let _ = param;
        None
    }

    /// What `module.member` is, for a module that the file imports.
    fn module_member(&self, module: &str, member: &str) -> Option<Constant> {
        let _ = (module, member);
        None
    }

    /// The class of that name, and what its body sees.
    fn class(&self, name: &str) -> Option<(ClassSource, Box<dyn Scope + '_>)> {
        let _ = name;
        None
    }

    /// What a dialect makes of a dotted name; `None` where it is none of its names.
    fn dialect_name(&self, path: &[&str]) -> Option<Constant> {
        let _ = path;
        None
    }

    /// What a dialect makes of a call; `None` where it is none of its functions, and then nothing asks for `arguments`.
    fn dialect_call(&self, path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        let _ = (path, arguments);
        None
    }
}

/// An argument of a call that is evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    pub keyword: Option<String>,
    pub value: Constant,
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
}

/// How the statements of a block bind a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Binding {
    None,
    /// One assignment, `name = value`.
    Once(ExprId),
    /// One assignment of a tuple, `…, name, … = value`.
    Element(ExprId, usize),
    /// `from module import original as name`
    Import {
        level: u32,
        module: String,
        original: String,
    },
    /// `import module as name`
    ImportModule(String),
    /// A parameter of an enclosing function.
    Param(Option<ExprId>),
    /// A function or class.
    Definition,
    /// More than one binding, or one in a loop or branch.
    Several,
}

/// How a block binds `name`: its statements, or for a function's block the parameters and the body.
pub fn binding(ast: &Ast, name: &str) -> Binding {
    let mut bindings = Bindings { ast, name, found: Binding::None };
    if let [only] = ast.body.as_slice()
        && let Stmt::Function(function) = ast.stmt(*only)
    {
        for param in function.params.iter().filter(|param| ast.name(param.name) == Some(name)) {
            bindings.found = Binding::Param(param.default);
        }
        bindings.collect(&function.body, false);
    } else {
        bindings.collect(&ast.body, false);
    }
    bindings.found
}

struct Bindings<'a> {
    ast: &'a Ast,
    name: &'a str,
    found: Binding,
}

impl Bindings<'_> {
    fn add(&mut self, binding: Binding, conditional: bool) {
        let first = self.found == Binding::None && !conditional;
        self.found = if first { binding } else { Binding::Several };
    }

    fn is_name(&self, expr: ExprId) -> bool {
        self.ast.name(expr) == Some(self.name)
    }

    fn collect(&mut self, body: &[StmtId], conditional: bool) {
        let ast = self.ast;
        for &stmt in body {
            match ast.stmt(stmt) {
                Stmt::Assign { targets, value: Some(value), .. } => {
                    for &target in targets {
                        if self.is_name(target) {
                            self.add(Binding::Once(*value), conditional);
                        }
                        let elements = ast.elements(target).unwrap_or_default();
                        if let Some(index) = elements.iter().position(|&element| self.is_name(element)) {
                            self.add(Binding::Element(*value, index), conditional);
                        }
                    }
                }
                Stmt::AugAssign { target, .. } if self.is_name(*target) => self.add(Binding::Several, conditional),
                Stmt::Import(modules) => {
                    for module in modules {
                        if module.alias.as_deref().or(module.module.split('.').next()) == Some(self.name) {
                            self.add(Binding::ImportModule(module.module.clone()), conditional);
                        }
                    }
                }
                Stmt::ImportFrom { level, module, names } => {
                    let wanted = self.name;
                    for imported in names.iter().filter(|imported| imported.bound() == wanted) {
                        let (module, original) = (module.clone(), imported.name.clone());
                        self.add(Binding::Import { level: *level, module, original }, conditional);
                    }
                }
                Stmt::Function(Function { name, .. }) | Stmt::Class { name, .. } if self.is_name(*name) => {
                    self.add(Binding::Definition, conditional);
                }
                Stmt::For { target, body, or_else, .. } => {
                    if self.is_name(*target) {
                        self.add(Binding::Several, true);
                    }
                    self.collect(body, true);
                    self.collect(or_else, true);
                }
                Stmt::While { body, or_else, .. } | Stmt::If { body, or_else, .. } => {
                    self.collect(body, true);
                    self.collect(or_else, true);
                }
                Stmt::With { body, .. } => self.collect(body, conditional),
                Stmt::Other { body, .. } => self.collect(body, true),
                _ => {}
            }
        }
    }
}

/// The value that a block assigns to `module.member`, if it does so anywhere.
pub fn assigned_member(ast: &Ast, module: &str, member: &str) -> Option<Option<ExprId>> {
    let is_target = |target: ExprId| ast.dotted(target).as_deref() == Some(&[module, member]);
    let mut found = None;
    for &stmt in &ast.body {
        if let Stmt::Assign { targets, value, .. } = ast.stmt(stmt)
            && targets.iter().any(|&target| is_target(target))
        {
            // The second assignment is one too many.
            found = Some(if found.is_none() { *value } else { None });
        }
    }
    found
}

thread_local! {
    /// How many names are being resolved, each for the one before it. The stack does not bear any number.
    static RESOLVING: Cell<u32> = const { Cell::new(0) };
}

/// Names that are defined through more names than these, one after the other, count as unknown.
const LONGEST_CHAIN: u32 = 64;

/// One name more that is being resolved, until it is dropped.
struct Resolving;

impl Resolving {
    fn start() -> Option<Resolving> {
        RESOLVING.with(|count| {
            (count.get() < LONGEST_CHAIN).then(|| {
                count.set(count.get() + 1);
                Resolving
            })
        })
    }
}

impl Drop for Resolving {
    fn drop(&mut self) {
        RESOLVING.with(|count| count.set(count.get().saturating_sub(1)));
    }
}

/// The value that a block gives to `name`; `None` where it does not bind it. `scope` is what the block's expressions see.
pub fn bound_value(ast: &Ast, name: &str, scope: &dyn Scope) -> Option<Constant> {
    let Some(_resolving) = Resolving::start() else {
        return Some(unknown(format!("`{name}` is defined through more than {LONGEST_CHAIN} other names")));
    };
    let unknown = |reason: String| Some(unknown(reason));
    match binding(ast, name) {
        Binding::None => None,
        Binding::Once(value) => Some(match evaluate(ast, value, scope) {
            // `buf = pl.MemRef()` takes the name that it is bound to.
            Constant::Allocation { name: None, slots } => Constant::Allocation { name: Some(name.to_owned()), slots },
            value => value,
        }),
        Binding::Element(value, index) => match evaluate(ast, value, scope) {
            Constant::Tuple(elements) | Constant::List(elements) => match elements.get(index) {
                Some(element) => Some(element.clone()),
                None => unknown(format!("`{name}` has no value in its tuple")),
            },
            Constant::Unknown(reason) => Some(Constant::Unknown(reason)),
            _ => unknown(format!("`{name}` is taken out of something that is no tuple")),
        },
        Binding::Import { module, original, .. } => {
            unknown(format!("`{original}` is imported from `{module}`, which tilelens does not read"))
        }
        Binding::ImportModule(module) => unknown(format!("`{name}` is the module `{module}`")),
        Binding::Param(Some(default)) => Some(evaluate(ast, default, scope)),
        Binding::Param(None) => {
            unknown(format!("`{name}` is a parameter of the enclosing function, without a default"))
        }
        Binding::Definition => unknown(format!("`{name}` is a function or class")),
        Binding::Several => unknown(format!("`{name}` is assigned more than once, or under a condition")),
    }
}

/// The value of an expression of a block, whose names `scope` resolves.
pub fn evaluate(ast: &Ast, expr: ExprId, scope: &dyn Scope) -> Constant {
    Evaluator { ast, scope, arguments: &[], depth: 0, cut_at: None }.value(expr)
}

/// The same for a list of which the first `count` elements are enough; comprehensions stop there.
pub fn evaluate_first(ast: &Ast, expr: ExprId, count: usize, scope: &dyn Scope) -> Constant {
    Evaluator { ast, scope, arguments: &[], depth: 0, cut_at: Some(count) }.value(expr)
}

/// Deeper expressions, and deeper calls of functions, count as unknown.
const DEEPEST: u32 = 100;
/// Longest list that is built, in elements.
const LONGEST: usize = 4096;

struct Evaluator<'a> {
    ast: &'a Ast,
    scope: &'a dyn Scope,
    /// Values of parameters, inside of a function that is called.
    arguments: &'a [(String, Constant)],
    depth: u32,
    /// Elements of a comprehension behind these are left out.
    cut_at: Option<usize>,
}

fn unknown(reason: impl Into<String>) -> Constant {
    Constant::Unknown(Reason(reason.into()))
}

impl Evaluator<'_> {
    fn value(&self, expr: ExprId) -> Constant {
        if self.depth >= DEEPEST {
            return unknown("the expression is nested too deeply");
        }
        let this = Evaluator { depth: self.depth + 1, ..*self };
        match self.ast.expr(expr) {
            Expr::Int(value) => match i64::try_from(*value) {
                Ok(value) => Constant::Int(value),
                Err(_) => unknown(format!("{value} is too large")),
            },
            Expr::Float(value) => Constant::Float(*value),
            Expr::Str(value) => Constant::Str(value.clone()),
            Expr::Bool(value) => Constant::Bool(*value),
            Expr::None => Constant::None,
            Expr::Name(name) => this.name(name),
            Expr::Attribute { .. } => this.attribute(expr),
            Expr::Call { func, args } => this.call(*func, args),
            Expr::Subscript { value, index } => this.subscript(*value, *index),
            Expr::Tuple(elements) => this.all(elements).map_or_else(Constant::Unknown, Constant::Tuple),
            Expr::List(elements) => this.all(elements).map_or_else(Constant::Unknown, Constant::List),
            Expr::Unary { op, operand } => unary(*op, this.value(*operand)),
            Expr::Binary { op, left, right } => binary(*op, this.value(*left), this.value(*right)),
            Expr::Compare { left, rest } => this.compare(*left, rest),
            Expr::Bool2 { op, left, right } => {
                let left = this.value(*left);
                match (op, truth(&left)) {
                    (_, None) => left,
                    (BoolOp::And, Some(false)) | (BoolOp::Or, Some(true)) => left,
                    _ => this.value(*right),
                }
            }
            Expr::Ternary { then, condition, otherwise } => {
                let condition = this.value(*condition);
                match truth(&condition) {
                    Some(true) => this.value(*then),
                    Some(false) => this.value(*otherwise),
                    None => condition,
                }
            }
            Expr::Other(kind) => unknown(format!("tilelens does not run a {}", kind.replace('_', " "))),
            Expr::Error => unknown("the expression does not parse"),
            Expr::Dict(pairs) => {
                Constant::Dict(pairs.iter().map(|&(key, value)| (this.value(key), this.value(value))).collect())
            }
            Expr::Comprehension { element, clauses } => {
                let mut elements = Vec::new();
                match this.comprehend(*element, clauses, &mut elements) {
                    Ok(()) => Constant::List(elements),
                    Err(reason) => Constant::Unknown(reason),
                }
            }
            Expr::Slice { .. } | Expr::Starred(_) | Expr::Ellipsis => unknown("the expression is no constant"),
        }
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

    /// Adds the elements of a comprehension, whose outer clauses are bound already.
    fn comprehend(&self, element: ExprId, clauses: &[Clause], elements: &mut Vec<Constant>) -> Result<(), Reason> {
        if self.cut_at.is_some_and(|cut| elements.len() >= cut) {
            return Ok(());
        }
        let Some((clause, inner)) = clauses.split_first() else {
            if elements.len() == LONGEST {
                return Err(Reason(format!("the list has more than {LONGEST} elements")));
            }
            elements.push(self.value(element));
            return Ok(());
        };
        match clause {
            Clause::If(condition) => {
                let condition = self.value(*condition);
                match truth(&condition) {
                    Some(true) => self.comprehend(element, inner, elements),
                    Some(false) => Ok(()),
                    None => Err(match condition {
                        Constant::Unknown(reason) => reason,
                        _ => Reason("a condition of the list is not known".to_owned()),
                    }),
                }
            }
            Clause::For { target, iter } => {
                let items = match self.value(*iter) {
                    Constant::List(items) | Constant::Tuple(items) => items,
                    Constant::Unknown(reason) => return Err(reason),
                    _ => return Err(Reason("goes through something that is no list or tuple".to_owned())),
                };
                for item in items {
                    let mut arguments = self.bound(*target, item)?;
                    arguments.extend_from_slice(self.arguments);
                    Evaluator { arguments: &arguments, ..*self }.comprehend(element, inner, elements)?;
                }
                Ok(())
            }
        }
    }

    /// The names that a target of `for` binds.
    fn bound(&self, target: ExprId, item: Constant) -> Result<Vec<(String, Constant)>, Reason> {
        if let Some(name) = self.ast.name(target) {
            return Ok(vec![(name.to_owned(), item)]);
        }
        let (Some(targets), Constant::Tuple(items) | Constant::List(items)) = (self.ast.elements(target), item) else {
            return Err(Reason("goes through a list by something else than names".to_owned()));
        };
        if targets.len() != items.len() {
            return Err(Reason("goes through tuples of another length".to_owned()));
        }
        let pairs = targets.iter().zip(items).map(|(&target, item)| self.bound(target, item));
        Ok(pairs.collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn name(&self, name: &str) -> Constant {
        if let Some((_, value)) = self.arguments.iter().find(|(argument, _)| argument == name) {
            return value.clone();
        }
        match self.scope.constant(name) {
            Some(value) => value,
            None => Dtype::from_name(name)
                .map_or_else(|| unknown(format!("`{name}` is not defined in this file")), Constant::Dtype),
        }
    }

    fn attribute(&self, expr: ExprId) -> Constant {
        let Some(path) = self.ast.dotted(expr) else { return unknown("an attribute of an expression is not modelled") };
        if let Some(value) = self.scope.dialect_name(&path) {
            return value;
        }
        match path.as_slice() {
            ["math", "inf"] => Constant::Float(FloatBits::new(f64::INFINITY)),
            ["math", "pi"] => Constant::Float(FloatBits::new(std::f64::consts::PI)),
            ["pl", "Mem" | "MemorySpace", space] => match Space::from_name(space) {
                Some(space) => Constant::Space(space),
                None => unknown(format!("there is no memory space `{space}`")),
            },
            ["pl", name] if Dtype::from_name(name).is_some() => {
                Dtype::from_name(name).map_or(Constant::None, Constant::Dtype)
            }
            ["pl" | "ir", rest @ ..] => Constant::Member(rest.join(".")),
            [.., name] if path.len() == 2 && Dtype::from_name(name).is_some() && path[0] == "DataType" => {
                Dtype::from_name(name).map_or(Constant::None, Constant::Dtype)
            }
            [name, members @ ..] => {
                let of_module = members
                    .split_first()
                    .and_then(|(member, rest)| Some((self.scope.module_member(name, member)?, rest)));
                let (object, members) = of_module.unwrap_or_else(|| (self.name(name), members));
                let member = members.iter().try_fold(object, |object, member| records::member(object, member));
                member.unwrap_or_else(|| unknown(format!("`{}` is not modelled", path.join("."))))
            }
            [] => unknown("an attribute of an expression is not modelled"),
        }
    }

    fn call(&self, func: ExprId, args: &[Arg]) -> Constant {
        let Some(path) = self.ast.dotted(func) else { return unknown("calls the result of an expression") };
        let arguments = || {
            let argument = |arg: &Arg| Argument { keyword: arg.keyword.clone(), value: self.value(arg.value) };
            args.iter().map(argument).collect()
        };
        if let Some(value) = self.scope.dialect_call(&path, &arguments) {
            return value;
        }
        let keyword = |name: &str| args.iter().find(|arg| arg.keyword.as_deref() == Some(name)).map(|arg| arg.value);
        let first = args.first().filter(|arg| arg.keyword.is_none()).map(|arg| arg.value);
        match path.as_slice() {
            ["pl", "dynamic"] => match first.map(|first| self.value(first)) {
                Some(Constant::Str(name)) => Constant::Dynamic(name),
                _ => unknown("`pl.dynamic` without a name"),
            },
            ["pl", "const"] => first.map_or_else(|| unknown("`pl.const` without a value"), |first| self.value(first)),
            ["pl", dtype, "get_byte"] => match Dtype::from_name(dtype) {
                Some(dtype) => Constant::Int(dtype.get_byte() as i64),
                None => unknown(format!("there is no element type `pl.{dtype}`")),
            },
            ["pl", "MemRef"] => {
                let name = match first.map(|first| self.value(first)) {
                    None => None,
                    Some(Constant::Str(name)) => Some(name),
                    Some(_) => return unknown("a `pl.MemRef` with an address is printed IR"),
                };
                let slots = match keyword("slots").map(|slots| self.value(slots)) {
                    None => 1,
                    Some(Constant::Int(slots)) if (1..=1 << 20).contains(&slots) => slots as u32,
                    Some(_) => return unknown("`slots` of `pl.MemRef` is not a positive constant"),
                };
                Constant::Allocation { name, slots }
            }
            ["replace"] | ["dataclasses", "replace"] if first.is_some() => records::replace(self, args),
            [name] => match self.positional(args) {
                _ if self.scope.class(name).is_some() => records::construct(self, name, args),
                Ok(values) => self.call_by_name(name, values),
                Err(reason) => Constant::Unknown(reason),
            },
            ["math", name] => match self.positional(args) {
                Ok(values) => math(name, &values),
                Err(reason) => Constant::Unknown(reason),
            },
            // `buf.get_byte()` of a dtype that is bound to a name.
            [name, "get_byte"] => match self.name(name) {
                Constant::Dtype(dtype) => Constant::Int(dtype.get_byte() as i64),
                Constant::Unknown(reason) => Constant::Unknown(reason),
                _ => unknown(format!("`{name}` is no element type")),
            },
            _ => unknown(format!("calls `{}`, which tilelens does not run", path.join("."))),
        }
    }

    fn positional(&self, args: &[Arg]) -> Result<Vec<Constant>, Reason> {
        if args.iter().any(|arg| arg.keyword.is_some()) {
            return Err(Reason("a call with keywords is not run".to_owned()));
        }
        self.all(&args.iter().map(|arg| arg.value).collect::<Vec<_>>())
    }

    fn call_by_name(&self, name: &str, values: Vec<Constant>) -> Constant {
        if let Some(value) = builtin(name, &values) {
            return value;
        }
        let Some(source) = self.scope.function(name) else {
            return unknown(format!("calls `{name}`, which tilelens does not run"));
        };
        let Some((function, result)) = single_return(&source.ast) else {
            return unknown(format!("calls `{name}`, which does more than return an expression"));
        };
        let params: Vec<_> = function.params.iter().filter(|param| param.kind == ParamKind::Plain).collect();
        if params.len() != function.params.len() || params.len() != values.len() {
            return unknown(format!("calls `{name}` with other arguments than it declares"));
        }
        let names = params.iter().map(|param| source.ast.name(param.name).unwrap_or_default().to_owned());
        let arguments: Vec<_> = names.zip(values).collect();
        let home = self.scope.home(name);
        Evaluator {
            ast: &source.ast,
            scope: home.as_deref().unwrap_or(self.scope),
            arguments: &arguments,
            depth: self.depth + 10,
            cut_at: self.cut_at,
        }
        .value(result)
    }

    fn subscript(&self, value: ExprId, index: ExprId) -> Constant {
        let value = self.value(value);
        let (elements, is_list) = match &value {
            Constant::List(elements) => (elements, true),
            Constant::Tuple(elements) => (elements, false),
            Constant::Unknown(_) => return value,
            Constant::Dict(pairs) => {
                let key = self.value(index);
                let entry = pairs.iter().find(|(candidate, _)| *candidate == key);
                return entry.map_or_else(|| unknown("the key is not in the dictionary"), |(_, value)| value.clone());
            }
            _ => return unknown("indexes something that is no list or tuple"),
        };
        if let Expr::Slice { lower, upper, step: None } = self.ast.expr(index) {
            let bound = |bound: &Option<ExprId>, default: usize| match bound.map(|bound| self.value(bound)) {
                None => Some(default),
                Some(Constant::Int(at)) if at < 0 => Some((elements.len() as i64 + at).max(0) as usize),
                Some(Constant::Int(at)) => Some((at as usize).min(elements.len())),
                Some(_) => None,
            };
            let (Some(from), Some(to)) = (bound(lower, 0), bound(upper, elements.len())) else {
                return unknown("slices a list at an unknown place");
            };
            let part = elements.get(from..to.max(from)).unwrap_or_default().to_vec();
            return if is_list { Constant::List(part) } else { Constant::Tuple(part) };
        }
        match self.value(index) {
            Constant::Int(at) => {
                let at = if at < 0 { at + elements.len() as i64 } else { at };
                let element = usize::try_from(at).ok().and_then(|at| elements.get(at));
                element.cloned().unwrap_or_else(|| unknown("the index is outside of the list"))
            }
            Constant::Unknown(reason) => Constant::Unknown(reason),
            _ => unknown("indexes a list with something that is no integer"),
        }
    }

    fn compare(&self, left: ExprId, rest: &[(CompareOp, ExprId)]) -> Constant {
        let mut left = self.value(left);
        for (op, right) in rest {
            let right = self.value(*right);
            match compare(*op, &left, &right) {
                Some(true) => {}
                Some(false) => return Constant::Bool(false),
                None => {
                    let reason = [left, right].into_iter().find_map(|side| match side {
                        Constant::Unknown(reason) => Some(reason),
                        _ => None,
                    });
                    return Constant::Unknown(reason.unwrap_or_else(|| Reason("compares unlike values".to_owned())));
                }
            }
            left = right;
        }
        Constant::Bool(true)
    }
}

/// The function of a block that does nothing but return an expression.
fn single_return(ast: &Ast) -> Option<(&Function, ExprId)> {
    let [only] = ast.body.as_slice() else { return None };
    let Stmt::Function(function) = ast.stmt(*only) else { return None };
    let mut body = function.body.iter().map(|&stmt| ast.stmt(stmt));
    match (body.next()?, body.next()) {
        (Stmt::Return(Some(value)), None) => Some((function, *value)),
        (Stmt::Expr(doc), Some(Stmt::Return(Some(value)))) if matches!(ast.expr(*doc), Expr::Str(_)) => {
            body.next().is_none().then_some((function, *value))
        }
        _ => None,
    }
}

/// Python's truth value, where it is known.
pub fn truth(value: &Constant) -> Option<bool> {
    match value {
        Constant::Bool(value) => Some(*value),
        Constant::Int(value) => Some(*value != 0),
        Constant::Float(value) => Some(value.get() != 0.0),
        Constant::Str(value) => Some(!value.is_empty()),
        Constant::None => Some(false),
        Constant::List(elements) | Constant::Tuple(elements) => Some(!elements.is_empty()),
        Constant::Dict(pairs) => Some(!pairs.is_empty()),
        Constant::Dtype(_) | Constant::Space(_) | Constant::Member(_) | Constant::Record(_) => Some(true),
        Constant::Dynamic(_) | Constant::Allocation { .. } | Constant::Unknown(_) => None,
    }
}

fn number(value: &Constant) -> Option<f64> {
    match value {
        Constant::Int(value) => Some(*value as f64),
        Constant::Bool(value) => Some(f64::from(u8::from(*value))),
        Constant::Float(value) => Some(value.get()),
        _ => None,
    }
}

fn int(value: &Constant) -> Option<i64> {
    match value {
        Constant::Int(value) => Some(*value),
        Constant::Bool(value) => Some(i64::from(*value)),
        _ => None,
    }
}

fn compare(op: CompareOp, left: &Constant, right: &Constant) -> Option<bool> {
    if matches!(left, Constant::Unknown(_) | Constant::Dynamic(_))
        || matches!(right, Constant::Unknown(_) | Constant::Dynamic(_))
    {
        return None;
    }
    let order = match (number(left), number(right)) {
        (Some(left), Some(right)) => left.partial_cmp(&right),
        _ => None,
    };
    Some(match op {
        CompareOp::Eq => order.map_or(left == right, Ordering::is_eq),
        CompareOp::Ne => !order.map_or(left == right, Ordering::is_eq),
        CompareOp::Is => left == right,
        CompareOp::IsNot => left != right,
        CompareOp::Lt => order?.is_lt(),
        CompareOp::Le => order?.is_le(),
        CompareOp::Gt => order?.is_gt(),
        CompareOp::Ge => order?.is_ge(),
        CompareOp::In | CompareOp::NotIn => match right {
            Constant::List(elements) | Constant::Tuple(elements) => elements.contains(left) == (op == CompareOp::In),
            _ => return None,
        },
    })
}

fn unary(op: UnaryOp, operand: Constant) -> Constant {
    match (op, &operand) {
        (_, Constant::Unknown(_)) => operand,
        (UnaryOp::Not, _) => {
            truth(&operand).map_or_else(|| unknown("negates an unknown value"), |b| Constant::Bool(!b))
        }
        (UnaryOp::Neg, Constant::Float(value)) => Constant::Float(FloatBits::new(-value.get())),
        (UnaryOp::Pos, Constant::Float(_)) => operand,
        (op, operand) => {
            let result = int(operand).and_then(|value| match op {
                UnaryOp::Neg => value.checked_neg(),
                UnaryOp::Pos => Some(value),
                UnaryOp::Invert => Some(!value),
                UnaryOp::Not => None,
            });
            result.map_or_else(|| unknown("an operator on something that is no number"), Constant::Int)
        }
    }
}

fn binary(op: BinaryOp, left: Constant, right: Constant) -> Constant {
    match (left, right) {
        (Constant::Unknown(reason), _) | (_, Constant::Unknown(reason)) => Constant::Unknown(reason),
        (Constant::Dynamic(name), _) | (_, Constant::Dynamic(name)) => {
            unknown(format!("computes with the dynamic extent `{name}`"))
        }
        (Constant::List(mut left), Constant::List(right)) if op == BinaryOp::Add => {
            left.extend(right);
            Constant::List(left)
        }
        (Constant::Tuple(mut left), Constant::Tuple(right)) if op == BinaryOp::Add => {
            left.extend(right);
            Constant::Tuple(left)
        }
        (Constant::Str(left), Constant::Str(right)) if op == BinaryOp::Add => Constant::Str(left + &right),
        (Constant::List(elements), count) | (count, Constant::List(elements)) if op == BinaryOp::Mul => {
            repeat(&elements, &count).map_or_else(|| unknown("repeats a list"), Constant::List)
        }
        (Constant::Tuple(elements), count) | (count, Constant::Tuple(elements)) if op == BinaryOp::Mul => {
            repeat(&elements, &count).map_or_else(|| unknown("repeats a tuple"), Constant::Tuple)
        }
        (left, right) => match (int(&left), int(&right)) {
            (Some(left), Some(right)) if !(op == BinaryOp::Div || op == BinaryOp::Pow && right < 0) => {
                integers(op, left, right).map_or_else(|| unknown("the result is no 64-bit integer"), Constant::Int)
            }
            _ => match (number(&left), number(&right)) {
                (Some(left), Some(right)) => floats(op, left, right)
                    .map_or_else(|| unknown("the result is no number"), |value| Constant::Float(FloatBits::new(value))),
                _ => unknown("an operator on something that is no number"),
            },
        },
    }
}

fn repeat(elements: &[Constant], count: &Constant) -> Option<Vec<Constant>> {
    let count = usize::try_from(int(count)?.max(0)).ok()?;
    (elements.len().checked_mul(count)? <= LONGEST).then(|| [elements].repeat(count).concat())
}

/// Python's integer arithmetic: division rounds down, the remainder has the sign of the divisor.
pub fn integers(op: BinaryOp, left: i64, right: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Sub => left.checked_sub(right),
        BinaryOp::Mul => left.checked_mul(right),
        BinaryOp::FloorDiv => floor_div(left, right),
        BinaryOp::Mod => left.checked_sub(floor_div(left, right)?.checked_mul(right)?),
        BinaryOp::Pow => left.checked_pow(u32::try_from(right).ok()?),
        BinaryOp::Shl => {
            let shift = u32::try_from(right).ok().filter(|&shift| shift < 63)?;
            left.checked_mul(1 << shift)
        }
        BinaryOp::Shr => Some(left >> u32::try_from(right).ok()?.min(63)),
        BinaryOp::BitAnd => Some(left & right),
        BinaryOp::BitOr => Some(left | right),
        BinaryOp::BitXor => Some(left ^ right),
        BinaryOp::Div | BinaryOp::MatMul => None,
    }
}

fn floor_div(left: i64, right: i64) -> Option<i64> {
    let quotient = left.checked_div(right)?;
    let exact = left.checked_rem(right)? == 0;
    if !exact && (left < 0) != (right < 0) { quotient.checked_sub(1) } else { Some(quotient) }
}

fn floats(op: BinaryOp, left: f64, right: f64) -> Option<f64> {
    let value = match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        BinaryOp::Div if right != 0.0 => left / right,
        BinaryOp::FloorDiv if right != 0.0 => (left / right).floor(),
        BinaryOp::Mod if right != 0.0 => left - (left / right).floor() * right,
        BinaryOp::Pow => left.powf(right),
        _ => return None,
    };
    Some(value)
}

/// Python's built-in functions that make constants; `None` for other names.
fn builtin(name: &str, values: &[Constant]) -> Option<Constant> {
    let sequence = |value: &Constant| match value {
        Constant::List(elements) | Constant::Tuple(elements) => Some(elements.clone()),
        _ => None,
    };
    let result = match (name, values) {
        ("len", [value]) => sequence(value).map(|elements| Constant::Int(elements.len() as i64)),
        ("list", [value]) => sequence(value).map(Constant::List),
        ("tuple", [value]) => sequence(value).map(Constant::Tuple),
        ("sum", [value]) => sequence(value)
            .map(|elements| elements.into_iter().fold(Constant::Int(0), |a, b| binary(BinaryOp::Add, a, b))),
        ("min" | "max", [value]) => sequence(value).and_then(|elements| extreme(name, &elements)),
        ("min" | "max", values) => extreme(name, values),
        ("abs", [Constant::Float(value)]) => Some(Constant::Float(FloatBits::new(value.get().abs()))),
        ("abs", [value]) => int(value).and_then(i64::checked_abs).map(Constant::Int),
        ("int", [Constant::Float(value)]) => whole(value.get().trunc()),
        ("int", [value]) => int(value).map(Constant::Int),
        ("round", [Constant::Float(value)]) => whole(value.get().round_ties_even()),
        ("round", [value]) => int(value).map(Constant::Int),
        ("float", [value]) => number(value).map(|value| Constant::Float(FloatBits::new(value))),
        ("bool", [value]) => truth(value).map(Constant::Bool),
        ("range", values) => range(values).map(Constant::List),
        _ => return None,
    };
    Some(result.unwrap_or_else(|| unknown(format!("`{name}` of something that tilelens does not know"))))
}

fn whole(value: f64) -> Option<Constant> {
    (value.abs() < 9e18).then_some(Constant::Int(value as i64))
}

fn extreme(name: &str, values: &[Constant]) -> Option<Constant> {
    let wanted = if name == "min" { Ordering::Less } else { Ordering::Greater };
    let mut values = values.iter();
    let mut best = values.next()?;
    number(best)?;
    for value in values {
        if number(value)?.partial_cmp(&number(best)?)? == wanted {
            best = value;
        }
    }
    Some(best.clone())
}

fn range(values: &[Constant]) -> Option<Vec<Constant>> {
    let bounds: Vec<i64> = values.iter().map(int).collect::<Option<_>>()?;
    let (start, stop, step) = match bounds.as_slice() {
        [stop] => (0, *stop, 1),
        [start, stop] => (*start, *stop, 1),
        [start, stop, step] if *step != 0 => (*start, *stop, *step),
        _ => return None,
    };
    let mut elements = Vec::new();
    let mut at = start;
    while if step > 0 { at < stop } else { at > stop } {
        if elements.len() == LONGEST {
            return None;
        }
        elements.push(Constant::Int(at));
        at = at.checked_add(step)?;
    }
    Some(elements)
}

fn math(name: &str, values: &[Constant]) -> Constant {
    let result = match (name, values) {
        ("ceil", [value]) => number(value).and_then(|value| whole(value.ceil())),
        ("floor", [value]) => number(value).and_then(|value| whole(value.floor())),
        ("sqrt", [value]) => {
            number(value).filter(|value| *value >= 0.0).map(|value| Constant::Float(FloatBits::new(value.sqrt())))
        }
        ("log2", [value]) => {
            number(value).filter(|value| *value > 0.0).map(|value| Constant::Float(FloatBits::new(value.log2())))
        }
        ("prod", [Constant::List(elements) | Constant::Tuple(elements)]) => {
            Some(elements.iter().cloned().fold(Constant::Int(1), |a, b| binary(BinaryOp::Mul, a, b)))
        }
        _ => None,
    };
    result.unwrap_or_else(|| unknown(format!("calls `math.{name}`, which tilelens does not run")))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use tilelens_syntax::{Document, ast};

    use super::*;

    /// The scope of a module in which every name is bound by its statements.
    struct Module(Ast);

    impl Scope for Module {
        fn constant(&self, name: &str) -> Option<Constant> {
            bound_value(&self.0, name, self)
        }

        fn function(&self, _: &str) -> Option<FunctionSource> {
            None
        }
    }

    fn check(module: &str, expect: Expect) {
        let document = Document::new(module);
        let (ast, _) = ast::parse(&document.blocks()[0].source);
        let module = Module(ast);
        expect.assert_eq(&match module.constant("x") {
            Some(Constant::Unknown(reason)) => format!("unknown: {}", reason.0),
            Some(value) => format!("{value:?}"),
            None => "not bound".to_owned(),
        });
    }

    #[test]
    fn arithmetic_is_pythons() {
        check(
            "x = (-7 // 2, -7 % 2, 7 % -2, 2 ** 10, 1 << 4)",
            expect!["Tuple([Int(-4), Int(1), Int(-1), Int(1024), Int(16)])"],
        );
        check("x = 2 ** 70", expect!["unknown: the result is no 64-bit integer"]);
        check("x = 1 // 0", expect!["unknown: the result is no 64-bit integer"]);
    }

    #[test]
    fn names_lists_and_builtins() {
        check("TILE = [64, 128]\nN = len(TILE)\nx = TILE[0:1] + [max(TILE) // N]", expect!["List([Int(64), Int(64)])"]);
        check("M, N = 16, 32\nx = N if M < N else M", expect!["Int(32)"]);
        check("x = pl.FP16.get_byte() * 3", expect!["Int(6)"]);
        check("x = pl.Mem.Vec", expect!["Space(Vec)"]);
        check("x = pl.MemRef(slots=2)", expect![[r#"Allocation { name: Some("x"), slots: 2 }"#]]);
    }

    #[test]
    fn comprehensions_nest() {
        check(
            "x = [(a, b) for a in [1, 2] for (b, c) in [(3, 4), (5, 6)] if c > 4]",
            expect!["List([Tuple([Int(1), Int(5)]), Tuple([Int(2), Int(5)])])"],
        );
        check("x = {\"a\": 1, \"b\": foo()}[\"a\"]", expect!["Int(1)"]);
        check("x = [a for a in foo()]", expect!["unknown: calls `foo`, which tilelens does not run"]);
    }

    #[test]
    fn long_chains_of_names_end() {
        let chain: String = (1..500).map(|i| format!("a{i} = a{}\n", i - 1)).collect();
        check(
            &format!("a0 = 1\n{chain}x = a499"),
            expect!["unknown: `a436` is defined through more than 64 other names"],
        );
        check(&format!("a0 = 1\n{chain}x = a20"), expect!["Int(1)"]);
    }

    #[test]
    fn what_is_not_known_says_why() {
        check("x = foo()", expect!["unknown: calls `foo`, which tilelens does not run"]);
        check("x = 1\nx = 2", expect!["unknown: `x` is assigned more than once, or under a condition"]);
        check("if True:\n    x = 2", expect!["unknown: `x` is assigned more than once, or under a condition"]);
        check("from sizes import x", expect!["unknown: `x` is imported from `sizes`, which tilelens does not read"]);
        check("y = 1", expect!["not bound"]);
    }
}

//! Reads a `@triton.jit` function under one scenario: follows its constants and branches, and records what it allocates.
//!
//! Nothing is run. A branch whose condition is not known is followed on both sides, and what it allocates is not certain.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use tilelens_syntax::ast::{Arg, Ast, BinaryOp, BoolOp, Clause, CompareOp, Expr, ExprId, Function, Stmt, StmtId};

use crate::diagnostics::Code;
use crate::eval::{self, Argument, Constant, FunctionSource, Scope};
use crate::ir::{Note, Origin, Reason};
use crate::memory::Finding;

use super::kernel::*;
use super::language::{Dtype, Imports, Storage};
use super::scenario::{self, Scenario};

/// Statements that are followed in one kernel, those of helpers included.
const MOST_STATEMENTS: u32 = 200_000;
/// Helpers that call helpers deeper than this are not followed.
const DEEPEST_CALL: u32 = 8;
/// Elements of a list comprehension that allocates.
const MOST_ELEMENTS: usize = 256;

/// What a name stands for.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Constant(Constant),
    Buffer { id: BufferId, view: bool },
    Spec(SpecId),
    Group(GroupId),
    Sequence(Vec<Value>),
}

impl Value {
    fn unknown(reason: impl Into<String>) -> Value {
        Value::Constant(Constant::Unknown(Reason(reason.into())))
    }

    fn holds_memory(&self) -> bool {
        match self {
            Value::Constant(_) => false,
            Value::Sequence(values) => values.iter().any(Value::holds_memory),
            Value::Buffer { .. } | Value::Spec(_) | Value::Group(_) => true,
        }
    }

    /// As Python names it in an error.
    fn type_name(&self) -> &'static str {
        match self {
            Value::Buffer { .. } => "buffered_tensor",
            Value::Spec(_) => "storage_alias_spec",
            Value::Group(_) => "reuse_group",
            Value::Sequence(_) => "tuple",
            Value::Constant(constant) => match constant {
                Constant::Int(_) => "int",
                Constant::Float(_) => "float",
                Constant::Bool(_) => "bool",
                Constant::Str(_) => "str",
                Constant::None => "NoneType",
                Constant::List(_) => "list",
                Constant::Tuple(_) => "tuple",
                Constant::Dict(_) => "dict",
                Constant::Member(name) if name.starts_with("tl.") => "dtype",
                Constant::Member(name) if name.starts_with("tlx.storage_kind") => "storage_kind",
                Constant::Member(name) if name.starts_with("tlx.reuse_group_type") => "reuse_group_type",
                _ => "object",
            },
        }
    }

    /// The reason, if it is not known what this is.
    fn reason(&self) -> Option<&Reason> {
        match self {
            Value::Constant(Constant::Unknown(reason)) => Some(reason),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
struct Bound {
    value: Value,
    /// Assigned without `tl.constexpr`: a number is a tensor from then on.
    plain: bool,
}

type Names = BTreeMap<String, Bound>;

/// A function that is being followed.
struct Frame<'a> {
    ast: &'a Ast,
    names: Names,
    /// The call in the kernel's own text through which a helper is followed.
    call_site: Option<Origin>,
    returned: Option<Value>,
    /// A `return` was reached.
    done: bool,
}

/// What the name of an allocation is, from the assignment around it.
struct Naming {
    name: String,
    at: Origin,
    count: usize,
}

struct Front<'a> {
    kernel: Kernel,
    scope: &'a dyn Scope,
    imports: &'a Imports,
    /// Under conditions that are not known.
    uncertain: Option<Reason>,
    naming: Option<Naming>,
    statements: u32,
    depth: u32,
}

/// The kernel of a function block, if it allocates at all. `launch` holds what launches of it agree on.
pub fn read(
    ast: &Ast,
    scope: &dyn Scope,
    imports: &Imports,
    scenario: &Scenario,
    launch: &BTreeMap<String, (Constant, String)>,
) -> Option<Kernel> {
    let function = scenario::function(ast)?;
    let params = params(ast, function, scope, imports, scenario, launch);
    let kernel = Kernel { params, arch: scenario.arch, ..Kernel::empty(ast)? };
    let names = kernel.params.iter().map(|param| {
        let value = Value::Constant(param.value.clone());
        (param.name.clone(), Bound { value, plain: false })
    });
    let mut frame = Frame { ast, names: names.collect(), call_site: None, returned: None, done: false };
    let mut front = Front { kernel, scope, imports, uncertain: None, naming: None, statements: 0, depth: 0 };
    front.body(&mut frame, &function.body);
    let kernel = front.kernel;
    (!kernel.buffers.is_empty() || !kernel.specs.is_empty() || !kernel.findings.is_empty()).then_some(kernel)
}

/// True for a function whose text names anything of TLX.
pub fn mentions_tlx(ast: &Ast, imports: &Imports) -> bool {
    names(ast, imports).any(|name| name.starts_with("tlx"))
}

/// Functions of TLX that take memory.
const ALLOCATING: [&str; 5] = [
    "tlx.storage_alias_spec",
    "tlx.local_alloc",
    "tlx.alloc_barriers",
    "tlx.alloc_warp_barrier",
    "tlx.clc_create_context",
];

/// True for a function whose text names one that takes memory.
pub fn mentions_allocation(ast: &Ast, imports: &Imports) -> bool {
    names(ast, imports).any(|name| ALLOCATING.contains(&name.as_str()))
}

/// The names of Triton in a block.
fn names<'a>(ast: &'a Ast, imports: &'a Imports) -> impl Iterator<Item = String> + 'a {
    let names = ast.exprs().filter(|(_, expr)| matches!(expr, Expr::Attribute { .. } | Expr::Name(_)));
    names.filter_map(|(id, _)| imports.canonical(&ast.dotted(id)?))
}

/// Values of the parameters: the scenario, the default, what a `static_assert` says, the launches.
fn params(
    ast: &Ast,
    function: &Function,
    scope: &dyn Scope,
    imports: &Imports,
    scenario: &Scenario,
    launch: &BTreeMap<String, (Constant, String)>,
) -> Vec<Param> {
    let mut asserted = BTreeMap::new();
    for &stmt in &function.body {
        if let Stmt::Expr(call) = ast.stmt(stmt)
            && let Expr::Call { func, args } = ast.expr(*call)
            && ast.dotted(*func).and_then(|path| imports.canonical(&path)).as_deref() == Some("tl.static_assert")
            && let Some(condition) = args.first()
        {
            equalities(ast, condition.value, scope, &mut asserted);
        }
    }
    let param = |param: &tilelens_syntax::ast::Param| {
        let name = ast.name(param.name)?.to_owned();
        let annotation = param.annotation.and_then(|annotation| ast.dotted(annotation));
        let is_constexpr = annotation.and_then(|path| imports.canonical(&path)).as_deref() == Some("tl.constexpr");
        let default = param
            .default
            .filter(|_| is_constexpr)
            .map(|default| (eval::evaluate(ast, default, scope), "the default of the parameter".to_owned()));
        let found = scenario.values.get(&name).cloned();
        let found = found.or(default).or_else(|| asserted.remove(&name)).or_else(|| launch.get(&name).cloned());
        let (value, from) = match found {
            Some((value, from)) => (value, Some(from)),
            None => {
                let example = if is_constexpr { "128" } else { "bf16" };
                let reason =
                    format!("`{name}` has no value here; a comment `# tilelens: {name}={example}` gives it one");
                (Constant::Unknown(Reason(reason)), None)
            }
        };
        Some(Param { name, at: Origin::Expr(param.name), value, from })
    };
    function.params.iter().filter_map(param).collect()
}

/// `NAME == constant` out of a condition and its conjuncts.
fn equalities(ast: &Ast, condition: ExprId, scope: &dyn Scope, facts: &mut BTreeMap<String, (Constant, String)>) {
    match ast.expr(condition) {
        Expr::Bool2 { op: BoolOp::And, left, right } => {
            equalities(ast, *left, scope, facts);
            equalities(ast, *right, scope, facts);
        }
        Expr::Compare { left, rest } => {
            let [(CompareOp::Eq, right)] = rest.as_slice() else { return };
            let Some(name) = ast.name(*left) else { return };
            if let value @ (Constant::Int(_) | Constant::Bool(_)) = eval::evaluate(ast, *right, scope) {
                facts.insert(name.to_owned(), (value, "a `static_assert`".to_owned()));
            }
        }
        _ => {}
    }
}

/// Constants of a frame, over those of the module.
struct FrameScope<'a> {
    names: &'a Names,
    outer: &'a dyn Scope,
    imports: &'a Imports,
}

impl Scope for FrameScope<'_> {
    fn constant(&self, name: &str) -> Option<Constant> {
        match self.names.get(name) {
            Some(Bound { value: Value::Constant(constant), .. }) => Some(constant.clone()),
            Some(_) => Some(Constant::Unknown(Reason(format!("`{name}` is a buffer, and no constant")))),
            None => self.outer.constant(name),
        }
    }

    fn function(&self, name: &str) -> Option<FunctionSource> {
        self.outer.function(name)
    }

    fn dialect_name(&self, path: &[&str]) -> Option<Constant> {
        // `desc.dtype`, `ptr.dtype.element_ty`, `BLOCK.value`: a parameter stands for its element type or its number.
        if let [name, attributes @ ..] = path
            && let Some(Bound { value: Value::Constant(constant), .. }) = self.names.get(*name)
            && attributes.iter().all(|attribute| ["dtype", "element_ty", "type", "scalar", "value"].contains(attribute))
        {
            return Some(constant.clone());
        }
        self.outer.dialect_name(path)
    }

    fn dialect_call(&self, path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
        let _ = self.imports;
        self.outer.dialect_call(path, arguments)
    }
}

impl Front<'_> {
    fn evaluate(&self, frame: &Frame<'_>, expr: ExprId) -> Constant {
        let scope = FrameScope { names: &frame.names, outer: self.scope, imports: self.imports };
        eval::evaluate(frame.ast, expr, &scope)
    }

    fn canonical(&self, frame: &Frame<'_>, expr: ExprId) -> Option<String> {
        self.imports.canonical(&frame.ast.dotted(expr)?)
    }

    /// Where something in this frame is shown: in a helper, at the call of it.
    fn at(&self, frame: &Frame<'_>, expr: ExprId) -> Origin {
        frame.call_site.unwrap_or(Origin::Expr(expr))
    }

    /// Says what the front end of the compiler refuses. Helpers speak for themselves.
    fn refuse(&mut self, frame: &Frame<'_>, at: ExprId, code: Code, message: String) {
        if frame.call_site.is_none() && self.uncertain.is_none() {
            let severity = code.severity();
            self.kernel.findings.push(Finding { code, severity, at: Origin::Expr(at), message, related: Vec::new() });
        }
    }

    fn note(&mut self, at: Origin, reason: Reason) {
        if !self.kernel.notes.iter().any(|note| note.reason == reason) {
            self.kernel.notes.push(Note { at, reason });
        }
    }

    // Statements

    fn body(&mut self, frame: &mut Frame<'_>, body: &[StmtId]) {
        for &stmt in body {
            if frame.done {
                return;
            }
            self.statements += 1;
            if self.statements > MOST_STATEMENTS {
                return self.note(self.kernel.name_origin, Reason("the kernel has too many statements".to_owned()));
            }
            self.statement(frame, stmt);
        }
    }

    fn statement(&mut self, frame: &mut Frame<'_>, stmt: StmtId) {
        let ast = frame.ast;
        match ast.stmt(stmt) {
            Stmt::Assign { targets, annotation, value: Some(value) } => {
                self.assign(frame, targets, *annotation, *value);
            }
            Stmt::AugAssign { target, value, .. } => {
                self.value(frame, *value);
                self.forget(frame, *target, "changes at run time");
            }
            Stmt::Expr(expr) => {
                self.value(frame, *expr);
            }
            Stmt::If { condition, body, or_else } => self.branch(frame, *condition, body, or_else),
            Stmt::For { target, iter, body, or_else } => {
                self.value(frame, *iter);
                self.forget(frame, *target, "is the index of a loop");
                self.repeat(frame, body);
                self.body(frame, or_else);
            }
            Stmt::While { condition, body, or_else } => {
                self.forget_assigned(frame, body);
                self.value(frame, *condition);
                self.repeat(frame, body);
                self.body(frame, or_else);
            }
            Stmt::With { items, body } => {
                for item in items {
                    self.value(frame, item.context);
                    if let Some(target) = item.target {
                        self.forget(frame, target, "is bound by `with`");
                    }
                }
                self.body(frame, body);
            }
            Stmt::Return(value) => {
                let value = value.map(|value| self.value(frame, value));
                if self.uncertain.is_none() {
                    frame.returned = value;
                    frame.done = true;
                } else {
                    frame.returned = Some(Value::unknown("a helper returns under a condition that is not known"));
                }
            }
            Stmt::Other { body, .. } => {
                let reason = Reason("a `try` or `match` is not followed".to_owned());
                self.uncertainly(reason, |front| front.body(frame, body));
            }
            Stmt::Assign { .. }
            | Stmt::Function(_)
            | Stmt::Class { .. }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Pass
            | Stmt::Import(_)
            | Stmt::ImportFrom { .. }
            | Stmt::Error => {}
        }
    }

    fn uncertainly<T>(&mut self, reason: Reason, follow: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.uncertain.clone();
        self.uncertain = outer.clone().or(Some(reason));
        let result = follow(self);
        self.uncertain = outer;
        result
    }

    fn branch(&mut self, frame: &mut Frame<'_>, condition: ExprId, body: &[StmtId], or_else: &[StmtId]) {
        let value = self.value(frame, condition);
        let known = match &value {
            Value::Constant(constant) if !self.mentions_tensor(frame, condition) => eval::truth(constant),
            _ => None,
        };
        match known {
            Some(true) => return self.body(frame, body),
            Some(false) => return self.body(frame, or_else),
            None => {}
        }
        let reason = match value.reason() {
            Some(reason) => reason.clone(),
            None => Reason("a condition is decided at run time".to_owned()),
        };
        let before = frame.names.clone();
        self.uncertainly(reason.clone(), |front| front.body(frame, body));
        let then = std::mem::replace(&mut frame.names, before);
        self.uncertainly(reason.clone(), |front| front.body(frame, or_else));
        for (name, bound) in then {
            match frame.names.get_mut(&name) {
                None => {
                    frame.names.insert(name, bound);
                }
                Some(other) if *other == bound => {}
                Some(other) => {
                    other.value = Value::unknown(format!("`{name}` depends on a condition: {}", reason.0));
                }
            }
        }
    }

    /// A loop is followed once, with everything unknown that it changes.
    fn repeat(&mut self, frame: &mut Frame<'_>, body: &[StmtId]) {
        self.forget_assigned(frame, body);
        self.body(frame, body);
        self.forget_assigned(frame, body);
    }

    fn forget_assigned(&mut self, frame: &mut Frame<'_>, body: &[StmtId]) {
        let mut names = BTreeSet::new();
        assigned(frame.ast, body, &mut names);
        for name in names {
            // A name that is first bound inside has its value there in every round.
            if let Some(bound) = frame.names.get_mut(name) {
                bound.value = Value::unknown(format!("`{name}` changes in a loop"));
            }
        }
    }

    fn forget(&mut self, frame: &mut Frame<'_>, target: ExprId, why: &str) {
        let ast = frame.ast;
        if let Some(name) = ast.name(target) {
            let value = Value::unknown(format!("`{name}` {why}"));
            frame.names.insert(name.to_owned(), Bound { value, plain: false });
        }
        for &element in ast.elements(target).unwrap_or_default() {
            self.forget(frame, element, why);
        }
    }

    fn assign(&mut self, frame: &mut Frame<'_>, targets: &[ExprId], annotation: Option<ExprId>, value: ExprId) {
        let ast = frame.ast;
        let named = targets.first().and_then(|&target| Some((target, ast.name(target)?)));
        let outer = self.naming.take();
        if let Some((target, name)) = named {
            self.naming = Some(Naming { name: name.to_owned(), at: self.at(frame, target), count: 0 });
        }
        let bound = self.value(frame, value);
        self.naming = outer;
        let is_constexpr = annotation.is_some_and(|at| self.canonical(frame, at).as_deref() == Some("tl.constexpr"));
        for &target in targets {
            self.bind(frame, target, bound.clone(), is_constexpr);
        }
    }

    fn bind(&mut self, frame: &mut Frame<'_>, target: ExprId, value: Value, is_constexpr: bool) {
        let ast = frame.ast;
        match ast.expr(target) {
            Expr::Name(name) => {
                let is_number =
                    matches!(value, Value::Constant(Constant::Int(_) | Constant::Bool(_) | Constant::Float(_)));
                let plain = is_number && !is_constexpr;
                frame.names.insert(name.clone(), Bound { value, plain });
            }
            Expr::Tuple(elements) | Expr::List(elements) => {
                let values = match value {
                    Value::Sequence(values) => values,
                    Value::Constant(Constant::Tuple(values) | Constant::List(values)) => {
                        values.into_iter().map(Value::Constant).collect()
                    }
                    Value::Constant(Constant::Unknown(reason)) => {
                        vec![Value::Constant(Constant::Unknown(reason)); elements.len()]
                    }
                    _ => Vec::new(),
                };
                for (i, &element) in elements.iter().enumerate() {
                    let value = values.get(i).cloned().unwrap_or_else(|| Value::unknown("is taken out of no tuple"));
                    self.bind(frame, element, value, is_constexpr);
                }
            }
            Expr::Attribute { value: base, name } => {
                let base = self.value(frame, *base);
                if matches!(base, Value::Spec(_)) && (name == "storage" || name == "buffer_size_bytes") {
                    let message = format!(
                        "AttributeError: `{name}` of a storage_alias_spec cannot be changed; give it to the constructor"
                    );
                    self.refuse(frame, target, Code::Rejected, message);
                }
            }
            _ => {
                self.value(frame, target);
            }
        }
    }

    /// True if the value of an expression comes from a number that was assigned without `tl.constexpr`.
    fn mentions_tensor(&self, frame: &Frame<'_>, expr: ExprId) -> bool {
        let ast = frame.ast;
        match ast.expr(expr) {
            Expr::Name(name) => frame.names.get(name).is_some_and(|bound| bound.plain),
            Expr::Unary { operand, .. } => self.mentions_tensor(frame, *operand),
            Expr::Binary { left, right, .. } | Expr::Bool2 { left, right, .. } => {
                self.mentions_tensor(frame, *left) || self.mentions_tensor(frame, *right)
            }
            Expr::Compare { left, rest } => {
                self.mentions_tensor(frame, *left) || rest.iter().any(|(_, right)| self.mentions_tensor(frame, *right))
            }
            _ => false,
        }
    }

    // Expressions

    fn value(&mut self, frame: &mut Frame<'_>, expr: ExprId) -> Value {
        let ast = frame.ast;
        match ast.expr(expr) {
            Expr::Name(name) => self.name(frame, name, expr),
            Expr::Call { func, args } => self.call(frame, expr, *func, args),
            Expr::Subscript { value, index } => self.subscript(frame, expr, *value, *index),
            Expr::Tuple(elements) | Expr::List(elements) => self.sequence(frame, expr, elements),
            Expr::Comprehension { element, clauses } => self.comprehension(frame, *element, clauses),
            Expr::Binary { op: BinaryOp::Add, left, right } => {
                let (left, right) = (self.value(frame, *left), self.value(frame, *right));
                match (left, right) {
                    (Value::Sequence(mut left), Value::Sequence(right)) => {
                        left.extend(right);
                        Value::Sequence(left)
                    }
                    _ => Value::Constant(self.evaluate(frame, expr)),
                }
            }
            Expr::Ternary { then, condition, otherwise } => self.ternary(frame, *then, *condition, *otherwise),
            Expr::Bool2 { left, right, .. } | Expr::Binary { left, right, .. } => {
                self.effects(frame, *left);
                self.effects(frame, *right);
                Value::Constant(self.evaluate(frame, expr))
            }
            Expr::Compare { left, rest } => {
                self.effects(frame, *left);
                for (_, right) in rest {
                    self.effects(frame, *right);
                }
                Value::Constant(self.evaluate(frame, expr))
            }
            Expr::Unary { operand, .. } => {
                self.effects(frame, *operand);
                Value::Constant(self.evaluate(frame, expr))
            }
            Expr::Attribute { value, .. } => {
                if ast.dotted(expr).is_none() {
                    self.effects(frame, *value);
                }
                Value::Constant(self.evaluate(frame, expr))
            }
            Expr::Starred(inner) => self.value(frame, *inner),
            _ => Value::Constant(self.evaluate(frame, expr)),
        }
    }

    /// Follows the calls and subscripts in an expression whose own value is evaluated elsewhere.
    fn effects(&mut self, frame: &mut Frame<'_>, expr: ExprId) {
        let ast = frame.ast;
        match ast.expr(expr) {
            Expr::Binary { left, right, .. } | Expr::Bool2 { left, right, .. } => {
                self.effects(frame, *left);
                self.effects(frame, *right);
            }
            Expr::Compare { left, rest } => {
                self.effects(frame, *left);
                for (_, right) in rest {
                    self.effects(frame, *right);
                }
            }
            Expr::Unary { operand, .. } => self.effects(frame, *operand),
            Expr::Attribute { value, .. } => self.effects(frame, *value),
            Expr::Name(_) | Expr::Call { .. } | Expr::Subscript { .. } | Expr::Tuple(_) | Expr::List(_) => {
                self.value(frame, expr);
            }
            _ => {}
        }
    }

    fn name(&mut self, frame: &mut Frame<'_>, name: &str, expr: ExprId) -> Value {
        let Some(bound) = frame.names.get(name) else { return Value::Constant(self.evaluate(frame, expr)) };
        let value = bound.value.clone();
        self.mark_used(&value);
        value
    }

    fn mark_used(&mut self, value: &Value) {
        match value {
            Value::Buffer { id, .. } => self.kernel.buffers[id.0 as usize].used = true,
            Value::Sequence(values) => values.iter().for_each(|value| self.mark_used(value)),
            _ => {}
        }
    }

    fn sequence(&mut self, frame: &mut Frame<'_>, expr: ExprId, elements: &[ExprId]) -> Value {
        let values: Vec<_> = elements.iter().map(|&element| self.value(frame, element)).collect();
        if values.iter().any(Value::holds_memory) {
            return Value::Sequence(values);
        }
        Value::Constant(self.evaluate(frame, expr))
    }

    fn comprehension(&mut self, frame: &mut Frame<'_>, element: ExprId, clauses: &[Clause]) -> Value {
        let mut values = Vec::new();
        let outer = frame.names.clone();
        let complete = self.comprehend(frame, element, clauses, &mut values);
        frame.names = outer;
        match complete {
            Ok(()) => Value::Sequence(values),
            Err(reason) => {
                // Followed once, so that what it allocates is seen, and known to be in part.
                let reason = Reason(format!("a list of buffers: {}", reason.0));
                for clause in clauses {
                    if let Clause::For { target, .. } = clause {
                        self.forget(frame, *target, "is the index of a list");
                    }
                }
                self.uncertainly(reason.clone(), |front| front.value(frame, element));
                Value::Constant(Constant::Unknown(reason))
            }
        }
    }

    fn comprehend(
        &mut self,
        frame: &mut Frame<'_>,
        element: ExprId,
        clauses: &[Clause],
        values: &mut Vec<Value>,
    ) -> Result<(), Reason> {
        let Some((clause, inner)) = clauses.split_first() else {
            if values.len() == MOST_ELEMENTS {
                return Err(Reason(format!("more than {MOST_ELEMENTS} elements")));
            }
            values.push(self.value(frame, element));
            return Ok(());
        };
        match clause {
            Clause::If(condition) => {
                let condition = self.evaluate(frame, *condition);
                match eval::truth(&condition) {
                    Some(true) => self.comprehend(frame, element, inner, values),
                    Some(false) => Ok(()),
                    None => Err(Reason("a condition is not known".to_owned())),
                }
            }
            Clause::For { target, iter } => {
                let items = match self.evaluate(frame, *iter) {
                    Constant::List(items) | Constant::Tuple(items) => items,
                    Constant::Unknown(reason) => return Err(reason),
                    _ => return Err(Reason("goes through no list".to_owned())),
                };
                for item in items {
                    self.bind(frame, *target, Value::Constant(item), true);
                    self.comprehend(frame, element, inner, values)?;
                }
                Ok(())
            }
        }
    }

    fn ternary(&mut self, frame: &mut Frame<'_>, then: ExprId, condition: ExprId, otherwise: ExprId) -> Value {
        self.effects(frame, condition);
        let value = self.evaluate(frame, condition);
        match eval::truth(&value).filter(|_| !self.mentions_tensor(frame, condition)) {
            Some(true) => self.value(frame, then),
            Some(false) => self.value(frame, otherwise),
            None => {
                let reason = match value {
                    Constant::Unknown(reason) => reason,
                    _ => Reason("a condition is decided at run time".to_owned()),
                };
                let then = self.uncertainly(reason.clone(), |front| front.value(frame, then));
                let otherwise = self.uncertainly(reason.clone(), |front| front.value(frame, otherwise));
                if then == otherwise { then } else { Value::Constant(Constant::Unknown(reason)) }
            }
        }
    }

    fn subscript(&mut self, frame: &mut Frame<'_>, expr: ExprId, value: ExprId, index: ExprId) -> Value {
        let base = self.value(frame, value);
        match base {
            Value::Buffer { id, view } => self.view(frame, expr, id, view, Some(index)),
            Value::Sequence(values) => match self.evaluate(frame, index) {
                Constant::Int(at) => {
                    let at = if at < 0 { at + values.len() as i64 } else { at };
                    let element = usize::try_from(at).ok().and_then(|at| values.get(at)).cloned();
                    element.unwrap_or_else(|| Value::unknown("the index is outside of the list"))
                }
                Constant::Unknown(reason) => Value::Constant(Constant::Unknown(reason)),
                _ => Value::unknown("indexes a list with something that is no integer"),
            },
            Value::Constant(_) => {
                self.effects(frame, index);
                Value::Constant(self.evaluate(frame, expr))
            }
            Value::Spec(_) | Value::Group(_) => {
                let message = format!("a {} cannot be indexed; index the buffers that use it", base.type_name());
                self.refuse(frame, expr, Code::Rejected, message);
                Value::unknown("indexes something that is no buffer")
            }
        }
    }

    fn view(&mut self, frame: &mut Frame<'_>, at: ExprId, id: BufferId, view: bool, index: Option<ExprId>) -> Value {
        if let Some(index) = index {
            let value = self.value(frame, index);
            if let Value::Constant(Constant::Int(index)) = value
                && !view
                && self.uncertain.is_none()
            {
                let at = self.at(frame, at);
                self.kernel.indices.push(Index { at, buffer: id, index });
            }
        }
        Value::Buffer { id, view: true }
    }

    // Calls

    fn call(&mut self, frame: &mut Frame<'_>, expr: ExprId, func: ExprId, args: &[Arg]) -> Value {
        if let Some(canonical) = self.canonical(frame, func) {
            return self.triton_call(frame, expr, &canonical, args);
        }
        let ast = frame.ast;
        if let Expr::Attribute { value, name } = ast.expr(func) {
            let base = self.value(frame, *value);
            if let Value::Spec(spec) = base
                && name == "set_buffer_overlap"
            {
                self.set_buffer_overlap(frame, expr, spec, args);
                return Value::Constant(Constant::None);
            }
        }
        let values: Vec<_> = args.iter().map(|arg| self.value(frame, arg.value)).collect();
        if let Some(name) = ast.name(func)
            && !frame.names.contains_key(name)
            && let Some(source) = self.scope.function(name)
            && let Some(helper) = scenario::function(&source.ast)
            && scenario::is_jit(&source.ast, self.imports, helper)
            && (values.iter().any(Value::holds_memory) || mentions_tlx(&source.ast, self.imports))
        {
            return self.helper(frame, expr, &source.ast, helper, args, values);
        }
        Value::Constant(self.evaluate(frame, expr))
    }

    /// Follows a helper of the same file, so that what it allocates and returns is known.
    fn helper(
        &mut self,
        frame: &mut Frame<'_>,
        expr: ExprId,
        ast: &Ast,
        helper: &Function,
        args: &[Arg],
        values: Vec<Value>,
    ) -> Value {
        let name = ast.name(helper.name).unwrap_or_default();
        if self.depth == DEEPEST_CALL {
            self.note(self.at(frame, expr), Reason(format!("calls of `{name}` are nested too deeply")));
            return Value::unknown(format!("calls of `{name}` are nested too deeply"));
        }
        let mut names = Names::new();
        for (i, param) in helper.params.iter().enumerate() {
            let Some(param_name) = ast.name(param.name) else { continue };
            let by_keyword = args.iter().position(|arg| arg.keyword.as_deref() == Some(param_name));
            let given = by_keyword.or_else(|| args.get(i).filter(|arg| arg.keyword.is_none()).map(|_| i));
            let value = match (given.and_then(|i| values.get(i)), param.default) {
                (Some(value), _) => value.clone(),
                (None, Some(default)) => Value::Constant(eval::evaluate(ast, default, self.scope)),
                (None, None) => Value::unknown(format!("`{param_name}` is not given to `{name}`")),
            };
            names.insert(param_name.to_owned(), Bound { value, plain: false });
        }
        let call_site = Some(self.at(frame, expr));
        let mut inner = Frame { ast, names, call_site, returned: None, done: false };
        let naming = self.naming.take();
        self.depth += 1;
        self.body(&mut inner, &helper.body);
        self.depth -= 1;
        self.naming = naming;
        inner.returned.unwrap_or(Value::Constant(Constant::None))
    }

    fn triton_call(&mut self, frame: &mut Frame<'_>, expr: ExprId, canonical: &str, args: &[Arg]) -> Value {
        match canonical {
            "tlx.storage_alias_spec" => self.storage_alias_spec(frame, expr, args),
            "tlx.local_alloc" => self.local_alloc(frame, expr, args),
            "tlx.reuse_group" => self.reuse_group(frame, expr, args),
            "tlx.alloc_barriers" | "tlx.alloc_warp_barrier" => self.barriers(frame, expr, args),
            "tlx.clc_create_context" => self.clc_context(frame, expr, args),
            "tlx.local_view" => self.local_view(frame, expr, args),
            "tlx.local_slice"
            | "tlx.subslice"
            | "tlx.local_trans"
            | "tlx.local_reshape"
            | "tlx.local_reinterpret"
            | "tlx.remote_view" => {
                let values: Vec<_> = args.iter().map(|arg| self.value(frame, arg.value)).collect();
                match values.into_iter().next() {
                    Some(Value::Buffer { id, .. }) => Value::Buffer { id, view: true },
                    _ => Value::unknown("a view of something that is not known"),
                }
            }
            "tlx.async_dot" | "tlx.async_dot_scaled" => self.dot(frame, args),
            "tl.static_assert" => {
                if let Some(condition) = args.first() {
                    let value = self.evaluate(frame, condition.value);
                    if eval::truth(&value) == Some(false) && self.uncertain.is_none() {
                        self.kernel.contradiction = self.kernel.contradiction.or(Some(condition.value));
                    }
                }
                Value::Constant(Constant::None)
            }
            "tlx.dtype_of" => match args.first().map(|arg| self.value(frame, arg.value)) {
                Some(Value::Buffer { id, .. }) => Value::Constant(match &self.kernel.buffer(id).dtype {
                    Ok(dtype) => dtype.constant(),
                    Err(reason) => Constant::Unknown(reason.clone()),
                }),
                _ => Value::Constant(self.evaluate(frame, expr)),
            },
            _ => {
                if canonical == "tlx.async_tasks" || canonical == "tlx.async_task" {
                    self.kernel.warp_specialized = true;
                }
                let values: Vec<_> = args.iter().map(|arg| self.value(frame, arg.value)).collect();
                if canonical == "tl.tuple"
                    && let Some(sequence @ Value::Sequence(_)) = values.into_iter().next()
                {
                    return sequence;
                }
                Value::Constant(self.evaluate(frame, expr))
            }
        }
    }

    fn set_buffer_overlap(&mut self, frame: &mut Frame<'_>, expr: ExprId, spec: SpecId, args: &[Arg]) {
        let certain = self.uncertain.is_none();
        let at = self.at(frame, expr);
        let Some(definition) = args.first() else {
            let message = "set_buffer_overlap takes a tlx.reuse_group".to_owned();
            return self.refuse(frame, expr, Code::Rejected, message);
        };
        let value = self.value(frame, definition.value);
        let group = match value {
            Value::Group(group) => Ok(group),
            Value::Constant(Constant::Unknown(reason)) => Err(reason),
            other => {
                let message = format!("overlap_def must be a reuse_group, got {}", other.type_name());
                return self.refuse(frame, definition.value, Code::Rejected, message);
            }
        };
        self.kernel.overlaps.push(Overlap { at, spec, group, certain });
    }

    /// The name for an allocation, and where it stands.
    fn named(&mut self, frame: &Frame<'_>, expr: ExprId) -> (String, Origin) {
        match &mut self.naming {
            Some(naming) => {
                naming.count += 1;
                let name = match naming.count {
                    1 => naming.name.clone(),
                    count => format!("{}[{}]", naming.name, count - 1),
                };
                (name, naming.at)
            }
            None => ("(unnamed)".to_owned(), self.at(frame, expr)),
        }
    }

    fn storage(&mut self, frame: &mut Frame<'_>, arg: Option<ExprId>) -> Known<Storage> {
        let Some(arg) = arg else { return Ok(Storage::Smem) };
        let value = self.value(frame, arg);
        match &value {
            Value::Constant(Constant::Unknown(reason)) => Err(reason.clone()),
            Value::Constant(constant) if Storage::from_constant(constant).is_some() => {
                Storage::from_constant(constant).ok_or_else(|| Reason(String::new()))
            }
            other => {
                let message = format!("storage must be a tlx.storage_kind, got {}", other.type_name());
                self.refuse(frame, arg, Code::Rejected, message);
                Err(Reason("the storage is no tlx.storage_kind".to_owned()))
            }
        }
    }

    fn storage_alias_spec(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let [storage_arg, size_arg] = arguments(args, ["storage", "buffer_size_bytes"]);
        let storage = self.storage(frame, storage_arg);
        if storage == Ok(Storage::SmemCluster) {
            let message = "smemCluster storage is not supported for storage_alias_spec".to_owned();
            self.refuse(frame, storage_arg.unwrap_or(expr), Code::Rejected, message);
        }
        let explicit = size_arg.and_then(|arg| match self.value(frame, arg) {
            Value::Constant(Constant::None) => None,
            Value::Constant(Constant::Int(bytes)) => match u64::try_from(bytes) {
                Ok(bytes) if bytes > 0 => Some(Ok(bytes)),
                _ => {
                    let message = format!("buffer_size_bytes must be positive, got {bytes}");
                    self.refuse(frame, arg, Code::Rejected, message);
                    Some(Err(Reason("`buffer_size_bytes` is not positive".to_owned())))
                }
            },
            Value::Constant(Constant::Unknown(reason)) => Some(Err(reason)),
            _ => Some(Err(Reason("`buffer_size_bytes` is no integer".to_owned()))),
        });
        let (name, name_at) = self.named(frame, expr);
        let id = SpecId(self.kernel.specs.len() as u32);
        let (at, certain) = (self.at(frame, expr), self.uncertain.is_none());
        self.kernel.specs.push(Spec { name, at, name_at, storage, explicit, certain });
        Value::Spec(id)
    }

    fn local_alloc(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let [shape, dtype, num, storage_arg, reuse, layout] =
            arguments(args, ["shape", "dtype", "num", "storage", "reuse", "layout"]);
        let (name, name_at) = self.named(frame, expr);
        // What stands inside of the call is not what the assignment names.
        let naming = self.naming.take();
        let shape = self.shape(frame, shape);
        let dtype = match dtype.map(|dtype| self.value(frame, dtype)) {
            Some(Value::Constant(Constant::Unknown(reason))) => Err(reason),
            Some(Value::Constant(constant)) => {
                Dtype::from_constant(&constant).ok_or_else(|| Reason("the element type is no `tl.dtype`".to_owned()))
            }
            _ => Err(Reason("the element type is missing".to_owned())),
        };
        let num = self.count(frame, num, true);
        let mut storage = self.storage(frame, storage_arg);
        let has_layout = match layout.map(|layout| self.value(frame, layout)) {
            None | Some(Value::Constant(Constant::None)) => false,
            Some(_) => true,
        };
        if let (Some(layout), Ok(kind)) = (layout.filter(|_| has_layout), &storage)
            && *kind != Storage::Smem
        {
            let message = "User-specified layout encoding is only supported for shared memory (smem)".to_owned();
            self.refuse(frame, layout, Code::Rejected, message);
        }
        let backing = self.backing(frame, reuse, &mut storage);
        if let (Ok(Storage::SmemCluster), Some(storage_arg)) = (&storage, storage_arg) {
            let message =
                "an allocation cannot live in smemCluster: the compiler takes it for tensor memory; use smem or tmem"
                    .to_owned();
            self.refuse(frame, storage_arg, Code::Rejected, message);
        }
        self.naming = naming;
        let (at, certain) = (self.at(frame, expr), self.uncertain.is_none());
        self.add(Buffer {
            name,
            at,
            name_at,
            storage,
            shape,
            dtype,
            num,
            backing,
            kind: BufferKind::Data,
            pair: Pair::None,
            has_layout,
            certain,
            used: false,
        })
    }

    fn add(&mut self, buffer: Buffer) -> Value {
        let id = BufferId(self.kernel.buffers.len() as u32);
        self.kernel.buffers.push(buffer);
        Value::Buffer { id, view: false }
    }

    fn shape(&mut self, frame: &mut Frame<'_>, arg: Option<ExprId>) -> Known<Vec<u64>> {
        let Some(arg) = arg else { return Err(Reason("the shape is missing".to_owned())) };
        match self.value(frame, arg) {
            Value::Constant(Constant::Tuple(extents) | Constant::List(extents)) => {
                extents.into_iter().map(|extent| self.extent(frame, arg, extent)).collect()
            }
            Value::Constant(Constant::Unknown(reason)) => Err(reason),
            _ => Err(Reason("the shape is no tuple".to_owned())),
        }
    }

    fn extent(&mut self, frame: &Frame<'_>, arg: ExprId, extent: Constant) -> Known<u64> {
        match extent {
            Constant::Int(extent) => u64::try_from(extent).map_err(|_| {
                let message = format!("shape must have power-of-2 and non-zero dimensions; got {extent}");
                self.refuse(frame, arg, Code::InvalidShape, message);
                Reason(format!("an extent of the shape is {extent}"))
            }),
            Constant::Unknown(reason) => Err(reason),
            _ => Err(Reason("an extent of the shape is no integer".to_owned())),
        }
    }

    /// The number of buffers or barriers.
    fn count(&mut self, frame: &mut Frame<'_>, arg: Option<ExprId>, must_be_constexpr: bool) -> Known<u64> {
        let Some(arg) = arg else { return Err(Reason("the number of buffers is missing".to_owned())) };
        let value = self.value(frame, arg);
        if must_be_constexpr && self.mentions_tensor(frame, arg) {
            let message = "`num` must be a constexpr without introducing any `ast.Assign` nodes: a number that is assigned to a plain name is a tensor; annotate the name with `tl.constexpr`".to_owned();
            self.refuse(frame, arg, Code::Rejected, message);
        }
        match value {
            Value::Constant(Constant::Int(num)) if num > 0 => Ok(num.unsigned_abs()),
            Value::Constant(Constant::Int(num)) => Err(Reason(format!("the number of buffers is {num}"))),
            Value::Constant(Constant::Unknown(reason)) => Err(reason),
            _ => Err(Reason("the number of buffers is no integer".to_owned())),
        }
    }

    /// What an allocation reuses. One that is in another storage is taken to be where its backing is.
    fn backing(&mut self, frame: &mut Frame<'_>, reuse: Option<ExprId>, storage: &mut Known<Storage>) -> Backing {
        let Some(reuse) = reuse else { return Backing::Own };
        match self.value(frame, reuse) {
            Value::Constant(Constant::None) => Backing::Own,
            Value::Constant(Constant::Unknown(reason)) => Backing::Unknown(reason),
            Value::Spec(spec) => {
                let theirs = self.kernel.spec(spec).storage.clone();
                if let (Ok(theirs), Ok(ours)) = (theirs, storage.clone())
                    && theirs != ours
                {
                    *storage = Ok(theirs);
                    let message = format!(
                        "storage_alias_spec storage ({theirs}) doesn't match local_alloc storage ({ours}); pass `storage=tlx.storage_kind.{theirs}`"
                    );
                    self.refuse(frame, reuse, Code::StorageMismatch, message);
                }
                Backing::Spec(spec)
            }
            Value::Buffer { id, view } => {
                let theirs = self.kernel.buffer(id).storage.clone();
                if let (Ok(theirs), Ok(ours)) = (theirs, storage.clone())
                    && theirs != ours
                {
                    *storage = Ok(theirs);
                    let message = format!(
                        "reuse tensor has different storage: `{}` is in {theirs}, this allocation in {ours}",
                        self.kernel.buffer(id).name
                    );
                    self.refuse(frame, reuse, Code::StorageMismatch, message);
                }
                if view {
                    let message = format!(
                        "LocalAliasOp must refer to a local_alloc or local_alias op: this is a view; reuse `{}` itself",
                        self.kernel.buffer(id).name
                    );
                    self.refuse(frame, reuse, Code::Rejected, message);
                }
                Backing::Alias(id)
            }
            other => {
                let message =
                    format!("reuse must be a buffered_tensor or storage_alias_spec, got {}", other.type_name());
                self.refuse(frame, reuse, Code::Rejected, message);
                Backing::Unknown(Reason("`reuse` is no buffer".to_owned()))
            }
        }
    }

    fn reuse_group(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let mut group =
            Group { at: self.at(frame, expr), kind: Ok(GroupKind::Shared), size: Ok(1), elements: Vec::new() };
        for arg in args {
            let value = self.value(frame, arg.value);
            match (arg.keyword.as_deref(), value) {
                (Some("group_type"), Value::Constant(Constant::Unknown(reason))) => group.kind = Err(reason),
                (Some("group_type"), Value::Constant(constant)) => {
                    let kind = GroupKind::from_constant(&constant);
                    group.kind = kind.ok_or_else(|| Reason("the group type is no tlx.reuse_group_type".to_owned()));
                }
                (Some("group_size"), value) => group.size = self.group_size(frame, arg.value, value),
                (Some(_), _) => {}
                (None, value) => {
                    let element = self.element(frame, arg.value, value);
                    group.elements.extend(element);
                }
            }
        }
        if args.iter().all(|arg| arg.keyword.is_some()) {
            self.refuse(frame, expr, Code::Rejected, "reuse_group requires at least one element".to_owned());
        }
        let id = GroupId(self.kernel.groups.len() as u32);
        self.kernel.groups.push(group);
        Value::Group(id)
    }

    fn group_size(&mut self, frame: &Frame<'_>, arg: ExprId, value: Value) -> Known<u64> {
        match value {
            Value::Constant(Constant::Int(size)) if size > 0 => Ok(size.unsigned_abs()),
            Value::Constant(Constant::Unknown(reason)) => Err(reason),
            other => {
                let got = match &other {
                    Value::Constant(Constant::Int(size)) => size.to_string(),
                    other => other.type_name().to_owned(),
                };
                let message = format!("group_size must be a positive integer, got {got}");
                self.refuse(frame, arg, Code::Rejected, message);
                Err(Reason("the group size is no positive integer".to_owned()))
            }
        }
    }

    fn element(&mut self, frame: &Frame<'_>, arg: ExprId, value: Value) -> Vec<Element> {
        let at = self.at(frame, arg);
        match value {
            Value::Buffer { id, view } => vec![Element::Leaf { buffer: id, at, view }],
            Value::Group(group) => vec![Element::Group(group)],
            Value::Sequence(values) if matches!(frame.ast.expr(arg), Expr::Starred(_)) => {
                values.into_iter().flat_map(|value| self.element(frame, arg, value)).collect()
            }
            Value::Constant(Constant::Unknown(reason)) => vec![Element::Unknown(reason)],
            other => {
                let message =
                    format!("reuse_group elements must be buffered_tensor or reuse_group, got {}", other.type_name());
                self.refuse(frame, arg, Code::Rejected, message);
                vec![Element::Unknown(Reason("an element of the group is no buffer".to_owned()))]
            }
        }
    }

    fn barriers(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let (name, name_at) = self.named(frame, expr);
        let [num] = arguments(args, ["num_barriers"]);
        let num = self.count(frame, num, false);
        for arg in args.iter().skip(1) {
            self.value(frame, arg.value);
        }
        let at = self.at(frame, expr);
        self.barrier(name, at, name_at, Vec::new(), num)
    }

    fn barrier(&mut self, name: String, at: Origin, name_at: Origin, shape: Vec<u64>, num: Known<u64>) -> Value {
        self.add(Buffer {
            name,
            at,
            name_at,
            storage: Ok(Storage::Smem),
            shape: Ok(shape),
            dtype: Ok(Dtype::BARRIER),
            num,
            backing: Backing::Own,
            kind: BufferKind::Barrier,
            pair: Pair::None,
            has_layout: false,
            certain: self.uncertain.is_none(),
            used: true,
        })
    }

    /// Two arrays of barriers and one of 16-byte responses, each as long as there are stages.
    fn clc_context(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let (name, name_at) = self.named(frame, expr);
        let [consumers, stages] = arguments(args, ["num_consumers", "num_stages"]);
        if let Some(consumers) = consumers {
            self.value(frame, consumers);
        }
        let stages = match stages {
            Some(stages) => self.count(frame, Some(stages), false),
            None => Ok(1),
        };
        let at = self.at(frame, expr);
        for part in ["full", "empty"] {
            self.barrier(format!("{name}.{part}"), at, name_at, Vec::new(), stages.clone());
        }
        self.barrier(format!("{name}.responses"), at, name_at, Vec::new(), stages.map(|stages| stages * 2));
        Value::unknown("a CLC context")
    }

    fn local_view(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let [buffer, index] = arguments(args, ["local_allocated_buffers", "buffer_idx"]);
        let Some(buffer) = buffer else { return Value::unknown("a view without a buffer") };
        match self.value(frame, buffer) {
            Value::Buffer { id, view } => self.view(frame, expr, id, view, index),
            Value::Constant(constant @ Constant::Unknown(_)) => {
                if let Some(index) = index {
                    self.effects(frame, index);
                }
                Value::Constant(constant)
            }
            _ => Value::unknown("a view of something that is no buffer"),
        }
    }

    /// A product over two CTAs gives its 64-row accumulator, and its operand in tensor memory, other layouts.
    fn dot(&mut self, frame: &mut Frame<'_>, args: &[Arg]) -> Value {
        let values: Vec<_> = args.iter().map(|arg| self.value(frame, arg.value)).collect();
        let named = |name: &str, position: usize| {
            let by_keyword = args.iter().position(|arg| arg.keyword.as_deref() == Some(name));
            by_keyword.or_else(|| args.get(position).filter(|arg| arg.keyword.is_none()).map(|_| position))
        };
        let pair = named("two_ctas", usize::MAX).map(|i| &values[i]);
        let buffer = |position: Option<usize>| match position.and_then(|i| values.get(i)) {
            Some(Value::Buffer { id, .. }) => Some(*id),
            _ => None,
        };
        let over_two = match pair {
            None => Some(false),
            Some(Value::Constant(constant)) => eval::truth(constant),
            Some(_) => None,
        };
        if let (Some(acc), Some(true)) = (buffer(named("acc", 2)), over_two) {
            let rows = self.kernel.buffer(acc).shape.as_ref().ok().and_then(|shape| shape.first().copied());
            if rows == Some(64) && self.kernel.buffer(acc).storage == Ok(Storage::Tmem) {
                self.kernel.buffers[acc.0 as usize].pair = Pair::Rhs;
                if let Some(lhs) =
                    buffer(named("A", 0)).filter(|&lhs| self.kernel.buffer(lhs).storage == Ok(Storage::Tmem))
                {
                    self.kernel.buffers[lhs.0 as usize].pair = Pair::Lhs;
                }
            }
        }
        Value::unknown("the result of a product")
    }
}

/// The arguments of a call by the names of its parameters.
fn arguments<const N: usize>(args: &[Arg], names: [&str; N]) -> [Option<ExprId>; N] {
    let mut bound = [None; N];
    for (i, arg) in args.iter().enumerate() {
        let position = match &arg.keyword {
            Some(keyword) => names.iter().position(|name| name == keyword),
            None => (i < N).then_some(i),
        };
        if let Some(position) = position {
            bound[position] = Some(arg.value);
        }
    }
    bound
}

/// The names that statements assign.
fn assigned<'a>(ast: &'a Ast, body: &[StmtId], names: &mut BTreeSet<&'a str>) {
    for &stmt in body {
        match ast.stmt(stmt) {
            Stmt::Assign { targets, .. } => targets.iter().for_each(|&target| targets_of(ast, target, names)),
            Stmt::AugAssign { target, .. } => targets_of(ast, *target, names),
            Stmt::For { target, body, or_else, .. } => {
                targets_of(ast, *target, names);
                assigned(ast, body, names);
                assigned(ast, or_else, names);
            }
            Stmt::While { body, or_else, .. } | Stmt::If { body, or_else, .. } => {
                assigned(ast, body, names);
                assigned(ast, or_else, names);
            }
            Stmt::With { body, .. } | Stmt::Other { body, .. } => assigned(ast, body, names),
            _ => {}
        }
    }
}

fn targets_of<'a>(ast: &'a Ast, target: ExprId, names: &mut BTreeSet<&'a str>) {
    if let Some(name) = ast.name(target) {
        names.insert(name);
    }
    for &element in ast.elements(target).unwrap_or_default() {
        targets_of(ast, element, names);
    }
}

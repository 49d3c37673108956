//! Names: of functions that run, of what is around them, and of their modules.

use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::eval::Constant;
use tilefit_python::finding::{Example, Node, Reason, Remedy};
use tilefit_python::{spelling, work};
use tilefit_syntax::ast::{Ast, Clause, Expr, ExprId, Stmt, StmtId};

use super::value::{Code, FrameId, FunctionKind, Value, not_known, unknown};
use super::{Definition, Home, Tracer, What};
use crate::dtypes;
use crate::program::WarpPolicy;

/// A function that runs, or a comprehension in one.
#[derive(Debug)]
pub(super) struct Frame {
    pub names: FxHashMap<Rc<str>, Value>,
    pub parent: Option<FrameId>,
    pub code: Code,
    /// Its statements build a kernel: `if` and `range` are the kernel's.
    pub is_kernel: bool,
    /// Assignments in it are those of the frame around it.
    pub is_inner: bool,
    /// A function that is defined in it sees it.
    pub is_captured: bool,
    pub returned: Option<Value>,
}

/// Names of Python that need no import.
const BUILTINS: [&str; 45] = [
    "len",
    "range",
    "min",
    "max",
    "abs",
    "sum",
    "int",
    "float",
    "bool",
    "str",
    "tuple",
    "list",
    "dict",
    "set",
    "isinstance",
    "zip",
    "enumerate",
    "reversed",
    "sorted",
    "print",
    "all",
    "any",
    "getattr",
    "hasattr",
    "type",
    "divmod",
    "pow",
    "round",
    "repr",
    "map",
    "filter",
    "iter",
    "next",
    "callable",
    "id",
    "frozenset",
    "bytes",
    "object",
    "slice",
    "super",
    "property",
    "globals",
    "locals",
    "open",
    "format",
];

/// Names of exceptions and the like end so.
fn is_builtin_class(name: &str) -> bool {
    name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Warning") || name.starts_with("__")
}

impl Tracer<'_> {
    pub(super) fn push_frame(
        &mut self,
        parent: Option<FrameId>,
        code: Code,
        is_kernel: bool,
        is_inner: bool,
    ) -> FrameId {
        let id = FrameId(self.frames.len() as u32);
        let names = FxHashMap::default();
        self.frames.push(Frame { names, parent, code, is_kernel, is_inner, is_captured: false, returned: None });
        id
    }

    /// Forgets a frame that nothing refers to any more.
    pub(super) fn pop_frame(&mut self, frame: FrameId) {
        if self.frames.len() == frame.0 as usize + 1 && !self.frames[frame.0 as usize].is_captured {
            self.frames.pop();
        }
    }

    pub(super) fn frame(&self, frame: FrameId) -> &Frame {
        &self.frames[frame.0 as usize]
    }

    pub(super) fn capture(&mut self, frame: FrameId) {
        let mut next = Some(frame);
        while let Some(FrameId(at)) = next {
            let frame = &mut self.frames[at as usize];
            if std::mem::replace(&mut frame.is_captured, true) {
                break;
            }
            next = frame.parent;
        }
    }

    /// Whether assignments in a frame are statements of a kernel.
    pub(super) fn is_kernel(&self, frame: FrameId) -> bool {
        self.frame(frame).is_kernel
    }

    pub(super) fn set(&mut self, frame: FrameId, name: &str, value: Value) {
        let mut at = frame;
        // A comprehension keeps its variables, and nothing else is assigned in it.
        while self.frame(at).is_inner && !self.frame(at).names.contains_key(name) {
            match self.frame(at).parent {
                Some(parent) => at = parent,
                None => break,
            }
        }
        self.frames[at.0 as usize].names.insert(name.into(), value);
    }

    pub(super) fn set_inner(&mut self, frame: FrameId, name: &str, value: Value) {
        self.frames[frame.0 as usize].names.insert(name.into(), value);
    }

    /// What a name is in the functions around, and nowhere else.
    pub(super) fn local(&self, frame: FrameId, name: &str) -> Option<(FrameId, &Value)> {
        let mut next = Some(frame);
        while let Some(at) = next {
            let frame = self.frame(at);
            if let Some(value) = frame.names.get(name) {
                return Some((at, value));
            }
            next = frame.parent;
        }
        None
    }

    pub(super) fn name(&mut self, frame: FrameId, expr: ExprId, name: &str) -> Value {
        if let Some((_, value)) = self.local(frame, name) {
            return value.clone();
        }
        let code = self.frame(frame).code.clone();
        let outer = self.outer_call;
        if code.number == 0 && outer.is_none() {
            self.outer_call = Some(expr);
        }
        let value = self.of_module(code.home, name);
        self.outer_call = outer;
        if let Some(value) = value {
            return value;
        }
        if let Some(builtin) = BUILTINS.into_iter().find(|builtin| *builtin == name) {
            return Value::Library(format!("builtins.{builtin}").into());
        }
        if name == "NotImplemented" || name == "Ellipsis" || is_builtin_class(name) {
            return unknown(format!("`{name}` of Python is not followed"));
        }
        if self.is_bound_somewhere(frame, name) || self.environment.is_open(code.home) {
            return unknown(format!("`{name}` may not have a value here"));
        }
        let seen = self.seen_names(frame);
        let language = crate::vocabulary::is_member(name).then(|| format!("T.{name}"));
        let nearest = language.or_else(|| spelling::nearest(name, seen.iter().map(|seen| &**seen)).map(str::to_owned));
        let at = self.origin(&code, Node::Expr(expr));
        self.mistake(at, What::Name { name: name.to_owned(), nearest });
        unknown(format!("`{name}` is not defined"))
    }

    /// Names that a place sees, apart from those of the module.
    fn seen_names(&self, frame: FrameId) -> Vec<Rc<str>> {
        let mut seen: Vec<Rc<str>> = Vec::new();
        let mut next = Some(frame);
        while let Some(at) = next {
            seen.extend(self.frame(at).names.keys().cloned());
            next = self.frame(at).parent;
        }
        seen.sort();
        seen
    }

    /// Whether the text binds a name anywhere, in a branch that was not followed for instance.
    fn is_bound_somewhere(&mut self, frame: FrameId, name: &str) -> bool {
        let ast = self.frame(frame).code.ast.clone();
        let names = self.bound.entry(std::sync::Arc::as_ptr(&ast)).or_insert_with(|| bound_names(&ast));
        names.contains(name)
    }

    /// What a name of a module is, where the workspace or an import says it.
    pub(super) fn of_module(&mut self, home: Home, name: &str) -> Option<Value> {
        let key: (Home, Rc<str>) = (home, name.into());
        match self.known.get(&key) {
            Some(Some(value)) => return Some(value.clone()),
            Some(None) => return Some(unknown(format!("`{name}` depends on itself"))),
            None => {}
        }
        self.known.insert(key.clone(), None);
        let value = match self.environment.definition(home, name) {
            Some(Definition::Module) => Some(Value::Module(home, name.into())),
            Some(definition) => Some(self.defined(home, name, definition)),
            None => match self.environment.constant(home, name) {
                Some(constant) => Some(self.constant(&constant)),
                None => self.environment.canonical(home, &[name]).map(|path| self.of_library(&path)),
            },
        };
        match &value {
            Some(value) => self.known.insert(key, Some(value.clone())),
            None => self.known.remove(&key),
        };
        value
    }

    pub(super) fn defined(&mut self, home: Home, name: &str, definition: Definition) -> Value {
        match definition {
            Definition::Function { ast, key, home } => self.function_of_block(ast, key, home),
            Definition::Expression { ast, expr, element, home: place } => {
                let code = Code { number: self.number_of(&ast, None), ast, home: place };
                let frame = self.push_frame(None, code, false, false);
                let value = self.value(frame, expr);
                self.pop_frame(frame);
                let value = match (element, value) {
                    (None, value) => value,
                    (Some(at), value) => match value.items().and_then(|items| items.get(at)) {
                        Some(value) => value.clone(),
                        None => unknown(format!("`{name}` is a part of a value that is not known")),
                    },
                };
                match value {
                    Value::Unknown(unknown) => match self.environment.constant(home, name) {
                        Some(constant) => self.constant(&constant),
                        None => Value::Unknown(unknown),
                    },
                    value => value,
                }
            }
            Definition::Constant(constant) => self.constant(&constant),
            Definition::Module => Value::Module(home, name.into()),
        }
    }

    /// A function that is a block of its own, with what its decorators make of it.
    fn function_of_block(
        &mut self,
        ast: std::sync::Arc<Ast>,
        key: Option<tilefit_syntax::BlockKey>,
        home: Home,
    ) -> Value {
        let function = ast.body.iter().copied().find(|&stmt| matches!(ast.stmt(stmt), Stmt::Function(_)));
        let Some(stmt) = function else { return unknown("a function that does not parse") };
        let code = Code { number: self.number_of(&ast, key), ast, home };
        let frame = match self.modules.get(&home) {
            Some(&frame) => frame,
            None => {
                let frame = self.push_frame(None, code.clone(), false, false);
                self.capture(frame);
                self.modules.insert(home, frame);
                frame
            }
        };
        self.function(frame, &code, stmt)
    }

    /// The number of a text, among those that are not the kernel's.
    pub(super) fn number_of(&mut self, ast: &std::sync::Arc<Ast>, key: Option<tilefit_syntax::BlockKey>) -> u32 {
        let next = self.traced.functions.len() as u32;
        let number = *self.numbers.entry(std::sync::Arc::as_ptr(ast)).or_insert(next);
        if number == next {
            self.traced.functions.push(key);
        }
        number
    }

    /// What a library calls by that path.
    pub(super) fn of_library(&mut self, path: &str) -> Value {
        if let Some(name) = path.strip_prefix("torch.")
            && let Some(dtype) = dtypes::of_torch(name)
        {
            return Value::Dtype(dtype);
        }
        match path {
            "math.pi" => Value::Float(std::f64::consts::PI),
            "math.e" => Value::Float(std::f64::consts::E),
            "math.inf" => Value::Float(f64::INFINITY),
            "math.nan" => Value::Float(f64::NAN),
            "typing.TYPE_CHECKING" => Value::Bool(false),
            "tilelang.language.GemmWarpPolicy.Square" => Value::Policy(WarpPolicy::Square),
            "tilelang.language.GemmWarpPolicy.FullRow" => Value::Policy(WarpPolicy::FullRow),
            "tilelang.language.GemmWarpPolicy.FullCol" => Value::Policy(WarpPolicy::FullColumn),
            _ => match path.strip_prefix("tilelang.language.").and_then(dtypes::parse) {
                Some(dtype) => Value::Dtype(dtype),
                None => Value::Library(path.into()),
            },
        }
    }

    pub(super) fn constant(&mut self, constant: &Constant) -> Value {
        self.step();
        match constant {
            Constant::Int(value) => Value::Int(*value),
            Constant::Float(value) => Value::Float(value.get()),
            Constant::Bool(value) => Value::Bool(*value),
            Constant::None => Value::None,
            Constant::Str(text) => self.argument_text(text),
            Constant::Member(name) => match dtypes::parse(name.rsplit('.').next().unwrap_or(name)) {
                Some(dtype) => Value::Dtype(dtype),
                None => self.of_library(&name.replacen("T.", "tilelang.language.", 1)),
            },
            Constant::List(parts) => Value::list(parts.iter().map(|part| self.constant(part)).collect()),
            Constant::Tuple(parts) => Value::tuple(parts.iter().map(|part| self.constant(part)).collect()),
            Constant::Dict(pairs) => {
                Value::dict(pairs.iter().map(|(key, value)| (self.constant(key), self.constant(value))).collect())
            }
            Constant::Unknown(reason) => not_known(reason.clone()),
            _ => unknown("a value of the host that is not followed"),
        }
    }

    /// `T.float16` written as a text is the type.
    fn argument_text(&mut self, text: &str) -> Value {
        let named = ["T.", "tl.", "torch."].into_iter().find_map(|module| text.strip_prefix(module));
        match named.and_then(|name| dtypes::parse(name).or_else(|| dtypes::of_torch(name))) {
            Some(dtype) => Value::Dtype(dtype),
            None => Value::str(text),
        }
    }

    /// A parameter that is given no value.
    pub(super) fn missing(&mut self, param: &str, example: Option<Example>) -> Value {
        let remedy = example.map(|example| {
            self.asked.insert(param.to_owned(), example);
            Remedy::Value { param: param.to_owned(), example, is_number: example == Example::Number }
        });
        not_known(Reason::new(format!("`{param}` has no value")).with_remedy(remedy))
    }

    /// The value of an expression of a text that sees the names of a frame, which may be one of another text: a default, an annotation.
    pub(super) fn value_in(&mut self, around: FrameId, code: &Code, expr: ExprId) -> Value {
        let frame = self.push_frame(Some(around), code.clone(), false, false);
        let value = self.value(frame, expr);
        self.pop_frame(frame);
        value
    }

    /// Runs what changes only names of its own, in a frame inside of another.
    pub(super) fn within<T>(&mut self, frame: FrameId, run: impl FnOnce(&mut Self, FrameId) -> T) -> T {
        let code = self.frame(frame).code.clone();
        let is_kernel = self.is_kernel(frame);
        let inner = self.push_frame(Some(frame), code, is_kernel, true);
        let result = run(self, inner);
        self.pop_frame(inner);
        result
    }

    pub(super) fn is_factory(value: &Value) -> bool {
        matches!(value, Value::Function(function) if function.kind == FunctionKind::Factory)
    }
}

/// All names that a text binds, wherever.
fn bound_names(ast: &Ast) -> FxHashSet<String> {
    let mut names: FxHashSet<String> = ast.hidden.iter().cloned().collect();
    let mut targets = Vec::new();
    for (_, stmt) in ast.stmts() {
        work::spend(1);
        match stmt {
            Stmt::Assign { targets: all, .. } => targets.extend(all),
            Stmt::AugAssign { target, .. } | Stmt::For { target, .. } => targets.push(*target),
            Stmt::With { items, .. } => targets.extend(items.iter().filter_map(|item| item.target)),
            Stmt::Function(function) => {
                targets.push(function.name);
                targets.extend(function.params.iter().map(|param| param.name));
            }
            Stmt::Class { name, .. } => targets.push(*name),
            Stmt::Import(modules) => names.extend(modules.iter().map(|module| {
                let root = || module.module.split('.').next().unwrap_or_default().to_owned();
                module.alias.clone().unwrap_or_else(root)
            })),
            Stmt::ImportFrom { names: imported, .. } => {
                names.extend(imported.iter().map(|name| name.bound().to_owned()))
            }
            _ => {}
        }
    }
    for (_, expr) in ast.exprs() {
        work::spend(1);
        if let Expr::Comprehension { clauses, .. } | Expr::DictComprehension { clauses, .. } = expr {
            targets.extend(clauses.iter().filter_map(|clause| match clause {
                Clause::For { target, .. } => Some(*target),
                Clause::If(_) => None,
            }));
        }
    }
    while let Some(target) = targets.pop() {
        match ast.expr(target) {
            Expr::Name(name) => {
                names.insert(name.clone());
            }
            Expr::Tuple(parts) | Expr::List(parts) => targets.extend(parts),
            Expr::Starred(inner) => targets.push(*inner),
            _ => {}
        }
    }
    names
}

/// The function of a statement, where it is one.
pub(super) fn function_of(ast: &Ast, stmt: StmtId) -> Option<&tilefit_syntax::ast::Function> {
    match ast.stmt(stmt) {
        Stmt::Function(function) => Some(function),
        _ => None,
    }
}

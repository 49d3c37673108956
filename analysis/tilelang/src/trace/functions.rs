//! Functions of Python and macros: what they are given, and what they give.

use std::rc::Rc;

use tilefit_python::finding::{Node, Reason};
use tilefit_syntax::ast::{Ast, Expr, ExprId, ParamKind, StmtId};

use super::frames::function_of;
use super::statements::Flow;
use super::value::{Anonymous, Args, Code, FrameId, Function, FunctionKind, Value, not_known, unknown};
use super::{DEEPEST_CALL, Tracer, What};

impl Tracer<'_> {
    /// What a definition gives its name: a function, or what its decorators make of it.
    pub(super) fn function(&mut self, frame: FrameId, code: &Code, stmt: StmtId) -> Value {
        let ast = code.ast.clone();
        let Some(syntax) = function_of(&ast, stmt) else { return unknown("a function that does not parse") };
        let name: Rc<str> = ast.name(syntax.name).unwrap_or_default().into();
        let mut kind = FunctionKind::Python;
        let mut is_prim = false;
        for &decorator in &syntax.decorators {
            match self.decorator(frame, code, decorator).as_deref() {
                Some("tilelang.language.prim_func" | "tvm.script.tir.prim_func" | "tvm.script.tirx.prim_func") => {
                    is_prim = true;
                }
                Some("tilelang.language.macro") => kind = FunctionKind::Macro,
                Some("tilelang.jit" | "tilelang.lazy_jit") => kind = FunctionKind::Factory,
                Some(path) if is_transparent(path) => {}
                Some(path) => return unknown(format!("`{name}` is what `{path}` makes of it")),
                None => return unknown(format!("`{name}` has a decorator that is not known")),
            }
        }
        self.capture(frame);
        let defaults =
            syntax.params.iter().map(|param| param.default.map(|default| self.value_in(frame, code, default)));
        let defaults = defaults.collect();
        let function = Rc::new(Function { name, code: code.clone(), stmt, frame: Some(frame), kind, defaults });
        match is_prim {
            true => self.prim_func(&function),
            false => Value::Function(function),
        }
    }

    /// The whole path of a decorator, called or not.
    pub(super) fn decorator(&mut self, frame: FrameId, code: &Code, decorator: ExprId) -> Option<String> {
        let func = match code.ast.expr(decorator) {
            Expr::Call { func, .. } => *func,
            _ => decorator,
        };
        // Names that the functions around give to modules are rare; those of the file are looked up.
        let path = code.ast.dotted(func)?;
        if let Some((_, Value::Library(first))) = self.local(frame, path[0]) {
            let rest = path[1..].iter().map(|part| format!(".{part}")).collect::<String>();
            return Some(super::library::normal(&format!("{first}{rest}")));
        }
        let path = self.environment.canonical(code.home, &path)?;
        Some(super::library::normal(&path))
    }

    /// Calls a function of Python or a macro.
    pub(super) fn call_function(
        &mut self,
        function: &Rc<Function>,
        args: &Args,
        at: Option<ExprId>,
        from: FrameId,
    ) -> Value {
        if self.depth >= DEEPEST_CALL {
            return unknown(format!("`{}` is called too deeply to be followed", function.name));
        }
        let outer = self.outer_call;
        if function.code.number != 0 && outer.is_none() && self.frame(from).code.number == 0 {
            self.outer_call = at;
        }
        let is_kernel = function.kind == FunctionKind::Macro && self.out.is_open();
        let frame = self.push_frame(function.frame, function.code.clone(), is_kernel, false);
        let value = match self.bind_arguments(frame, function, args, at, from) {
            Ok(()) => {
                self.depth += 1;
                let loops = std::mem::take(&mut self.loops);
                let body = function_of(&function.code.ast, function.stmt).map(|syntax| syntax.body.clone());
                let flow = self.body(frame, &body.unwrap_or_default());
                self.loops = loops;
                self.depth -= 1;
                match flow {
                    Flow::Return(value) => value,
                    Flow::Raise(reason) => not_known(reason),
                    _ => self.frames[frame.0 as usize].returned.take().unwrap_or(Value::None),
                }
            }
            Err(reason) => not_known(reason),
        };
        self.pop_frame(frame);
        self.outer_call = outer;
        value
    }

    pub(super) fn bind_arguments(
        &mut self,
        frame: FrameId,
        function: &Rc<Function>,
        args: &Args,
        at: Option<ExprId>,
        from: FrameId,
    ) -> Result<(), Reason> {
        let ast = function.code.ast.clone();
        let Some(syntax) = function_of(&ast, function.stmt) else { return Ok(()) };
        let mut positional = args.positional.iter();
        let mut used: Vec<&str> = Vec::new();
        let mut takes_keywords = false;
        for (i, param) in syntax.params.iter().enumerate() {
            let Some(name) = ast.name(param.name) else { continue };
            let value = match param.kind {
                ParamKind::Args => Value::tuple(positional.by_ref().map(|(value, _)| value.clone()).collect()),
                ParamKind::Kwargs => {
                    takes_keywords = true;
                    let rest = args.keywords.iter().filter(|(keyword, ..)| {
                        !syntax.params.iter().any(|param| ast.name(param.name) == Some(keyword))
                    });
                    Value::dict(rest.map(|(keyword, value, _)| (Value::Str(keyword.clone()), value.clone())).collect())
                }
                kind => {
                    let by_place = if kind == ParamKind::Plain { positional.next() } else { None };
                    let value = by_place.map(|(value, _)| value).or_else(|| args.keyword(name)).cloned();
                    let default = || function.defaults.get(i).cloned().flatten();
                    match (value.or_else(|| if args.open.is_some() { None } else { default() }), &args.open) {
                        (Some(value), _) => value,
                        (None, Some(reason)) => not_known(reason.clone()),
                        (None, None) => {
                            if let Some(at) = at {
                                let at = self.at(from, at);
                                let (function, parameter) = (function.name.to_string(), name.to_owned());
                                self.mistake(at, What::Missing { function, parameter });
                            }
                            unknown(format!("`{name}` is not given"))
                        }
                    }
                }
            };
            used.push(name);
            // The arguments of a macro that are numbers are bound there.
            let value = match (function.kind, &value) {
                (FunctionKind::Macro, Value::Expr(_) | Value::Element(_)) => {
                    self.bound(frame, name, value, Node::Expr(param.name))
                }
                _ => value,
            };
            self.set_inner(frame, name, value);
        }
        let unknown_keyword = args.keywords.iter().find(|(keyword, ..)| !used.contains(&&**keyword));
        if let Some((keyword, ..)) = unknown_keyword
            && !takes_keywords
            && let Some(at) = at
        {
            let nearest = None;
            let (at, keyword) = (self.at(from, at), keyword.to_string());
            self.mistake(at, What::Keyword { function: function.name.to_string(), keyword, nearest });
        }
        let most = args.positional.len() - positional.len();
        if positional.len() > 0
            && let Some(at) = at
        {
            let at = self.at(from, at);
            let (function, given) = (function.name.to_string(), args.positional.len());
            self.mistake(at, What::Arguments { function, given, most });
        }
        Ok(())
    }

    pub(super) fn call_lambda(&mut self, lambda: &Anonymous, args: &Args) -> Value {
        if self.depth >= DEEPEST_CALL {
            return unknown("a lambda that is called too deeply");
        }
        let code = match &lambda.lambda {
            // Its names are its own.
            Some(own) => Code { ast: std::sync::Arc::new(own.ast.clone()), ..lambda.code.clone() },
            None => lambda.code.clone(),
        };
        let is_kernel = self.is_kernel(lambda.frame);
        let frame = self.push_frame(Some(lambda.frame), code, is_kernel, false);
        for (i, param) in lambda.lambda.iter().flat_map(|own| own.params.iter().enumerate()) {
            let value = args.get(i, param).cloned().unwrap_or_else(|| unknown(format!("`{param}` is not given")));
            self.set_inner(frame, param, value);
        }
        self.depth += 1;
        let value = self.value(frame, lambda.body);
        self.depth -= 1;
        self.pop_frame(frame);
        value
    }
}

/// Decorators that leave a function what it is.
fn is_transparent(path: &str) -> bool {
    const KNOWN: [&str; 5] = [
        "tilelang.autotune",
        "tilelang.autotuner.autotune",
        "tilelang.language.inline",
        "tilelang.transform.simplify_prim_func",
        "contextlib.contextmanager",
    ];
    const MODULES: [&str; 5] = ["functools.", "torch.", "typing.", "pytest.", "tilelang.testing."];
    KNOWN.contains(&path) || MODULES.iter().any(|module| path.starts_with(module))
}

/// Whether a function, or one in it, is decorated with a name that ends so.
pub(super) fn has_decorated(ast: &Ast, body: &[StmtId], last: &str) -> bool {
    body.iter().any(|&stmt| {
        if let Some(function) = function_of(ast, stmt) {
            let is_decorated = function.decorators.iter().any(|&decorator| {
                let func = match ast.expr(decorator) {
                    Expr::Call { func, .. } => *func,
                    _ => decorator,
                };
                ast.dotted(func).and_then(|path| path.last().copied()) == Some(last)
            });
            return is_decorated || has_decorated(ast, &function.body, last);
        }
        ast.stmt(stmt).bodies().any(|body| has_decorated(ast, body, last))
    })
}

//! Factories that give a primitive function, kernels of the eager kind, and what their decorators say.

use std::rc::Rc;
use std::sync::Arc;

use tilefit_python::finding::{Example, Node, Reason};
use tilefit_syntax::ast::{Ast, Expr, ExprId, Function as Syntax, ParamKind, Stmt, StmtId};

use super::frames::function_of;
use super::functions::has_decorated;
use super::statements::Flow;
use super::value::{Args, Code, FrameId, Function, FunctionKind, Value, not_known, unknown};
use super::{Home, Traced, Tracer, What, example};
use crate::program::{Options, Planning};

impl Tracer<'_> {
    /// Follows the function of the kernel's block.
    pub(super) fn block(&mut self, ast: &Arc<Ast>) {
        let code = Code { ast: ast.clone(), home: Home::KERNEL, number: 0 };
        self.numbers.insert(Arc::as_ptr(ast), 0);
        let module = self.push_frame(None, code.clone(), false, false);
        self.capture(module);
        self.modules.insert(Home::KERNEL, module);
        let Some(stmt) = ast.body.iter().copied().find(|&stmt| function_of(ast, stmt).is_some()) else {
            self.traced.unknown.push(Reason::new("the block holds no function"));
            return;
        };
        self.root = function_of(ast, stmt).map(|function| function.name);
        let value = self.function(module, &code, stmt);
        let result = match &value {
            Value::Function(function) => self.run_block(module, function),
            value => value.clone(),
        };
        let is_factory = Self::is_factory(&value);
        self.conclude(&result, is_factory, ast, stmt);
    }

    /// What a factory gives is what is launched.
    fn conclude(&mut self, result: &Value, is_factory: bool, ast: &Ast, stmt: StmtId) {
        let given: Vec<usize> = match result {
            Value::PrimFunc(number) => vec![*number],
            value => value
                .items()
                .unwrap_or_default()
                .iter()
                .filter_map(|item| match item {
                    Value::PrimFunc(number) => Some(*number),
                    _ => None,
                })
                .collect(),
        };
        if !given.is_empty() {
            for number in given {
                let launches = std::mem::take(&mut self.prims[number]);
                self.traced.launches.extend(launches);
            }
            return;
        }
        let all: Vec<_> = self.prims.iter_mut().flat_map(std::mem::take).collect();
        match result {
            Value::None if is_factory && !self.prims.is_empty() => {
                let kernel = all.first().map(|launch| launch.function.to_string());
                let name = function_of(ast, stmt).map(|function| function.name);
                let at = name.map_or(Node::Stmt(stmt), Node::Expr);
                let code = Code { ast: Arc::new(Ast::default()), home: Home::KERNEL, number: 0 };
                let at = self.origin(&code, at);
                self.mistake(at, What::NotReturned { kernel });
            }
            // A test compiles the kernel that it holds.
            Value::Unknown(_) if !is_factory && self.prims.len() == 1 && !all.is_empty() => {}
            Value::Unknown(it) => {
                let reason = it.reason.clone();
                self.needs(&reason);
                self.traced.unknown.push(reason.of("which kernel the function gives"));
            }
            _ if self.prims.is_empty() => self.traced.unknown.push(Reason::new("the function gives no kernel")),
            _ => {}
        }
        self.traced.launches.extend(all);
    }

    fn run_block(&mut self, module: FrameId, function: &Rc<Function>) -> Value {
        let ast = function.code.ast.clone();
        let Some(syntax) = function_of(&ast, function.stmt) else { return Value::None };
        self.decorators(module, &function.code, syntax);
        let has_prim = has_decorated(&ast, &syntax.body, "prim_func");
        if function.kind == FunctionKind::Factory && !has_prim && self.builds(module, &function.code, syntax) {
            return self.eager(module, function, syntax);
        }
        let frame = self.push_frame(function.frame, function.code.clone(), false, false);
        let is_tuned = self.is_tuned(module, &function.code, syntax);
        for (i, param) in syntax.params.iter().enumerate() {
            let Some(name) = ast.name(param.name) else { continue };
            let default = function.defaults.get(i).cloned().flatten();
            // A tuner gives these a value.
            let default = default.filter(|default| !(is_tuned && matches!(default, Value::None)));
            let value = match param.kind {
                ParamKind::Args => Value::tuple(Vec::new()),
                ParamKind::Kwargs => Value::dict(Vec::new()),
                _ => self.given(name, default, example(&ast, param)),
            };
            self.set_inner(frame, name, value);
        }
        let flow = self.body(frame, &syntax.body);
        let returned = self.frames[frame.0 as usize].returned.take();
        match flow {
            Flow::Return(value) => match returned {
                Some(other) => self.either(&Reason::new("what is returned is not known"), &other, &value),
                None => value,
            },
            Flow::Raise(reason) => not_known(reason),
            _ => returned.unwrap_or(Value::None),
        }
    }

    /// A function whose own body is the kernel.
    fn eager(&mut self, module: FrameId, function: &Rc<Function>, syntax: &Syntax) -> Value {
        let ast = function.code.ast.clone();
        self.out.start_function(&function.name);
        let frame = self.push_frame(function.frame, function.code.clone(), true, false);
        for (i, param) in syntax.params.iter().enumerate() {
            let Some(name) = ast.name(param.name) else { continue };
            let annotation = param.annotation.map(|annotation| self.value_in(module, &function.code, annotation));
            let default = function.defaults.get(i).cloned().flatten();
            let is_declared = is_tensor_in(&ast, &syntax.body, name);
            let value = match annotation {
                Some(annotation @ Value::Tensor(_)) => {
                    let at = self.at(frame, param.name);
                    self.parameter_of(name, &annotation, at).unwrap_or(Value::None)
                }
                // Its declaration in the body says what it is.
                _ if is_declared => unknown(format!("`{name}` is not declared yet")),
                _ => self.given(name, default, example(&ast, param)),
            };
            self.set_inner(frame, name, value);
        }
        if let Flow::Raise(reason) = self.body(frame, &syntax.body) {
            self.note(reason);
        }
        let mut launches = self.out.end_function();
        for launch in &mut launches {
            launch.options = self.options;
        }
        self.prims.push(launches);
        Value::PrimFunc(self.prims.len() - 1)
    }

    /// What the shape of an argument says of the extents of `T.const`: `X: T.Tensor((M, K), …)` of a matrix of 1024 rows, that `M` is 1024.
    pub(super) fn learn_sizes(&mut self, name: &str, annotation: &Value) {
        let (Value::Tensor(spec), Some(shape)) = (annotation, self.arguments.get(name)) else { return };
        let argument = self.constant(shape);
        for (size, given) in spec.shape.iter().zip(argument.items().unwrap_or_default()) {
            let declared = size.sum.only_key().and_then(|key| self.declared.get(&key));
            if let (Some(declared), Some(given)) = (declared, given.int()) {
                self.learnt.insert(declared.clone(), given);
            }
        }
    }

    /// An extent that `T.const` declares.
    pub(super) fn constant_size(&mut self, name: &str) -> Value {
        match self.sizes.get(name) {
            Some(&size) => Value::Int(size),
            None => {
                let value = self.given(name, None, Some(Example::Number));
                if let Value::Unknown(it) = &value {
                    self.declared.insert(it.id, name.to_owned());
                }
                value
            }
        }
    }

    /// Whether the body itself builds a kernel: it launches, or declares tensors.
    fn builds(&mut self, module: FrameId, code: &Code, syntax: &Syntax) -> bool {
        let ast = code.ast.clone();
        let calls = ast.exprs_in(&syntax.body);
        calls.into_iter().any(|expr| {
            let Expr::Call { func, .. } = ast.expr(expr) else { return false };
            let Some(path) = self.decorator(module, code, *func) else { return false };
            matches!(
                path.as_str(),
                "tilelang.language.Kernel"
                    | "tilelang.language.ClusterKernel"
                    | "tilelang.language.const"
                    | "tilelang.language.empty"
            )
        })
    }

    fn is_tuned(&mut self, module: FrameId, code: &Code, syntax: &Syntax) -> bool {
        syntax
            .decorators
            .iter()
            .any(|&decorator| self.decorator(module, code, decorator).is_some_and(|path| path.ends_with(".autotune")))
    }

    /// What the decorators ask of the compiler.
    fn decorators(&mut self, module: FrameId, code: &Code, syntax: &Syntax) {
        let ast = code.ast.clone();
        let mut paths = syntax.decorators.iter().map(|&decorator| self.decorator(module, code, decorator));
        // What compiles the kernel elsewhere may ask for more.
        if !paths.any(|path| path.is_some_and(|path| path.ends_with(".jit"))) {
            self.options.memory_planning = Planning::Unknown;
        }
        for &decorator in &syntax.decorators {
            let Expr::Call { args, .. } = ast.expr(decorator) else { continue };
            for arg in args {
                match arg.keyword.as_deref() {
                    Some("pass_configs") => {
                        let configs = self.value_in(module, code, arg.value);
                        self.configure(&configs);
                    }
                    Some("target") => {
                        let target = self.value_in(module, code, arg.value);
                        self.options.is_for_pto |= target.text().is_none_or(|target| target == "pto");
                    }
                    _ => {}
                }
            }
        }
    }

    /// `pass_configs`
    pub(super) fn configure(&mut self, configs: &Value) {
        let pairs = match configs {
            Value::Dict(pairs) => pairs.items.clone(),
            Value::None => return,
            Value::Unknown(it) => {
                let reason = it.reason.clone();
                self.options.memory_planning = Planning::Unknown;
                return self.note(reason.of("`pass_configs`"));
            }
            _ => return,
        };
        let mut options: Options = self.options;
        for (key, value) in pairs.iter() {
            let key = match key {
                Value::Str(name) => name.rsplit('.').next().unwrap_or_default().to_lowercase(),
                Value::Library(path) => {
                    let last = path.rsplit('.').next().unwrap_or_default().to_lowercase();
                    last.trim_start_matches("tl_").trim_start_matches("tir_").to_owned()
                }
                _ => {
                    options.memory_planning = Planning::Unknown;
                    continue;
                }
            };
            let Some(is_on) = value.truth() else {
                if key == "ascend_memory_planning" {
                    options.memory_planning = Planning::Unknown;
                }
                if let Value::Unknown(it) = value {
                    let reason = it.reason.clone();
                    self.note(reason.of("`pass_configs`"));
                }
                continue;
            };
            match key.as_str() {
                "disable_warp_specialized" => options.is_warp_specialization_off = is_on,
                "disable_tma_lower" => options.is_tma_off = is_on,
                "enable_aggressive_shared_memory_merge" => options.is_merge_aggressive = is_on,
                "disable_shared_memory_reuse" => options.is_reuse_off = is_on,
                "ascend_memory_planning" => {
                    options.memory_planning = if is_on { Planning::On } else { Planning::Off };
                }
                _ => {}
            }
        }
        self.options = options;
    }

    /// A factory that another one calls.
    pub(super) fn call_factory(&mut self, function: &Rc<Function>, args: &Args, at: ExprId, from: FrameId) -> Value {
        let ast = function.code.ast.clone();
        if let Some(syntax) = function_of(&ast, function.stmt)
            && let Some(frame) = function.frame
        {
            if self.out.is_open() {
                return unknown("a kernel that is called in a kernel");
            }
            self.decorators(frame, &function.code, syntax);
            if self.is_tuned(frame, &function.code, syntax) {
                let mut tuned = args.clone();
                for (i, param) in syntax.params.iter().enumerate() {
                    let Some(name) = ast.name(param.name) else { continue };
                    let is_given = tuned.get(i, name).is_some();
                    let default = function.defaults.get(i).cloned().flatten();
                    if !is_given && matches!(default, None | Some(Value::None)) {
                        let value = self.given(name, None, example(&ast, param));
                        tuned.keywords.push((name.into(), value, None));
                    } else if !is_given && let Some(constant) = self.arguments.get(name) {
                        let value = self.constant(constant);
                        tuned.keywords.push((name.into(), value, None));
                    }
                }
                return self.call_function(function, &tuned, Some(at), from);
            }
        }
        self.call_function(function, args, Some(at), from)
    }

    pub(super) fn finish(mut self) -> Traced {
        let stray = self.out.take_notes();
        for launch in &mut self.traced.launches {
            let more: Vec<Reason> = stray.iter().filter(|note| !launch.unknown.contains(note)).cloned().collect();
            launch.unknown.extend(more);
        }
        self.traced.unknown.extend(stray);
        if self.traced.launches.is_empty() {
            let asked = std::mem::take(&mut self.asked);
            for (param, example) in asked {
                self.traced.needed.entry(param).or_insert(example);
            }
        }
        self.traced
    }
}

/// `name: T.Tensor(…)` in the body.
fn is_tensor_in(ast: &Ast, body: &[StmtId], name: &str) -> bool {
    body.iter().any(|&stmt| {
        matches!(ast.stmt(stmt), Stmt::Assign { targets, annotation: Some(_), value: None }
            if targets.first().and_then(|&target| ast.name(target)) == Some(name))
    })
}

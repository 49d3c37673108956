//! Calls: of the author's functions and classes, of the language, and of Python's own.

use std::rc::Rc;

use rustc_hash::FxHashSet;
use tilefit_python::finding::{Example, Origin, Reason, Remedy};
use tilefit_python::work;
use tilefit_syntax::ast::{Arg, Expr, ExprId, ParamKind, Stmt};

use super::super::axis_info::AxisInfo;
use super::super::language::Dtype;
use super::super::members;
use super::super::program::{Effect, Kind, Op, Task, Type, ValueId};
use super::loops::{Rounds, unrolled};
use super::value::{Class, Function, Opaque, Scalar, Value, unknown};
use super::{DEEPEST_CALL, Dialect, Frame, OpenRounds, RETURNED, Tracer, callee, copied, python};

/// Of a call that is followed, besides those of the function's statements.
const STEPS_A_CALL: u64 = 8;
/// Arguments of `tl.range` that decide what it loads ahead, each with its place and a usual value.
const LOOP_OPTIONS: [(usize, &str, Example); 6] = [
    (3, "num_stages", Example::Small),
    (4, "loop_unroll_factor", Example::Small),
    (5, "disallow_acc_multi_buffer", Example::Truth),
    (6, "flatten", Example::Truth),
    (7, "warp_specialize", Example::Truth),
    (8, "disable_licm", Example::Truth),
];

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Args {
    pub(super) positional: Vec<Value>,
    pub(super) named: Vec<(Rc<str>, Value)>,
}

impl Args {
    /// By position.
    pub(super) fn of(positional: impl IntoIterator<Item = Value>) -> Args {
        Args { positional: positional.into_iter().collect(), named: Vec::new() }
    }

    /// By position or by name.
    pub(super) fn get(&self, position: usize, name: &str) -> Option<&Value> {
        self.positional.get(position).or_else(|| self.named(name))
    }

    pub(super) fn named(&self, name: &str) -> Option<&Value> {
        self.named.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
    }

    /// The same, with what has no place in the program as unknown.
    pub(super) fn settled(&self) -> Args {
        let settled = |value: &Value| match value {
            Value::Opaque(Opaque { reason: Some(reason), .. }) => Value::Unknown(reason.clone()),
            value => value.clone(),
        };
        Args {
            positional: self.positional.iter().map(settled).collect(),
            named: self.named.iter().map(|(name, value)| (name.clone(), settled(value))).collect(),
        }
    }

    pub(super) fn all(&self) -> Vec<Value> {
        self.positional.iter().chain(self.named.iter().map(|(_, value)| value)).cloned().collect()
    }
}

impl Tracer<'_> {
    pub(super) fn args(&mut self, frame: &mut Frame, args: &[Arg]) -> Args {
        // What is computed in an argument is not what the assignment names.
        let named = self.named.take();
        let mut found = Args::default();
        let ast = frame.ast.clone();
        for arg in args {
            let value = self.value(frame, arg.value);
            match (&arg.keyword, ast.expr(arg.value), &value) {
                (Some(keyword), ..) => found.named.push((keyword.as_str().into(), value)),
                (None, Expr::Unpacked(_), Value::Dict(pairs)) => {
                    let named = pairs.iter().filter_map(|(key, value)| match key {
                        Value::Str(key) => Some((key.clone(), value.clone())),
                        _ => None,
                    });
                    found.named.extend(named);
                }
                (None, Expr::Starred(_), _) => match value.elements() {
                    Some(elements) => found.positional.extend(elements.iter().cloned()),
                    None => found.positional.push(unknown("`*` of something else than a list")),
                },
                _ => found.positional.push(value),
            }
        }
        self.named = named;
        found
    }

    pub(super) fn call(&mut self, frame: &mut Frame, expr: ExprId, func: ExprId, args: &[Arg]) -> Value {
        let named = self.named.take();
        let function = self.value(frame, func);
        self.named = named;
        let args = self.args(frame, args);
        self.called(frame, expr, &function, args)
    }

    pub(super) fn called(&mut self, frame: &mut Frame, expr: ExprId, function: &Value, args: Args) -> Value {
        match function {
            Value::Function(function) => self.follow(frame, expr, function, args),
            Value::Class(class) => self.construct(frame, expr, class, args),
            Value::Method(method) => self.method(frame, expr, &method.0.clone(), &method.1.clone(), args),
            Value::Language(path) => self.language_call(frame, expr, &path.clone(), args),
            Value::Python(name) => self.python_call(frame, expr, name, args),
            Value::Unknown(reason) => {
                self.hides_memory(&args.all());
                self.unknown_call(frame, expr, reason.clone(), &args)
            }
            Value::Dtype(dtype) => {
                self.demand(frame, expr, false, || {
                    format!("`{dtype}` is an element type and cannot be called; write `tl.full((), …, tl.{dtype})`")
                });
                unknown("a call of an element type")
            }
            _ => unknown("a call of a value that is not a function"),
        }
    }

    /// What is not known of a call that is given memory is not known of the kernel.
    pub(super) fn unknown_call(&mut self, frame: &Frame, expr: ExprId, reason: Reason, args: &Args) -> Value {
        let values = args.all();
        let operands = self.operands(frame, expr, &values);
        if !frame.is_host && self.constexprs == 0 {
            self.effect(frame, expr, "call", operands);
            self.note(frame, expr, reason.clone());
        }
        Value::Unknown(reason)
    }

    /// Follows a function of the author's, and gives what it returns.
    pub(super) fn follow(&mut self, frame: &mut Frame, expr: ExprId, function: &Rc<Function>, args: Args) -> Value {
        if !frame.is_host && is_noinline(function) {
            return self.call_apart(frame, expr, function, args);
        }
        match self.followed(frame, expr, function, args) {
            Ok(mut inner) => inner.names.remove(RETURNED).unwrap_or(Value::None),
            Err(value) => value,
        }
    }

    /// A call of a function that is not inlined.
    fn call_apart(&mut self, frame: &mut Frame, expr: ExprId, function: &Rc<Function>, args: Args) -> Value {
        self.check_apart(frame, expr, &function.name, &args);
        let values = args.all();
        let operands = self.operands(frame, expr, &values);
        self.open();
        let followed = self.followed(frame, expr, function, args);
        let result =
            followed.map_or_else(|value| value, |mut inner| inner.names.remove(RETURNED).unwrap_or(Value::None));
        let mut leaves = Vec::new();
        result.leaves(&mut leaves);
        let body = self.close(frame, expr, leaves.iter().map(|&(id, _)| id).collect());
        let is_tensor = |values: &[Value]| values.iter().any(|value| matches!(value, Value::Tensor(_)));
        let mut in_tensor_memory = false;
        body.each(&mut |op| {
            in_tensor_memory |= op.results.iter().any(|it| self.program.types[it.0 as usize] == Type::TensorMemory)
        });
        let gives_memory =
            leaves.iter().any(|(_, of)| matches!(of, Type::Shared { .. } | Type::TensorMemory | Type::Descriptor));
        if is_tensor(&values) || in_tensor_memory || gives_memory || matches!(result, Value::Tensor(_)) {
            let reason = format!("`{}` is not inlined, and takes or gives more than numbers", function.name);
            self.note(frame, expr, Reason::new(reason));
        }
        let ids: Vec<ValueId> = leaves.iter().map(|&(_, of)| self.new_value(of)).collect();
        let op = Op {
            name: "call",
            at: self.site(frame, expr),
            effect: Effect::Writes,
            operands,
            results: ids.clone(),
            identity: 0,
            kind: Kind::Call { body },
        };
        self.push(op);
        result.with_leaves(&mut ids.into_iter())
    }

    /// Follows a function of the author's to its end.
    fn followed(
        &mut self,
        frame: &mut Frame,
        expr: ExprId,
        function: &Rc<Function>,
        args: Args,
    ) -> Result<Frame, Value> {
        let Some(syntax) = callee(function) else {
            return Err(unknown(format!("`{}` is not a function", function.name)));
        };
        if self.depth >= DEEPEST_CALL {
            let reason = Reason::new(format!("calls of `{}` are nested too deeply", function.name));
            return Err(self.unknown_call(frame, expr, reason, &args));
        }
        work::spend(STEPS_A_CALL);
        let mut inner = Frame {
            ast: function.ast.clone(),
            home: function.home,
            function: self.function_number(frame, function),
            names: function.names.as_deref().map(copied).unwrap_or_default(),
            plain: FxHashSet::default(),
            call: Some(frame.call.unwrap_or(Origin::Expr(expr))),
            is_host: frame.is_host || is_host(function),
            loops: 0,
        };
        let named = self.named.take();
        let nesting = std::mem::take(&mut self.nesting);
        // A default may call the function that it is of.
        self.depth += 1;
        self.bind(&mut inner, function, args);
        self.hands_on(frame, expr, function, &mut inner);
        self.body(&mut inner, &syntax.body);
        self.depth -= 1;
        self.nesting = nesting;
        self.named = named;
        Ok(inner)
    }

    /// Of the text that a function stands in.
    fn function_number(&mut self, frame: &Frame, function: &Function) -> u32 {
        let Some(key) = &function.key else { return frame.function };
        match self.functions.iter().position(|known| known.as_ref() == Some(key)) {
            Some(known) => known as u32,
            None => {
                self.functions.push(Some(key.clone()));
                self.functions.len() as u32 - 1
            }
        }
    }

    /// Gives parameters their arguments.
    fn bind(&mut self, inner: &mut Frame, function: &Function, args: Args) {
        let Some(syntax) = callee(function) else { return };
        let mut positional = args.positional.into_iter();
        for param in &syntax.params {
            let Some(name) = function.ast.name(param.name) else { continue };
            let named = || args.named.iter().find(|(known, _)| **known == *name).map(|(_, value)| value.clone());
            let value = match param.kind {
                ParamKind::Args => Some(Value::tuple(positional.by_ref().collect::<Vec<_>>())),
                ParamKind::Kwargs => {
                    let pairs = args.named.iter().map(|(name, value)| (Value::Str(name.clone()), value.clone()));
                    Some(Value::dict(pairs.collect::<Vec<_>>()))
                }
                ParamKind::Plain => named().or_else(|| positional.next()),
                ParamKind::KeywordOnly => named(),
            };
            let value = match (value, param.default) {
                (Some(value), _) => value,
                (None, Some(default)) => self.value(inner, default),
                (None, None) => unknown(format!("`{name}` is not given to `{}`", function.name)),
            };
            inner.names.insert(name.into(), value);
        }
    }

    /// An object of a class: of an aggregate, whose fields are annotated, or of one with `__init__`.
    fn construct(&mut self, frame: &mut Frame, expr: ExprId, class: &Rc<Class>, args: Args) -> Value {
        if let Some(init) = class_method(class, "__init__") {
            let mut with_self = args;
            with_self.positional.insert(0, Value::record(class.clone(), []));
            return self.initialized(frame, expr, &init, with_self);
        }
        let mut fields = Vec::new();
        let mut positional = args.positional.into_iter();
        let header = class.header.clone();
        for (name, default) in class_fields(class) {
            let named = args.named.iter().find(|(known, _)| **known == *name).map(|(_, value)| value.clone());
            let value = match (named.or_else(|| positional.next()), default) {
                (Some(value), _) => value,
                (None, Some(default)) => {
                    let mut around = Frame {
                        function: frame.function,
                        call: frame.call,
                        ..Frame::of_host(header.clone(), class.home)
                    };
                    self.value(&mut around, default)
                }
                (None, None) => unknown(format!("`{name}` is not given to `{}`", class.name)),
            };
            fields.push((name, value));
        }
        Value::record(class.clone(), fields)
    }

    /// What `__init__` makes of its first parameter.
    fn initialized(&mut self, frame: &mut Frame, expr: ExprId, init: &Rc<Function>, args: Args) -> Value {
        let Some(syntax) = callee(init) else { return unknown("a class without a body") };
        let Some(own) = syntax.params.first().and_then(|param| init.ast.name(param.name)) else {
            return unknown("`__init__` without `self`");
        };
        match self.followed(frame, expr, init, args) {
            Ok(mut inner) => inner.names.remove(own).unwrap_or_else(|| unknown("an object that is not known")),
            Err(value) => value,
        }
    }

    pub(super) fn method(&mut self, frame: &mut Frame, expr: ExprId, object: &Value, name: &str, args: Args) -> Value {
        match object {
            Value::Record(record) => match class_method(&record.class, name) {
                Some(function) => {
                    let mut args = args;
                    args.positional.insert(0, object.clone());
                    self.follow(frame, expr, &function, args)
                }
                None => unknown(format!("`{}` has no `{name}`", record.class.name)),
            },
            Value::Class(class) => match class_method(class, name) {
                Some(function) => self.follow(frame, expr, &function, args),
                None => unknown(format!("`{}` has no `{name}`", class.name)),
            },
            Value::Scalar(scalar)
                if scalar.dtype == Dtype::UNTYPED
                    && matches!(name, "load" | "store" | "gather" | "scatter" | "element_ty") =>
            {
                let reason = self.no_number(scalar.id, Example::Descriptor);
                self.unknown_call(frame, expr, reason, &args)
            }
            Value::Tensor(_) | Value::Scalar(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_) => {
                self.tensor_method(frame, expr, object, name, args)
            }
            Value::Shared(_) | Value::TensorMemory(_) | Value::Opaque(_) => {
                self.memory_method(frame, expr, object, name, args)
            }
            Value::Unknown(reason) => self.unknown_call(frame, expr, reason.clone(), &args),
            _ => self.value_method(frame, expr, object, name, args),
        }
    }

    fn python_call(&mut self, frame: &mut Frame, expr: ExprId, name: &'static str, args: Args) -> Value {
        let values = args.all();
        if matches!(name, "min" | "max")
            && values.iter().any(|value| matches!(value, Value::Scalar(_) | Value::Tensor(_)))
        {
            return self.elementwise(frame, expr, name, &values, None);
        }
        if name == "getattr"
            && let [object, Value::Str(member), ..] = values.as_slice()
        {
            return self.member(frame, expr, &object.clone(), &member.clone());
        }
        if matches!(name, "int" | "float" | "bool" | "abs")
            && let [Value::Scalar(_) | Value::Tensor(_)] = values.as_slice()
        {
            return self.elementwise(frame, expr, name, &values, None);
        }
        if name == "hasattr"
            && let [object, Value::Str(member)] = values.as_slice()
        {
            if matches!(object, Value::Language(module) if &**module == "tl") {
                let is_there = members::is_of_language(member).map(Value::Bool);
                return is_there.unwrap_or_else(|| {
                    unknown(format!("whether `{member}` is there depends on the version of Triton"))
                });
            }
            let found = self.member(frame, expr, &object.clone(), &member.clone());
            return Value::Bool(!matches!(found, Value::Unknown(_)));
        }
        python::call(name, &values).unwrap_or_else(|| unknown(format!("`{name}` of an unknown value")))
    }

    /// What a loop or a comprehension goes over.
    pub(super) fn iterated(&mut self, frame: &mut Frame, iter: ExprId) -> Rounds {
        let ast = frame.ast.clone();
        if let Expr::Call { func, args } = ast.expr(iter) {
            let function = self.value(frame, *func);
            let name: Option<Rc<str>> = match &function {
                Value::Python(name) if *name == "range" => Some("range".into()),
                Value::Language(path) if matches!(&**path, "range" | "static_range") => Some(path.clone()),
                _ => None,
            };
            if let Some(name) = name {
                let args = self.args(frame, args);
                let bounds: Vec<Value> = args.positional.clone();
                let (from, to, by) = match bounds.as_slice() {
                    [to] => (Value::Int(0), to.clone(), Value::Int(1)),
                    [from, to] => (from.clone(), to.clone(), args.named("step").cloned().unwrap_or(Value::Int(1))),
                    [from, to, by, ..] => (from.clone(), to.clone(), by.clone()),
                    [] => return Rounds::Unknown(Reason::new("`range` of nothing")),
                };
                // Loops that never run are taken out.
                let (from, to, by) = match (self.without_folded(from.clone()), self.without_folded(to.clone())) {
                    (Value::Int(first), Value::Int(end)) if first >= end && matches!(by, Value::Int(1)) => {
                        (Value::Int(0), Value::Int(0), by)
                    }
                    _ => (from, to, by),
                };
                let (from, to, by) = match self.untold_step(frame, iter, &name, (from, to, by)) {
                    Ok(bounds) => bounds,
                    Err(reason) => match self.open_rounds(frame, iter, &name, &reason, &bounds) {
                        Some(Rounds::Range(bounds, _)) => (*bounds).into(),
                        Some(rounds) => return rounds,
                        None => return Rounds::Unknown(reason.of("the bounds of a loop are not known")),
                    },
                };
                self.open_option =
                    LOOP_OPTIONS.iter().find_map(|&(place, name, example)| match args.get(place, name) {
                        Some(value @ Value::Unknown(reason)) => {
                            self.note_undecided(value);
                            let remedy = match reason.remedy() {
                                Some(Remedy::Value { param, is_number, .. }) => {
                                    Some(Remedy::Value { param: param.clone(), example, is_number: *is_number })
                                }
                                other => other.cloned(),
                            };
                            Some(reason.clone().of(&format!("`{name}` of a loop")).with_remedy(remedy))
                        }
                        _ => None,
                    });
                self.is_flattened = args.named("flatten").and_then(Value::truth) == Some(true);
                let keeps = args.named("disallow_acc_multi_buffer").and_then(Value::truth);
                self.keeps_accumulators = keeps == Some(true);
                self.keeps_invariants = args.named("disable_licm").and_then(Value::truth) == Some(true);
                self.program.is_guessed |= self.keeps_invariants;
                if args.named("warp_specialize").and_then(Value::truth) == Some(true) && !self.is_amd() {
                    self.program.wants_tasks = true;
                    self.specialized.get_or_insert(frame.call.unwrap_or(Origin::Expr(iter)));
                }
                self.unrolls = args.get(4, "loop_unroll_factor").and_then(Value::int).unwrap_or(1);
                self.program.is_unrolled |= self.unrolls > 1;
                return match (&*name, from.int(), to.int(), by.int()) {
                    ("static_range", Some(from), Some(to), Some(by)) => unrolled(from, to, by),
                    ("static_range", ..) => Rounds::Unknown(Reason::new("the bounds of `static_range` are not known")),
                    _ => Rounds::Range(Box::new([from, to, by]), args.get(3, "num_stages").and_then(Value::int)),
                };
            }
        }
        match self.value(frame, iter) {
            Value::Unknown(reason) => Rounds::Unknown(reason),
            Value::Dict(pairs) => Rounds::Unrolled(pairs.iter().map(|(key, _)| key.clone()).collect()),
            value => match value.elements() {
                Some(elements) => Rounds::Unrolled(elements.to_vec()),
                None => Rounds::Unknown(Reason::new("a loop over a value that is not a list")),
            },
        }
    }

    /// The bounds of a range. Of a loop that starts at what only the launch knows, the step may be any number.
    fn untold_step(
        &mut self,
        frame: &Frame,
        iter: ExprId,
        name: &str,
        (from, to, by): (Value, Value, Value),
    ) -> Result<(Value, Value, Value), Reason> {
        let is_open = name == "range" && matches!(from, Value::Scalar(_)) && !frame.is_host;
        let mut bounds = [from, to, by];
        for bound in &mut bounds[1..] {
            if is_open && matches!(bound, Value::Unknown(_)) {
                *bound = self.scalar(frame, iter, "bound", Dtype::named("int32"), &[]);
            }
        }
        if let Some(reason) = super::operators::first_unknown(&bounds) {
            return Err(reason);
        }
        let [from, to, by] = bounds;
        Ok((from, to, by))
    }

    /// What to take of a loop whose bounds depend on a number that has no value; `None` where all of its rounds must be known.
    fn open_rounds(
        &mut self,
        frame: &Frame,
        iter: ExprId,
        name: &str,
        reason: &Reason,
        bounds: &[Value],
    ) -> Option<Rounds> {
        let is_number = matches!(reason.remedy(), Some(Remedy::Value { is_number: true, .. }));
        if name != "range" || !is_number || frame.is_host || self.launch.dialect != Dialect::Triton {
            return None;
        }
        let rounds = self.launch.open_loops.get(self.open_loops).copied().unwrap_or(OpenRounds::Several);
        self.open_loops += 1;
        let mut known = |value: Option<&Value>, default: Value| match value {
            Some(Value::Unknown(_)) => self.scalar(frame, iter, "bound", Dtype::named("int32"), &[]),
            Some(value) => value.clone(),
            None => default,
        };
        let (from, to, by) = match bounds {
            [to] => (Value::Int(0), known(Some(to), Value::Int(0)), Value::Int(1)),
            [from, to, rest @ ..] => {
                let from = known(Some(from), Value::Int(0));
                (from, known(Some(to), Value::Int(0)), known(rest.first(), Value::Int(1)))
            }
            [] => return None,
        };
        Some(match rounds {
            OpenRounds::Never => Rounds::Unrolled(Vec::new()),
            OpenRounds::Once => Rounds::Unrolled(vec![from]),
            OpenRounds::Several => {
                self.runs = true;
                Rounds::Range(Box::new([from, to, by]), None)
            }
        })
    }

    /// `warp_specialize([(function, arguments), …], warps)`: the first function runs on the warps of the kernel.
    pub(super) fn warp_specialize(&mut self, frame: &mut Frame, expr: ExprId, args: &Args) -> Value {
        let parts: Option<Vec<(Value, Vec<Value>)>> = args.get(0, "functions_and_args").and_then(|all| {
            let pair = |pair: &Value| match pair.elements()? {
                [function, args] => Some((function.clone(), args.elements()?.to_vec())),
                _ => None,
            };
            all.elements()?.iter().map(pair).collect()
        });
        let warps: Option<Vec<u64>> = args.get(1, "worker_num_warps").and_then(Value::extents);
        let (Some(parts), Some(warps)) = (parts, warps) else {
            let reason = Reason::new("the tasks of `warp_specialize` are not known");
            return self.unknown_call(frame, expr, reason, args);
        };
        let Some(((default, default_args), workers)) = parts.split_first() else { return Value::None };
        self.open();
        let of_default = Args { positional: default_args.clone(), named: Vec::new() };
        let result = self.called(frame, expr, default, of_default);
        let mut leaves = Vec::new();
        result.leaves(&mut leaves);
        let body = self.close(frame, expr, leaves.iter().map(|&(id, _)| id).collect());
        let mut operands: Vec<ValueId> = Vec::new();
        let mut starts = Vec::new();
        let mut computed = Vec::new();
        for (_, args) in workers {
            // A number of Python's own is a constant of the kernel that each task makes for itself.
            let values = Value::tuple(args.clone());
            let mut of = Vec::new();
            values.leaves(&mut of);
            starts.push(operands.len());
            operands.extend(of.iter().map(|&(id, _)| id));
            computed.push((values, of));
        }
        let types: Vec<_> = computed.iter().flat_map(|(_, of)| of.iter().map(|&(_, of)| of)).collect();
        let mut tasks = Vec::new();
        let around = self.warps;
        for (i, (function, _)) in workers.iter().enumerate() {
            let params: Vec<ValueId> = types.iter().map(|&of| self.new_value(of)).collect();
            let (values, of) = &computed[i];
            let own = &params[starts[i]..starts[i] + of.len()];
            let given = values.with_leaves(&mut own.iter().copied());
            self.warps = warps.get(i).copied().unwrap_or(1);
            self.open();
            let positional = given.elements().map(<[Value]>::to_vec).unwrap_or_default();
            self.called(frame, expr, function, Args { positional, named: Vec::new() });
            let mut body = self.close(frame, expr, Vec::new());
            body.params = params;
            tasks.push(Task { body, warps: self.warps });
        }
        self.warps = around;
        let ids: Vec<ValueId> = leaves.iter().map(|&(_, of)| self.new_value(of)).collect();
        let op = Op {
            name: "warp_specialize",
            at: self.site(frame, expr),
            effect: Effect::Writes,
            operands,
            results: ids.clone(),
            identity: 0,
            kind: Kind::Specialize { default: body, tasks },
        };
        self.push(op);
        result.with_leaves(&mut ids.into_iter())
    }

    /// A number that the kernel computes.
    pub(super) fn scalar(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        name: &'static str,
        dtype: Dtype,
        values: &[Value],
    ) -> Value {
        let operands = self.operands(frame, expr, values);
        let op = super::Emitted {
            name,
            effect: Effect::None,
            operands: &operands,
            of: dtype.scalar_type(),
            identity: 0,
            kind: Kind::Plain,
        };
        let id = self.emit(frame, expr, op);
        if matches!(name, "program_id" | "num_programs") {
            self.note_axes(id, Some(AxisInfo::number(1)));
        }
        Value::Scalar(Scalar { id, dtype })
    }
}

/// Whether a function runs while the kernel is compiled: no decorator makes it a part of the kernel.
fn is_host(function: &Function) -> bool {
    let Some(syntax) = callee(function) else { return true };
    let is_jit = |&decorator: &ExprId| {
        let path = match function.ast.expr(decorator) {
            Expr::Call { func, .. } => function.ast.dotted(*func),
            _ => function.ast.dotted(decorator),
        };
        path.is_some_and(|path| path.last() == Some(&"jit"))
    };
    function.inner.is_none() && !syntax.decorators.iter().any(is_jit)
}

/// Whether the compiler is told to keep a function apart from those that call it.
fn is_noinline(function: &Function) -> bool {
    let Some(syntax) = callee(function) else { return false };
    let says_so = |&decorator: &ExprId| match function.ast.expr(decorator) {
        Expr::Call { args, .. } => args.iter().any(|arg| {
            let is_true = matches!(function.ast.expr(arg.value), Expr::Bool(true));
            arg.keyword.as_ref().is_some_and(|keyword| keyword.as_str() == "noinline") && is_true
        }),
        _ => false,
    };
    !is_host(function) && syntax.decorators.iter().any(says_so)
}

/// A method of a class, by name.
pub(super) fn class_method(class: &Class, name: &str) -> Option<Rc<Function>> {
    class.methods.iter().find_map(|(ast, key)| {
        let syntax = super::function(ast)?;
        (ast.name(syntax.name)? == name).then(|| {
            Rc::new(Function {
                name: name.into(),
                ast: ast.clone(),
                key: key.clone(),
                inner: None,
                names: None,
                home: class.home,
            })
        })
    })
}

/// Whether a method is computed when it is named.
pub(super) fn is_property(class: &Class, name: &str) -> bool {
    class_method(class, name).is_some_and(|function| {
        let syntax = super::function(&function.ast);
        syntax.is_some_and(|syntax| {
            syntax.decorators.iter().any(|&decorator| function.ast.name(decorator) == Some("property"))
        })
    })
}

/// The annotated names of a class, with their defaults.
fn class_fields(class: &Class) -> Vec<(Rc<str>, Option<ExprId>)> {
    let ast = &class.header;
    let bodies = ast.body.iter().filter_map(|&stmt| match ast.stmt(stmt) {
        Stmt::Class { body, .. } => Some(body),
        _ => None,
    });
    let mut fields = Vec::new();
    for &stmt in bodies.flatten() {
        if let Stmt::Assign { targets, annotation: Some(_), value } = ast.stmt(stmt)
            && let Some(name) = targets.first().and_then(|&target| ast.name(target))
        {
            fields.push((name.into(), *value));
        }
    }
    fields
}

//! Calls: of functions, methods and libraries.

use tilefit_python::finding::Reason;
use tilefit_syntax::ast::{Arg, Expr, ExprId};

use super::value::{Args, FrameId, FunctionKind, Touch, Value, not_known, unknown};
use super::{LONGEST, Tracer};
use crate::dtypes;

impl Tracer<'_> {
    pub(super) fn call_expr(&mut self, frame: FrameId, expr: ExprId, func: ExprId, args: &[Arg]) -> Value {
        let ast = self.frame(frame).code.ast.clone();
        // A method that changes a list changes what its name stands for.
        if let Expr::Attribute { value: object, name } = ast.expr(func)
            && super::python::changes(name)
        {
            let container = self.value(frame, *object);
            if matches!(container, Value::List(_) | Value::Dict(_)) {
                let args = self.args(frame, args);
                let (changed, result) = super::python::changed(&container, name, &args);
                self.replace(frame, *object, changed);
                return result;
            }
        }
        let callee = self.value(frame, func);
        let args = self.args(frame, args);
        self.call(frame, expr, &callee, &args)
    }

    pub(super) fn args(&mut self, frame: FrameId, args: &[Arg]) -> Args {
        let ast = self.frame(frame).code.ast.clone();
        let mut made = Args::default();
        for arg in args {
            match ast.expr(arg.value) {
                Expr::Starred(list) => {
                    let list = self.value(frame, *list);
                    match self.iterated(&list) {
                        Ok(items) => made.positional.extend(items.into_iter().map(|item| (item, None))),
                        Err(reason) => made.open = Some(reason),
                    }
                }
                Expr::Unpacked(mapping) => match self.value(frame, *mapping) {
                    Value::Dict(pairs) => {
                        for (key, value) in pairs.items.iter() {
                            if let Value::Str(key) = key {
                                made.keywords.push((key.clone(), value.clone(), None));
                            }
                        }
                    }
                    Value::Unknown(it) => made.open = Some(it.reason),
                    _ => made.open = Some(Reason::new("keywords that are not known")),
                },
                _ => {
                    let value = self.value(frame, arg.value);
                    match &arg.keyword {
                        Some(keyword) => made.keywords.push((keyword.as_str().into(), value, Some(arg.value))),
                        None => made.positional.push((value, Some(arg.value))),
                    }
                }
            }
        }
        made
    }

    pub(super) fn call(&mut self, frame: FrameId, expr: ExprId, callee: &Value, args: &Args) -> Value {
        self.step();
        match callee {
            Value::Function(function) if function.kind == FunctionKind::Factory => {
                self.call_factory(function, args, expr, frame)
            }
            Value::Function(function) => self.call_function(function, args, Some(expr), frame),
            Value::Lambda(lambda) => self.call_lambda(lambda, args),
            Value::Partial(partial) => {
                let (inner, given) = &**partial;
                let mut all = given.clone();
                all.positional.extend(args.positional.iter().cloned());
                for (keyword, value, at) in &args.keywords {
                    all.keywords.retain(|(known, ..)| known != keyword);
                    all.keywords.push((keyword.clone(), value.clone(), *at));
                }
                if all.positional.len() > LONGEST {
                    return unknown("too many arguments");
                }
                self.call(frame, expr, &inner.clone(), &all)
            }
            Value::Library(path) => self.call_library(frame, expr, &path.clone(), args),
            Value::Method(method) => {
                let (object, name) = (method.0.clone(), method.1.clone());
                self.call_method(frame, expr, &object, &name, args)
            }
            Value::Dtype(dtype) => {
                let value = args.get(0, "expr").cloned().unwrap_or(Value::Int(0));
                self.cast(&value, &dtype.clone())
            }
            Value::Unknown(it) => {
                // No number makes a function.
                let reason = it.reason.clone().with_remedy(None);
                if self.is_kernel(frame) && self.out.is_launched() {
                    self.note(reason.clone().of("a call that is not followed"));
                }
                self.not_followed(reason, args)
            }
            Value::Object(name, touches) => Value::Object(name.clone(), touches.clone()),
            _ => unknown("calls a value that is not a function"),
        }
    }

    /// A number as one of another type: what was loaded stays what it is.
    pub(super) fn cast(&mut self, value: &Value, dtype: &crate::program::Dtype) -> Value {
        match value {
            Value::Int(_) | Value::Bool(_) | Value::Float(_) if dtype.name.starts_with("float") => {
                super::numbers::float(value).map_or_else(|| value.clone(), Value::Float)
            }
            Value::Int(_) | Value::Bool(_) => value.clone(),
            Value::Float(number) if dtype.name.starts_with("int") || dtype.name.starts_with("uint") => {
                Value::Int(*number as i64)
            }
            Value::Unknown(_) | Value::Float(_) => value.clone(),
            _ => match self.expr(value) {
                Some(mut expr) => {
                    let text = format!("T.Cast(\"{}\", {})", dtype.name, expr.text);
                    let cast = self.operation(&dtype.name, text, true, std::slice::from_ref(&expr));
                    // Casts of indices change nothing of what they are.
                    if expr.loaded.is_none() && dtype.name.starts_with("int") {
                        expr.part = None;
                        expr.is_variable = false;
                        return Value::Expr(expr);
                    }
                    Value::Expr(super::value::Expr { loaded: expr.loaded, ..cast })
                }
                None => value.clone(),
            },
        }
    }

    pub(super) fn call_method(
        &mut self,
        frame: FrameId,
        expr: ExprId,
        object: &Value,
        name: &str,
        args: &Args,
    ) -> Value {
        match object {
            Value::Unknown(it) => not_known(it.reason.clone()),
            Value::Buffer(view) => match name {
                "scope" => Value::str(scope_name(view.scope)),
                "access_ptr" => {
                    let mode = args.get(0, "access_mask").and_then(Value::text).unwrap_or("rw").to_owned();
                    let touch = Touch { buffer: view.id, reads: mode.contains('r'), writes: mode.contains('w') };
                    self.pointer(&[touch], args)
                }
                "astype" => self.cast_method(object, args),
                "vload" | "vstore" => {
                    let touch = Touch { buffer: view.id, reads: name == "vload", writes: name == "vstore" };
                    self.pointer(&[touch], args)
                }
                _ => unknown(format!("`{name}` of a buffer is not followed")),
            },
            Value::Element(_) | Value::Region(_) | Value::Expr(_) => match name {
                "astype" => self.cast_method(object, args),
                _ => {
                    let operands: Vec<_> =
                        [object].into_iter().chain(args.values()).filter_map(|it| self.expr(it)).collect();
                    Value::Expr(self.operation(name, format!("{name}(…)"), true, &operands))
                }
            },
            Value::Int(_) | Value::Float(_) | Value::Bool(_) if name == "astype" => object.clone(),
            Value::Int(value) => match name {
                "bit_length" => Value::Int(i64::from(64 - value.unsigned_abs().leading_zeros())),
                _ => unknown(format!("`{name}` of a number is not followed")),
            },
            Value::Dtype(dtype) => match name {
                "as_torch" | "torch" => object.clone(),
                "is_float" => Value::Bool(dtype.name.contains("float")),
                "with_lanes" => match args.get(0, "lanes").and_then(Value::int) {
                    Some(lanes) => {
                        let base = dtype.name.rsplit_once('x').map_or(&*dtype.name, |(base, _)| base);
                        dtypes::parse(&format!("{base}x{lanes}")).map_or_else(|| object.clone(), Value::Dtype)
                    }
                    None => object.clone(),
                },
                _ => super::python::method(&Value::str(&dtype.name), name, args),
            },
            Value::Function(_) | Value::PrimFunc(_) | Value::Object(..) => {
                unknown(format!("`{name}` of an object is not followed"))
            }
            Value::Launch(_) => self.call_library(frame, expr, &format!("tilelang.language.{name}"), args),
            _ => super::python::method(object, name, args),
        }
    }

    fn cast_method(&mut self, object: &Value, args: &Args) -> Value {
        match args.get(0, "dtype").and_then(Value::text).and_then(dtypes::parse) {
            Some(dtype) => self.cast(object, &dtype),
            None => self.cast(object, &crate::program::Dtype { name: "an unknown type".into(), bits: 0 }),
        }
    }

    /// A pointer into a buffer, with what its offset touches.
    pub(super) fn pointer(&mut self, touches: &[Touch], args: &Args) -> Value {
        let mut all = touches.to_vec();
        for value in args.values() {
            all.extend(self.expr(value).iter().flat_map(|expr| expr.touches.to_vec()));
        }
        Value::Object("pointer".into(), super::recording::joined([&all[..]]).into())
    }

    /// What a value touches when an operation of the kernel is given it.
    pub(super) fn touches_of(&self, value: &Value, all: &mut Vec<Touch>) {
        match value {
            Value::Buffer(view) => all.push(Touch { buffer: view.id, reads: true, writes: false }),
            Value::Object(_, touches) => all.extend_from_slice(touches),
            Value::List(items) | Value::Tuple(items) => items.items.iter().for_each(|item| self.touches_of(item, all)),
            value => all.extend(self.expr(value).iter().flat_map(|expr| expr.touches.to_vec())),
        }
    }
}

pub(super) fn scope_name(scope: crate::program::Scope) -> &'static str {
    use crate::program::{Memory, Scope};
    match scope {
        Scope::Global => "global",
        Scope::Shared => "shared.dyn",
        Scope::StaticShared => "shared",
        Scope::Barrier => "shared.barrier",
        Scope::TensorMemory => "shared.tmem",
        Scope::Fragment => "local.fragment",
        Scope::Local => "local",
        Scope::OfCore(Memory::Ub) => "shared",
        Scope::OfCore(Memory::L1) => "shared.l1",
        Scope::OfCore(Memory::L0a) => "wmma.matrix_a",
        Scope::OfCore(Memory::L0b) => "wmma.matrix_b",
        Scope::OfCore(Memory::L0c) => "wmma.accumulator",
    }
}

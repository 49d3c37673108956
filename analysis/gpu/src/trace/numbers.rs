//! Numbers that are known while the kernel is compiled, and what they are where the kernel holds them.
//!
//! One that stands where it is used takes the type of what it is used with. One that is assigned to a name without `tl.constexpr` is a tensor from then
//! on, with a type of its own, although its value is known.

use tilefit_syntax::ast::{Expr, ExprId};

use super::super::axis_info::AxisInfo;
use super::super::language::Dtype;
use super::super::program::{Effect, Kind, Type, ValueId};
use super::calls::Args;
use super::value::{Function, Scalar, Value};
use super::{Emitted, Frame, Tracer, callee, identity, language_path};

/// The least number of 32 bits that has all of its digits.
const MIN_NORMAL: f64 = f32::MIN_POSITIVE as f64;

impl Tracer<'_> {
    /// A value as the kernel computes it: numbers become operations. `deep`: those in tuples and records too.
    pub(super) fn computed(&mut self, frame: &Frame, at: ExprId, value: &Value, deep: bool) -> Value {
        match value {
            Value::Int(_) | Value::Bool(_) | Value::Float(_) => {
                let dtype = self.number_type(value);
                let id = self.constant(frame, at, value);
                Value::Scalar(Scalar { id, dtype })
            }
            Value::Tuple(values) if deep => {
                let values: Vec<_> = values.iter().map(|value| self.computed(frame, at, value, deep)).collect();
                Value::tuple(values)
            }
            Value::Record(record) => {
                let mut fields = record.fields.to_vec();
                for (_, field) in &mut fields {
                    *field = self.computed(frame, at, field, deep);
                }
                Value::record(record.class.clone(), fields)
            }
            _ => value.clone(),
        }
    }

    /// The element type of a number that the kernel holds (`to_tensor` in `triton/language/semantic.py`).
    pub(super) fn number_type(&self, value: &Value) -> Dtype {
        Dtype::named(match value {
            Value::Bool(_) => "int1",
            Value::Float(value) if value.abs() < MIN_NORMAL && *value != 0.0 => "float64",
            Value::Float(value) if value.is_finite() && value.abs() > f64::from(f32::MAX) => "float64",
            Value::Float(_) => "float32",
            Value::Int(value) if i32::try_from(*value).is_ok() => "int32",
            Value::Int(value) if u32::try_from(*value).is_ok() => "uint32",
            Value::Int(_) => "int64",
            _ => "int32",
        })
    }

    pub(super) fn constant(&mut self, frame: &Frame, at: ExprId, value: &Value) -> ValueId {
        let bits = self.number_type(value).bits;
        let number = match value {
            Value::Float(value) => value.to_bits(),
            Value::Bool(value) => u64::from(*value),
            _ => value.int().unwrap_or_default() as u64,
        };
        let op = Emitted {
            name: "constant",
            effect: Effect::None,
            operands: &[],
            of: Type::Scalar { bits },
            identity: identity((bits, number)),
            kind: Kind::Constant,
        };
        let id = self.emit(frame, at, op);
        self.note_axes(id, value.int().map(AxisInfo::constant));
        id
    }

    /// Operands of one operation, with numbers that the kernel holds as it computes them, where it computes another one.
    pub(super) fn held<const N: usize>(
        &mut self,
        frame: &Frame,
        written: [ExprId; N],
        values: [Value; N],
    ) -> [Value; N] {
        if !values.iter().any(is_computed) {
            return values;
        }
        let mut nth = 0;
        values.map(|value| {
            nth += 1;
            self.as_held(frame, written[nth - 1], value)
        })
    }

    fn as_held(&mut self, frame: &Frame, written: ExprId, value: Value) -> Value {
        match self.is_held(frame, written, &value) {
            true => self.computed(frame, written, &value, false),
            false => value,
        }
    }

    /// Whether the kernel holds a number as it does what it computes.
    pub(super) fn is_held(&self, frame: &Frame, written: ExprId, value: &Value) -> bool {
        let is_known = matches!(value, Value::Int(_) | Value::Bool(_) | Value::Float(_));
        is_known && !frame.is_host && self.mentions_tensor(frame, written)
    }

    /// The same of the arguments of a call.
    pub(super) fn held_arguments(&mut self, frame: &Frame, call: ExprId, mut args: Args) -> Args {
        let Expr::Call { args: written, .. } = frame.ast.expr(call) else { return args };
        let is_open =
            written.iter().any(|arg| matches!(frame.ast.expr(arg.value), Expr::Starred(_) | Expr::Unpacked(_)));
        if is_open || !args.all().iter().any(is_computed) {
            return args;
        }
        let mut positional = args.positional.iter_mut();
        for arg in written {
            let value = match &arg.keyword {
                None => positional.next(),
                Some(name) => args.named.iter_mut().find(|(known, _)| **known == **name).map(|(_, value)| value),
            };
            if let Some(value) = value {
                *value = self.as_held(frame, arg.value, std::mem::replace(value, Value::None));
            }
        }
        args
    }

    /// Parameters of a helper are tensors where their arguments are.
    pub(super) fn hands_on(&self, frame: &Frame, call: ExprId, function: &Function, inner: &mut Frame) {
        let (Expr::Call { args, .. }, Some(syntax)) = (frame.ast.expr(call), callee(function)) else { return };
        // The object of a method is not among the arguments.
        let first = syntax.params.first().and_then(|param| function.ast.name(param.name));
        let own = usize::from(first.is_some_and(|name| matches!(inner.names.get(name), Some(Value::Record(_)))));
        for (nth, param) in syntax.params.iter().skip(own).enumerate() {
            let Some(name) = function.ast.name(param.name) else { continue };
            let by_name = args.iter().find(|arg| arg.keyword.as_deref() == Some(name));
            let given = by_name.or_else(|| args.get(nth).filter(|arg| arg.keyword.is_none()));
            if given.is_some_and(|arg| self.mentions_tensor(frame, arg.value)) {
                inner.plain.insert(name.into());
            }
        }
    }

    /// True if the value of an expression comes from a number that was assigned without `tl.constexpr`: it is a tensor from then on.
    pub(super) fn mentions_tensor(&self, frame: &Frame, expr: ExprId) -> bool {
        let ast = &frame.ast;
        match ast.expr(expr) {
            Expr::Name(name) => frame.plain.contains(name.as_str()),
            Expr::Unary { operand, .. } => self.mentions_tensor(frame, *operand),
            Expr::Binary { left, right, .. } | Expr::Bool2 { left, right, .. } => {
                self.mentions_tensor(frame, *left) || self.mentions_tensor(frame, *right)
            }
            Expr::Compare { left, rest } => {
                self.mentions_tensor(frame, *left) || rest.iter().any(|(_, right)| self.mentions_tensor(frame, *right))
            }
            Expr::Call { func, args } => {
                let any = || args.iter().any(|arg| self.mentions_tensor(frame, arg.value));
                match ast.name(*func) {
                    // Triton takes these of Python for its own.
                    Some("min" | "max") => any(),
                    _ => match self.function_of_language(frame, *func).as_deref() {
                        Some("load" | "program_id" | "num_programs" | "thread_id") => true,
                        Some("cdiv") => any(),
                        _ => false,
                    },
                }
            }
            _ => false,
        }
    }

    fn function_of_language(&self, frame: &Frame, func: ExprId) -> Option<String> {
        let path = frame.ast.dotted(func).filter(|path| !frame.names.contains_key(path[0]))?;
        Some(language_path(&self.environment.canonical(frame.home, &path)?))
    }
}

/// A number, or what may be one: where it is assigned without `tl.constexpr`, it is a tensor.
pub(super) fn is_number(value: &Value) -> bool {
    matches!(
        value,
        Value::Int(_) | Value::Bool(_) | Value::Float(_) | Value::Scalar(_) | Value::Tensor(_) | Value::Unknown(_)
    )
}

fn is_computed(value: &Value) -> bool {
    matches!(value, Value::Scalar(_) | Value::Tensor(_))
}

//! Scalar expressions: integers of 64 bits, floats in double precision, division that floors.

use tilefit_pypto::ir::{Scalar, ScalarBinary, ScalarUnary};
use tilefit_python::element::Dtype;

use super::array::rounded;
use super::statements::Machine;
use super::{Number, Result, Value};

/// The extent that stands for those that the text does not know.
pub(super) const UNKNOWN_EXTENT: i64 = 64;

impl Machine<'_> {
    pub(super) fn scalar(&mut self, scalar: &Scalar) -> Result<Number> {
        Ok(match scalar {
            Scalar::Int(value) => Number::Int(*value),
            Scalar::Float(bits) => Number::Float(bits.get()),
            Scalar::Bool(value) => Number::Int(i64::from(*value)),
            Scalar::Var(var) => match self.value(*var)? {
                Value::Number(number) => number,
                _ => return Err(format!("`{}` is no scalar", self.name(*var))),
            },
            Scalar::Unary(op, operand) => unary(*op, self.scalar(operand)?),
            Scalar::Binary(op, left, right) => binary(*op, self.scalar(left)?, self.scalar(right)?)?,
            Scalar::Cast(dtype, operand) | Scalar::Const(dtype, operand) => converted(*dtype, self.scalar(operand)?),
            Scalar::Dim { tensor, axis } => {
                let extent = self.array(*tensor)?.borrow().shape.get(*axis as usize).copied();
                Number::Int(extent.ok_or("an axis that is not there")? as i64)
            }
            Scalar::Dynamic(_) => Number::Int(UNKNOWN_EXTENT),
            Scalar::Call(call) => match self.call(call, None)? {
                Value::Number(number) => number,
                _ => return Err(format!("`{}` is no scalar", call.op.op().name)),
            },
            Scalar::Unknown(reason) => return Err(format!("not known: {reason}")),
        })
    }

    pub(super) fn int(&mut self, scalar: &Scalar) -> Result<i64> {
        match self.scalar(scalar)? {
            Number::Int(value) => Ok(value),
            Number::Float(value) if value.fract() == 0.0 => Ok(value as i64),
            Number::Float(value) => Err(format!("{value} where a whole number is needed")),
        }
    }
}

/// A scalar in an element type.
pub(super) fn converted(dtype: Dtype, number: Number) -> Number {
    match (dtype.is_float(), number) {
        (true, number) => Number::Float(rounded(dtype, number.as_f64())),
        (false, Number::Int(value)) if matches!(dtype, Dtype::Int64 | Dtype::Uint64 | Dtype::Index) => {
            Number::Int(value)
        }
        (false, number) => Number::Int(rounded(dtype, number.as_f64().trunc()) as i64),
    }
}

fn unary(op: ScalarUnary, operand: Number) -> Number {
    match (op, operand) {
        (ScalarUnary::Not, operand) => Number::Int(i64::from(!operand.is_true())),
        (ScalarUnary::Neg, Number::Int(value)) => Number::Int(value.wrapping_neg()),
        (ScalarUnary::Neg, Number::Float(value)) => Number::Float(-value),
        (ScalarUnary::Abs, Number::Int(value)) => Number::Int(value.wrapping_abs()),
        (ScalarUnary::Abs, Number::Float(value)) => Number::Float(value.abs()),
        (ScalarUnary::BitNot, operand) => Number::Int(!(operand.as_f64() as i64)),
    }
}

fn binary(op: ScalarBinary, left: Number, right: Number) -> Result<Number> {
    use ScalarBinary::*;
    let truth = |value: bool| Ok(Number::Int(i64::from(value)));
    let (x, y) = (left.as_f64(), right.as_f64());
    if x.is_nan() || y.is_nan() {
        return Err(format!("{op:?} of a scalar that is not defined"));
    }
    match op {
        Eq => return truth(x == y),
        Ne => return truth(x != y),
        Lt => return truth(x < y),
        Le => return truth(x <= y),
        Gt => return truth(x > y),
        Ge => return truth(x >= y),
        And => return truth(left.is_true() && right.is_true()),
        Or => return truth(left.is_true() || right.is_true()),
        _ => {}
    }
    if let (Number::Int(a), Number::Int(b)) = (left, right) {
        let floored =
            |a: i64, b: i64| a.checked_div_euclid(b).map(|q| if b < 0 && a.rem_euclid(b) != 0 { q - 1 } else { q });
        let value = match op {
            Add => a.checked_add(b),
            Sub => a.checked_sub(b),
            Mul => a.checked_mul(b),
            FloorDiv => floored(a, b),
            FloorMod => floored(a, b).map(|quotient| a - quotient * b),
            Shl => u32::try_from(b).ok().and_then(|b| a.checked_shl(b)),
            Shr => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
            Min => Some(a.min(b)),
            Max => Some(a.max(b)),
            _ => return Ok(Number::Float(x / y)),
        };
        return value.map(Number::Int).ok_or_else(|| format!("{op:?} of {a} and {b}"));
    }
    Ok(Number::Float(match op {
        Add => x + y,
        Sub => x - y,
        Mul => x * y,
        Div => x / y,
        FloorDiv => (x / y).floor(),
        FloorMod => x - y * (x / y).floor(),
        Min => x.min(y),
        Max => x.max(y),
        _ => return Err(format!("{op:?} of {x} and {y}")),
    }))
}

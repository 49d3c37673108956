//! Arithmetic of Python on numbers that the host knows.

use tilefit_syntax::ast::BinaryOp;

use super::value::{Value, unknown};

/// `None` where a side is no number.
pub(super) fn binary(op: BinaryOp, left: &Value, right: &Value) -> Option<Value> {
    if let (Some(left), Some(right)) = (left.int(), right.int()) {
        return Some(integers(op, left, right));
    }
    let (left, right) = (float(left)?, float(right)?);
    let value = match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod if right == 0.0 => {
            return Some(unknown("a division by zero"));
        }
        BinaryOp::Div => left / right,
        BinaryOp::FloorDiv => (left / right).floor(),
        BinaryOp::Mod => left - right * (left / right).floor(),
        BinaryOp::Pow => left.powf(right),
        _ => return None,
    };
    Some(Value::Float(value))
}

pub(super) fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Float(value) => Some(*value),
        value => value.int().map(|value| value as f64),
    }
}

fn integers(op: BinaryOp, left: i64, right: i64) -> Value {
    let value = match op {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Sub => left.checked_sub(right),
        BinaryOp::Mul => left.checked_mul(right),
        BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod if right == 0 => return unknown("a division by zero"),
        BinaryOp::Div => return Value::Float(left as f64 / right as f64),
        BinaryOp::FloorDiv => floor_div(left, right),
        BinaryOp::Mod => floor_div(left, right).and_then(|quotient| left.checked_sub(quotient.checked_mul(right)?)),
        BinaryOp::Pow if right < 0 => return Value::Float((left as f64).powf(right as f64)),
        BinaryOp::Pow => u32::try_from(right).ok().and_then(|right| left.checked_pow(right)),
        BinaryOp::Shl => u32::try_from(right).ok().filter(|&by| by < 63).and_then(|by| left.checked_mul(1 << by)),
        BinaryOp::Shr => u32::try_from(right).ok().map(|by| left >> by.min(63)),
        BinaryOp::BitAnd => Some(left & right),
        BinaryOp::BitOr => Some(left | right),
        BinaryOp::BitXor => Some(left ^ right),
        BinaryOp::MatMul => None,
    };
    value.map_or_else(|| unknown("a number that is too large"), Value::Int)
}

pub(super) fn floor_div(left: i64, right: i64) -> Option<i64> {
    let quotient = left.checked_div(right)?;
    let is_inexact = left.checked_rem(right)? != 0;
    Some(if is_inexact && (left < 0) != (right < 0) { quotient - 1 } else { quotient })
}

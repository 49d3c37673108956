//! Arithmetic on scalars whose values are known.

use tilefit_python::eval::floor_div;

use super::{For, Scalar, ScalarBinary, ScalarUnary};

/// `left op right`, computed where both are constants.
pub(crate) fn binary(op: ScalarBinary, left: Scalar, right: Scalar) -> Scalar {
    let folded = match (left.as_int(), right.as_int()) {
        (Some(a), Some(b)) => ints(op, a, b),
        (Some(0), None) if op == ScalarBinary::Add => return right,
        (None, Some(0)) if matches!(op, ScalarBinary::Add | ScalarBinary::Sub) => return left,
        _ => None,
    };
    folded.unwrap_or_else(|| Scalar::Binary(op, Box::new(left), Box::new(right)))
}

/// `a op b`; `None` where the compiler computes nothing: `/`, and what does not fit.
pub(crate) fn ints(op: ScalarBinary, a: i64, b: i64) -> Option<Scalar> {
    Some(match op {
        ScalarBinary::Add => Scalar::Int(a.checked_add(b)?),
        ScalarBinary::Sub => Scalar::Int(a.checked_sub(b)?),
        ScalarBinary::Mul => Scalar::Int(a.checked_mul(b)?),
        ScalarBinary::FloorDiv => Scalar::Int(floor_div(a, b)?),
        ScalarBinary::FloorMod => Scalar::Int(a.checked_sub(floor_div(a, b)?.checked_mul(b)?)?),
        ScalarBinary::Min => Scalar::Int(a.min(b)),
        ScalarBinary::Max => Scalar::Int(a.max(b)),
        ScalarBinary::Eq => Scalar::Bool(a == b),
        ScalarBinary::Ne => Scalar::Bool(a != b),
        ScalarBinary::Lt => Scalar::Bool(a < b),
        ScalarBinary::Le => Scalar::Bool(a <= b),
        ScalarBinary::Gt => Scalar::Bool(a > b),
        ScalarBinary::Ge => Scalar::Bool(a >= b),
        ScalarBinary::Shl => Scalar::Int(a.checked_mul(1_i64.checked_shl(shift(b)?)?)?),
        ScalarBinary::Shr => Scalar::Int(a >> shift(b)?),
        ScalarBinary::Div | ScalarBinary::And | ScalarBinary::Or => return None,
    })
}

/// By how many bits integers are shifted: the sign bit is not reached.
fn shift(bits: i64) -> Option<u32> {
    u32::try_from(bits).ok().filter(|bits| *bits < 63)
}

pub(crate) fn unary(op: ScalarUnary, inner: Scalar) -> Scalar {
    match (op, inner.as_int(), &inner) {
        (ScalarUnary::Neg, Some(value), _) if value != i64::MIN => Scalar::Int(-value),
        (ScalarUnary::Not, _, Scalar::Bool(value)) => Scalar::Bool(!value),
        _ => Scalar::Unary(op, Box::new(inner)),
    }
}

impl For {
    /// How often the loop runs, where its bounds are constants.
    pub fn trip_count(&self) -> Option<i64> {
        trip_count(&self.start, &self.stop, &self.step)
    }
}

/// How often a loop with these bounds runs, where they are constants.
pub(crate) fn trip_count(start: &Scalar, stop: &Scalar, step: &Scalar) -> Option<i64> {
    let (start, stop, step) = (constant(start)?, constant(stop)?, constant(step)?);
    let (from, to, by) = match step {
        1.. => (start, stop, step),
        0 => return None,
        _ => (stop, start, step.checked_neg()?),
    };
    let distance = to.checked_sub(from)?;
    Some(if distance <= 0 { 0 } else { distance.checked_add(by - 1)? / by })
}

/// The value of a scalar that is a constant, or the negation of one.
pub(crate) fn constant(scalar: &Scalar) -> Option<i64> {
    match scalar {
        Scalar::Unary(ScalarUnary::Neg, inner) => inner.as_int()?.checked_neg(),
        _ => scalar.as_int(),
    }
}

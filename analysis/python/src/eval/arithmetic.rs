//! Python's operators on constants.

use std::cmp::Ordering;

use tilefit_syntax::ast::{BinaryOp, CompareOp, FloatBits, UnaryOp};

use super::{Constant, LONGEST, MOST_WORK, Parts, Weighed, either_way, lifted, unknown};

/// Python's truth value, where it is known.
pub fn truth(value: &Constant) -> Option<bool> {
    match value {
        Constant::Bool(value) => Some(*value),
        Constant::Int(value) => Some(*value != 0),
        Constant::Between(least, most) => (*least > 0 || *most < 0).then_some(true),
        Constant::Float(value) => Some(value.get() != 0.0),
        Constant::Str(value) => Some(!value.is_empty()),
        Constant::None => Some(false),
        Constant::List(elements) | Constant::Tuple(elements) => Some(!elements.is_empty()),
        Constant::Dict(pairs) => Some(!pairs.is_empty()),
        Constant::Dtype(_) | Constant::Member(_) | Constant::Record(_) | Constant::Function(_) => Some(true),
        Constant::Local(_) | Constant::Thunk(_) => Some(true),
        Constant::OneOf(choice) => {
            let first = truth(choice.values().next()?)?;
            choice.values().all(|value| truth(value) == Some(first)).then_some(first)
        }
        Constant::Object(object) => object.truth(),
        Constant::Unknown(_) => None,
    }
}

pub(super) fn number(value: &Constant) -> Option<f64> {
    match value {
        Constant::Int(value) => Some(*value as f64),
        Constant::Bool(value) => Some(f64::from(u8::from(*value))),
        Constant::Float(value) => Some(value.get()),
        _ => None,
    }
}

pub(super) fn int(value: &Constant) -> Option<i64> {
    match value {
        Constant::Int(value) => Some(*value),
        Constant::Bool(value) => Some(i64::from(*value)),
        _ => None,
    }
}

/// Whether a value is known, and all that it is made of.
fn is_known(value: &Constant) -> bool {
    match value {
        Constant::Unknown(_) | Constant::OneOf(_) | Constant::Between(..) => false,
        Constant::Object(object) => object.is_known(),
        Constant::List(elements) | Constant::Tuple(elements) => elements.iter().all(is_known),
        Constant::Dict(pairs) => pairs.iter().all(|(key, value)| is_known(key) && is_known(value)),
        _ => true,
    }
}

pub(super) fn compare(op: CompareOp, left: &Constant, right: &Constant) -> Option<bool> {
    if let (Some(left), Some(right)) = (left.bounds(), right.bounds())
        && (left.0 < left.1 || right.0 < right.1)
    {
        return compare_bounds(op, left, right);
    }
    // A part that is not known does not hide one that is there.
    let in_parts = matches!(op, CompareOp::In | CompareOp::NotIn) && !matches!(right, Constant::Unknown(_));
    if !is_known(left) || !in_parts && !is_known(right) {
        return None;
    }
    let order = match (number(left), number(right)) {
        (Some(left), Some(right)) => left.partial_cmp(&right),
        _ => None,
    };
    Some(match op {
        CompareOp::Eq => order.map_or(left == right, Ordering::is_eq),
        CompareOp::Ne => !order.map_or(left == right, Ordering::is_eq),
        CompareOp::Is => left == right,
        CompareOp::IsNot => left != right,
        CompareOp::Lt => order?.is_lt(),
        CompareOp::Le => order?.is_le(),
        CompareOp::Gt => order?.is_gt(),
        CompareOp::Ge => order?.is_ge(),
        CompareOp::In | CompareOp::NotIn => match right {
            Constant::List(elements) | Constant::Tuple(elements) => {
                contains(elements.iter(), left)? == (op == CompareOp::In)
            }
            Constant::Dict(pairs) => contains(pairs.iter().map(|(key, _)| key), left)? == (op == CompareOp::In),
            Constant::Str(text) => match left {
                Constant::Str(part) => text.contains(part.as_str()) == (op == CompareOp::In),
                _ => return None,
            },
            _ => return None,
        },
    })
}

impl Constant {
    /// A number from one to the other.
    pub fn between(least: i64, most: i64) -> Constant {
        if least == most { Constant::Int(least) } else { Constant::Between(least, most) }
    }

    /// The least and the greatest that an integer may be.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        match self {
            Constant::Between(least, most) => Some((*least, *most)),
            value => int(value).map(|value| (value, value)),
        }
    }
}

fn compare_bounds(op: CompareOp, left: (i64, i64), right: (i64, i64)) -> Option<bool> {
    let always_or_never = |always: bool, never: bool| (always || never).then_some(always);
    let are_apart = left.1 < right.0 || right.1 < left.0;
    match op {
        CompareOp::Lt => always_or_never(left.1 < right.0, left.0 >= right.1),
        CompareOp::Le => always_or_never(left.1 <= right.0, left.0 > right.1),
        CompareOp::Gt => always_or_never(left.0 > right.1, left.1 <= right.0),
        CompareOp::Ge => always_or_never(left.0 >= right.1, left.1 < right.0),
        CompareOp::Eq => are_apart.then_some(false),
        CompareOp::Ne => are_apart.then_some(true),
        CompareOp::Is | CompareOp::IsNot | CompareOp::In | CompareOp::NotIn => None,
    }
}

/// Of integers of which the least and the greatest are known.
fn binary_of_bounds(op: BinaryOp, left: (i64, i64), right: (i64, i64)) -> Option<Constant> {
    if let (BinaryOp::Mod, (by @ 1.., most)) = (op, right)
        && by == most
    {
        return Some(Constant::between(0, by - 1));
    }
    // Each of these rises, or falls, with either side, so that its ends are at theirs.
    let is_monotone = match op {
        BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul => true,
        BinaryOp::FloorDiv => right.0 > 0 || right.1 < 0,
        _ => false,
    };
    if !is_monotone {
        return None;
    }
    let ends = [(left.0, right.0), (left.0, right.1), (left.1, right.0), (left.1, right.1)];
    let ends: Vec<i64> = ends.into_iter().map(|(left, right)| integers(op, left, right)).collect::<Option<_>>()?;
    Some(Constant::between(*ends.iter().min()?, *ends.iter().max()?))
}

/// Whether one of them equals `wanted`; not known where one is not known and none does.
fn contains<'c>(elements: impl Iterator<Item = &'c Constant>, wanted: &Constant) -> Option<bool> {
    let mut all_known = true;
    for element in elements {
        match compare(CompareOp::Eq, element, wanted) {
            Some(true) => return Some(true),
            Some(false) => {}
            None => all_known = false,
        }
    }
    all_known.then_some(false)
}

pub(super) fn unary(op: UnaryOp, operand: Constant) -> Constant {
    match (op, &operand) {
        (_, Constant::Unknown(_)) => operand,
        (UnaryOp::Not, _) => {
            let open = || {
                if matches!(operand, Constant::Between(..)) {
                    either_way()
                } else {
                    unknown("negates an unknown value")
                }
            };
            truth(&operand).map_or_else(open, |b| Constant::Bool(!b))
        }
        (UnaryOp::Neg, Constant::Float(value)) => Constant::Float(FloatBits::new(-value.get())),
        (UnaryOp::Pos, Constant::Float(_) | Constant::Between(..)) => operand,
        (UnaryOp::Neg, Constant::Between(least, most)) => match (most.checked_neg(), least.checked_neg()) {
            (Some(least), Some(most)) => Constant::between(least, most),
            _ => unknown("an operator on a number that is not known"),
        },
        (op, operand) => {
            let result = int(operand).and_then(|value| match op {
                UnaryOp::Neg => value.checked_neg(),
                UnaryOp::Pos => Some(value),
                UnaryOp::Invert => Some(!value),
                UnaryOp::Not => None,
            });
            result.map_or_else(|| unknown("an operator on a value that is not a number"), Constant::Int)
        }
    }
}

pub(super) fn binary(op: BinaryOp, left: Constant, right: Constant) -> Constant {
    if matches!(left, Constant::OneOf(_)) || matches!(right, Constant::OneOf(_)) {
        let each = |values: &[Constant]| binary(op, values[0].clone(), values[1].clone());
        return lifted(&[left, right], &each).unwrap_or_else(|| unknown("an operator on a value that is not a number"));
    }
    let of_object = |side: &Constant| match side {
        Constant::Object(object) => object.binary(op, &left, &right),
        _ => None,
    };
    if let Some(result) = of_object(&left).or_else(|| of_object(&right)) {
        return result;
    }
    if matches!(left, Constant::Between(..)) || matches!(right, Constant::Between(..)) {
        let of_bounds = || binary_of_bounds(op, left.bounds()?, right.bounds()?);
        return of_bounds().unwrap_or_else(|| unknown("an operator on a number that is not known"));
    }
    match (left, right) {
        (Constant::Unknown(reason), _) | (_, Constant::Unknown(reason)) => Constant::Unknown(reason),
        (Constant::List(left), Constant::List(right)) if op == BinaryOp::Add => {
            joined(left, right).map_or_else(too_long, Constant::List)
        }
        (Constant::Tuple(left), Constant::Tuple(right)) if op == BinaryOp::Add => {
            joined(left, right).map_or_else(too_long, Constant::Tuple)
        }
        (Constant::Str(left), Constant::Str(right)) if op == BinaryOp::Add => {
            (left.len() + right.len() <= LONGEST).then(|| left + &right).map_or_else(too_long, Constant::Str)
        }
        (Constant::List(elements), count) | (count, Constant::List(elements)) if op == BinaryOp::Mul => {
            repeat(&elements, &count).map_or_else(|| unknown("repeats a list"), Constant::List)
        }
        (Constant::Tuple(elements), count) | (count, Constant::Tuple(elements)) if op == BinaryOp::Mul => {
            repeat(&elements, &count).map_or_else(|| unknown("repeats a tuple"), Constant::Tuple)
        }
        (left, right) => match (int(&left), int(&right)) {
            (Some(left), Some(right)) if !(op == BinaryOp::Div || op == BinaryOp::Pow && right < 0) => {
                integers(op, left, right).map_or_else(|| unknown("the result is not a 64-bit integer"), Constant::Int)
            }
            _ => match (number(&left), number(&right)) {
                (Some(left), Some(right)) => floats(op, left, right).map_or_else(
                    || unknown("the result is not a number"),
                    |value| Constant::Float(FloatBits::new(value)),
                ),
                _ => unknown("an operator on a value that is not a number"),
            },
        },
    }
}

fn too_long() -> Constant {
    unknown(format!("the result is longer than {LONGEST}"))
}

fn joined(left: Parts<Constant>, right: Parts<Constant>) -> Option<Parts<Constant>> {
    (left.len() + right.len() <= LONGEST).then(|| left.into_iter().chain(right).collect())
}

fn repeat(elements: &[Constant], count: &Constant) -> Option<Parts<Constant>> {
    let count = usize::try_from(int(count)?.max(0)).ok()?;
    let weight: usize = elements.iter().map(Constant::weight).sum();
    let is_small = elements.len().checked_mul(count)? <= LONGEST && weight.checked_mul(count)? <= MOST_WORK;
    is_small.then(|| [elements].repeat(count).concat().into())
}

/// Python's integer arithmetic: division rounds down, the remainder has the sign of the divisor.
pub fn integers(op: BinaryOp, left: i64, right: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => left.checked_add(right),
        BinaryOp::Sub => left.checked_sub(right),
        BinaryOp::Mul => left.checked_mul(right),
        BinaryOp::FloorDiv => floor_div(left, right),
        BinaryOp::Mod => left.checked_sub(floor_div(left, right)?.checked_mul(right)?),
        BinaryOp::Pow => left.checked_pow(u32::try_from(right).ok()?),
        BinaryOp::Shl => {
            let shift = u32::try_from(right).ok().filter(|&shift| shift < 63)?;
            left.checked_mul(1 << shift)
        }
        BinaryOp::Shr => Some(left >> u32::try_from(right).ok()?.min(63)),
        BinaryOp::BitAnd => Some(left & right),
        BinaryOp::BitOr => Some(left | right),
        BinaryOp::BitXor => Some(left ^ right),
        BinaryOp::Div | BinaryOp::MatMul => None,
    }
}

/// Division that rounds down.
pub fn floor_div(left: i64, right: i64) -> Option<i64> {
    let quotient = left.checked_div(right)?;
    let exact = left.checked_rem(right)? == 0;
    if !exact && (left < 0) != (right < 0) { quotient.checked_sub(1) } else { Some(quotient) }
}

fn floats(op: BinaryOp, left: f64, right: f64) -> Option<f64> {
    let value = match op {
        BinaryOp::Add => left + right,
        BinaryOp::Sub => left - right,
        BinaryOp::Mul => left * right,
        BinaryOp::Div if right != 0.0 => left / right,
        BinaryOp::FloorDiv if right != 0.0 => (left / right).floor(),
        BinaryOp::Mod if right != 0.0 => left - (left / right).floor() * right,
        BinaryOp::Pow => left.powf(right),
        _ => return None,
    };
    Some(value)
}

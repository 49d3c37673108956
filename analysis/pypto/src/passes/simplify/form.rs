//! What the form of a condition says, whatever its variables are: `n < 1 and n > 0` never holds.

use crate::ir::{Scalar, ScalarBinary, ScalarUnary};

/// Whether a condition always holds, or never does; `None` where its form does not tell.
pub(super) fn truth(condition: &Scalar) -> Option<bool> {
    use ScalarBinary::{And, Or};
    match condition {
        Scalar::Bool(is) => Some(*is),
        Scalar::Unary(ScalarUnary::Not, inner) => truth(inner).map(|is| !is),
        Scalar::Binary(op @ (And | Or), left, right) => {
            let decides = *op == Or;
            match (truth(left), truth(right)) {
                (Some(is), _) | (_, Some(is)) if is == decides => Some(decides),
                (Some(_), Some(_)) => Some(!decides),
                _ => excludes(left, right, *op == Or).then_some(decides),
            }
        }
        _ => None,
    }
}

/// Whether two comparisons never hold together; of an alternative, whether what they negate never holds together.
fn excludes(left: &Scalar, right: &Scalar, negated: bool) -> bool {
    let (Some(left), Some(right)) = (Comparison::of(left, !negated), Comparison::of(right, !negated)) else {
        return false;
    };
    left.excludes(&right) || right.excludes(&left)
}

/// A side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Side<'s> {
    Number(i64),
    Scalar(&'s Scalar),
}

/// `left op right`, where `op` is `<`, `<=`, `==` or `!=`; numbers are all on one side.
#[derive(Debug, Clone, Copy)]
struct Comparison<'s> {
    op: ScalarBinary,
    left: Side<'s>,
    right: Side<'s>,
}

impl<'s> Comparison<'s> {
    fn of(condition: &'s Scalar, holds: bool) -> Option<Comparison<'s>> {
        use ScalarBinary::{Eq, Ge, Gt, Le, Lt, Ne};
        let (op, left, right) = match condition {
            Scalar::Unary(ScalarUnary::Not, inner) => return Comparison::of(inner, !holds),
            Scalar::Binary(op, left, right) => (if holds { *op } else { negation(*op)? }, left, right),
            _ => return None,
        };
        let (op, left, right) = match op {
            Gt => (Lt, right, left),
            Ge => (Le, right, left),
            Lt | Le | Eq | Ne => (op, left, right),
            _ => return None,
        };
        let ((left, a), (right, b)) = (parts(left)?, parts(right)?);
        let (left, right) = match (left, right) {
            (Some(left), Some(right)) => (Side::Scalar(with(left, a)?), Side::Scalar(with(right, b)?)),
            (Some(left), None) => (Side::Scalar(left), Side::Number(b.checked_sub(a)?)),
            (None, Some(right)) => (Side::Number(a.checked_sub(b)?), Side::Scalar(right)),
            (None, None) => return None,
        };
        Some(match (op, left) {
            (Eq | Ne, Side::Number(_)) => Comparison { op, left: right, right: left },
            _ => Comparison { op, left, right },
        })
    }

    /// Whether this never holds with `other`, or `other` with it, as far as the compiler's rules for pairs go.
    fn excludes(&self, other: &Comparison<'_>) -> bool {
        use ScalarBinary::{Eq, Le, Lt, Ne};
        let is_swapped = self.left == other.right && self.right == other.left;
        match (self.op, other.op) {
            (Eq, Ne) => self.left == other.left && self.right == other.right,
            (Le, Lt) if is_swapped => true,
            (Lt, Lt) => self.interval(other).is_some_and(|(above, below)| above.saturating_add(1) >= below),
            (Le, Le) => self.interval(other).is_some_and(|(above, below)| above > below),
            _ => false,
        }
    }

    /// The numbers that bound a scalar from below and from above.
    fn interval(&self, other: &Comparison<'_>) -> Option<(i64, i64)> {
        match (self.left, self.right, other.left, other.right) {
            (Side::Scalar(one), Side::Number(above), Side::Number(below), Side::Scalar(two)) if one == two => {
                Some((below, above))
            }
            _ => None,
        }
    }
}

/// A scalar plus a number; no scalar where it is the number.
fn parts(scalar: &Scalar) -> Option<(Option<&Scalar>, i64)> {
    use ScalarBinary::{Add, Sub};
    match scalar {
        Scalar::Int(value) => Some((None, *value)),
        Scalar::Binary(Add, inner, other) => match (inner.as_ref(), other.as_ref()) {
            (inner, Scalar::Int(value)) | (Scalar::Int(value), inner) => Some((Some(inner), *value)),
            _ => Some((Some(scalar), 0)),
        },
        Scalar::Binary(Sub, inner, other) => match other.as_ref() {
            Scalar::Int(value) => Some((Some(inner), value.checked_neg()?)),
            _ => Some((Some(scalar), 0)),
        },
        Scalar::Float(_) | Scalar::Call(_) | Scalar::Unknown(_) => None,
        _ => Some((Some(scalar), 0)),
    }
}

/// A scalar to which nothing is added.
fn with(scalar: &Scalar, offset: i64) -> Option<&Scalar> {
    (offset == 0).then_some(scalar)
}

/// What holds when `a op b` does not.
pub(super) fn negation(op: ScalarBinary) -> Option<ScalarBinary> {
    use ScalarBinary::*;
    Some(match op {
        Lt => Ge,
        Le => Gt,
        Gt => Le,
        Ge => Lt,
        Ne => Eq,
        Eq => Ne,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::truth;
    use crate::ir::{Scalar, ScalarBinary, ScalarUnary, VarId};

    fn compare(op: ScalarBinary, right: i64) -> Scalar {
        Scalar::Binary(op, Box::new(Scalar::Var(VarId(0))), Box::new(Scalar::Int(right)))
    }

    fn both(op: ScalarBinary, left: Scalar, right: Scalar) -> Scalar {
        Scalar::Binary(op, Box::new(left), Box::new(right))
    }

    #[test]
    fn pairs_of_comparisons_decide_by_their_form() {
        use ScalarBinary::{And, Eq, Ge, Gt, Le, Lt, Ne, Or};
        assert_eq!(truth(&both(And, compare(Lt, 1), compare(Gt, 0))), Some(false));
        assert_eq!(truth(&both(And, compare(Lt, 2), compare(Gt, 0))), None);
        assert_eq!(truth(&both(And, compare(Le, 3), compare(Gt, 3))), Some(false));
        assert_eq!(truth(&both(And, compare(Le, 3), compare(Ge, 4))), Some(false));
        assert_eq!(truth(&both(And, compare(Eq, 3), compare(Ne, 3))), Some(false));
        assert_eq!(truth(&both(Or, compare(Lt, 4), compare(Gt, 2))), Some(true));
        assert_eq!(truth(&both(Or, compare(Lt, 2), compare(Gt, 4))), None);
    }

    #[test]
    fn a_part_that_is_decided_decides_what_is_around_it() {
        use ScalarBinary::{And, Gt, Lt};
        let never = both(And, compare(Lt, 1), compare(Gt, 0));
        assert_eq!(truth(&both(And, compare(Gt, 7), never.clone())), Some(false));
        assert_eq!(truth(&Scalar::Unary(ScalarUnary::Not, Box::new(never))), Some(true));
    }

    /// The compiler has no rule for a bound that is included beside one that is not.
    #[test]
    fn other_pairs_are_left_alone() {
        use ScalarBinary::{And, Ge, Lt};
        assert_eq!(truth(&both(And, compare(Lt, 3), compare(Ge, 4))), None);
    }
}

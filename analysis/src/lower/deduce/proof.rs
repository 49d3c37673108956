//! What is provable of extents without knowing any variable, as the compiler's arithmetic analyzer decides it when it reads a kernel.

use std::collections::BTreeMap;

use crate::ir::{Scalar, ScalarBinary, VarId};

/// Whether something holds for every value of the variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::lower) enum Proof {
    Yes,
    No,
    /// For some values it does, for others it does not: no analyzer proves it.
    Open,
    /// Not decided here; the compiler may know better.
    Unsure,
}

/// `one <= other`
pub(super) fn less_equal(one: &Scalar, other: &Scalar) -> Proof {
    match Sum::of(one).and_then(|sum| sum.minus(&Sum::of(other)?)) {
        Some(difference) => difference.settle(|constant| constant <= 0),
        None => by_bounds(one, other),
    }
}

/// `one == other`
pub(in crate::lower) fn equal(one: &Scalar, other: &Scalar) -> Proof {
    match Sum::of(one).and_then(|sum| sum.minus(&Sum::of(other)?)) {
        Some(difference) => difference.settle(|constant| constant == 0),
        None if one == other => Proof::Yes,
        None => Proof::Unsure,
    }
}

/// `min(n, 64) <= 64` and the like.
fn by_bounds(one: &Scalar, other: &Scalar) -> Proof {
    match (one, other) {
        (one, other) if one == other => Proof::Yes,
        (Scalar::Binary(ScalarBinary::Min, left, right), other)
            if [left, right].iter().any(|side| less_equal(side, other) == Proof::Yes) =>
        {
            Proof::Yes
        }
        (one, Scalar::Binary(ScalarBinary::Max, left, right))
            if [left, right].iter().any(|side| less_equal(one, side) == Proof::Yes) =>
        {
            Proof::Yes
        }
        _ => Proof::Unsure,
    }
}

/// A sum of multiples of variables.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sum {
    constant: i64,
    /// Without those that come to nothing.
    terms: BTreeMap<VarId, i64>,
}

impl Sum {
    /// `None` for what is no such sum.
    fn of(scalar: &Scalar) -> Option<Sum> {
        match scalar {
            Scalar::Int(constant) => Some(Sum { constant: *constant, terms: BTreeMap::new() }),
            Scalar::Var(var) => Some(Sum { constant: 0, terms: BTreeMap::from([(*var, 1)]) }),
            Scalar::Binary(ScalarBinary::Add, left, right) => Sum::of(left)?.plus(&Sum::of(right)?, 1),
            Scalar::Binary(ScalarBinary::Sub, left, right) => Sum::of(left)?.minus(&Sum::of(right)?),
            Scalar::Binary(ScalarBinary::Mul, left, right) => match (left.as_ref(), right.as_ref()) {
                (Scalar::Int(factor), sum) | (sum, Scalar::Int(factor)) => {
                    Sum { constant: 0, terms: BTreeMap::new() }.plus(&Sum::of(sum)?, *factor)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn plus(mut self, other: &Sum, factor: i64) -> Option<Sum> {
        self.constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        for (var, times) in &other.terms {
            let sum = self.terms.entry(*var).or_default();
            *sum = sum.checked_add(times.checked_mul(factor)?)?;
        }
        self.terms.retain(|_, times| *times != 0);
        Some(self)
    }

    fn minus(self, other: &Sum) -> Option<Sum> {
        self.plus(other, -1)
    }

    /// No variable has bounds when a kernel is read: with one in it, the sum takes every sign.
    fn settle(&self, holds: impl Fn(i64) -> bool) -> Proof {
        match (self.terms.is_empty(), holds(self.constant)) {
            (false, _) => Proof::Open,
            (true, true) => Proof::Yes,
            (true, false) => Proof::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(op: ScalarBinary, left: &Scalar, right: &Scalar) -> Scalar {
        Scalar::Binary(op, Box::new(left.clone()), Box::new(right.clone()))
    }

    #[test]
    fn variables_that_cancel_leave_numbers() {
        let (n, m, int) = (Scalar::Var(VarId(0)), Scalar::Var(VarId(1)), Scalar::Int);
        let next = binary(ScalarBinary::Add, &n, &int(1));
        assert_eq!(less_equal(&n, &next), Proof::Yes);
        assert_eq!(less_equal(&next, &n), Proof::No);
        assert_eq!(less_equal(&n, &m), Proof::Open);
        assert_eq!(equal(&n, &int(4)), Proof::Open);
        assert_eq!(equal(&binary(ScalarBinary::Sub, &next, &int(1)), &n), Proof::Yes);
    }

    #[test]
    fn a_minimum_is_no_more_than_its_parts() {
        let (n, int) = (Scalar::Var(VarId(0)), Scalar::Int);
        let least = binary(ScalarBinary::Min, &n, &int(64));
        assert_eq!(less_equal(&least, &int(64)), Proof::Yes);
        assert_eq!(less_equal(&least, &n), Proof::Yes);
        assert_eq!(less_equal(&least, &int(32)), Proof::Unsure);
        assert_eq!(equal(&least, &least), Proof::Yes);
    }
}

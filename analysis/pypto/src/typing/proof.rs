//! What is provable of extents without knowing what variables hold, as the compiler's arithmetic analyzer decides it when it reads a kernel.

use std::collections::BTreeMap;

use tilefit_python::element::Dtype;

use crate::ir::{Scalar, ScalarBinary, Type, Var, VarId};

/// Whether something holds for every value of the variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    Yes,
    No,
    /// For some values it does, for others it does not: no analyzer proves it.
    Open,
    /// Not decided here; the compiler may know better.
    Unsure,
}

/// What is proved of variables: those that are indices are not negative, of others nothing is known when a kernel is read.
#[derive(Clone, Copy)]
pub(crate) struct Prover<'a> {
    pub(crate) vars: &'a [Var],
}

impl Prover<'_> {
    /// `one <= other`
    pub(crate) fn less_equal(self, one: &Scalar, other: &Scalar) -> Proof {
        if one == other {
            return Proof::Yes;
        }
        if let Some(difference) = Sum::of(one).and_then(|sum| sum.minus(&Sum::of(other)?)) {
            let (least, most) = self.range(&difference);
            return match (least.is_some_and(|least| least > 0), most.is_some_and(|most| most <= 0)) {
                (true, _) => Proof::No,
                (_, true) => Proof::Yes,
                _ => Proof::Open,
            };
        }
        match (one, other) {
            (one, Scalar::Binary(ScalarBinary::Min, left, right)) => {
                both(self.less_equal(one, left), self.less_equal(one, right))
            }
            (Scalar::Binary(ScalarBinary::Max, left, right), other) => {
                both(self.less_equal(left, other), self.less_equal(right, other))
            }
            (Scalar::Binary(ScalarBinary::Min, left, right), other) => {
                either(self.less_equal(left, other), self.less_equal(right, other))
            }
            (one, Scalar::Binary(ScalarBinary::Max, left, right)) => {
                either(self.less_equal(one, left), self.less_equal(one, right))
            }
            _ => Proof::Unsure,
        }
    }

    /// `one == other`
    pub(crate) fn equal(self, one: &Scalar, other: &Scalar) -> Proof {
        if one == other {
            return Proof::Yes;
        }
        match Sum::of(one).and_then(|sum| sum.minus(&Sum::of(other)?)) {
            Some(difference) => match self.range(&difference) {
                (Some(0), Some(0)) => Proof::Yes,
                (Some(least), _) if least > 0 => Proof::No,
                (_, Some(most)) if most < 0 => Proof::No,
                _ => Proof::Open,
            },
            None => match (self.less_equal(one, other), self.less_equal(other, one)) {
                (Proof::No, _) | (_, Proof::No) => Proof::No,
                (Proof::Open, _) | (_, Proof::Open) => Proof::Open,
                _ => Proof::Unsure,
            },
        }
    }

    /// The least and the most that a sum comes to; `None` without end.
    fn range(self, sum: &Sum) -> (Option<i64>, Option<i64>) {
        let is_index =
            |var: &VarId| matches!(self.vars.get(var.0 as usize).map(|var| &var.ty), Some(Type::Scalar(Dtype::Index)));
        let bounded = |sign: i64| sum.terms.iter().all(|(var, times)| times.signum() == sign && is_index(var));
        (bounded(1).then_some(sum.constant), bounded(-1).then_some(sum.constant))
    }
}

fn both(one: Proof, other: Proof) -> Proof {
    match (one, other) {
        (Proof::Yes, Proof::Yes) => Proof::Yes,
        (Proof::No, _) | (_, Proof::No) => Proof::No,
        (Proof::Unsure, _) | (_, Proof::Unsure) => Proof::Unsure,
        _ => Proof::Open,
    }
}

fn either(one: Proof, other: Proof) -> Proof {
    match (one, other) {
        (Proof::Yes, _) | (_, Proof::Yes) => Proof::Yes,
        (Proof::No, Proof::No) => Proof::No,
        // Each may fail alone and still one of them hold.
        (Proof::Open, Proof::Open) | (Proof::Unsure, _) | (_, Proof::Unsure) => Proof::Unsure,
        _ => Proof::Open,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROVER: Prover<'static> = Prover { vars: &[] };

    fn binary(op: ScalarBinary, left: &Scalar, right: &Scalar) -> Scalar {
        Scalar::Binary(op, Box::new(left.clone()), Box::new(right.clone()))
    }

    #[test]
    fn variables_that_cancel_leave_numbers() {
        let (n, m, int) = (Scalar::Var(VarId(0)), Scalar::Var(VarId(1)), Scalar::Int);
        let next = binary(ScalarBinary::Add, &n, &int(1));
        assert_eq!(PROVER.less_equal(&n, &next), Proof::Yes);
        assert_eq!(PROVER.less_equal(&next, &n), Proof::No);
        assert_eq!(PROVER.less_equal(&n, &m), Proof::Open);
        assert_eq!(PROVER.equal(&n, &int(4)), Proof::Open);
        assert_eq!(PROVER.equal(&binary(ScalarBinary::Sub, &next, &int(1)), &n), Proof::Yes);
        assert_eq!(PROVER.equal(&int(3), &int(4)), Proof::No);
    }

    #[test]
    fn a_minimum_is_no_more_than_its_parts() {
        let (n, int) = (Scalar::Var(VarId(0)), Scalar::Int);
        let least = binary(ScalarBinary::Min, &n, &int(64));
        assert_eq!(PROVER.less_equal(&least, &int(64)), Proof::Yes);
        assert_eq!(PROVER.less_equal(&least, &n), Proof::Yes);
        assert_eq!(PROVER.less_equal(&least, &int(32)), Proof::Open);
        assert_eq!(PROVER.less_equal(&int(0), &least), Proof::Open);
        assert_eq!(PROVER.equal(&least, &int(64)), Proof::Open);
        assert_eq!(PROVER.equal(&least, &least), Proof::Yes);
    }
}

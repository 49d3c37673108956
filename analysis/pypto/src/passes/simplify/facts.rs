//! What is known of scalars at a place, and what follows from it: as much as the compiler's arithmetic analyzer proves, and no more.
//!
//! It knows a range for each variable, and comparisons of a variable with another one or with a number. A comparison is of values
//! of one width: the narrower operand goes through a cast, and what is said of the cast says nothing of the variable.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::element::Dtype;

use super::form;
use crate::ir::{Scalar, ScalarBinary, ScalarUnary, Type, Var, VarId, fold, visit};
use crate::typing::scalar;

/// Least and greatest value; the extremes of `i64` mean that there is no bound.
type Range = (i64, i64);

const UNBOUNDED: Range = (i64::MIN, i64::MAX);

pub(super) struct Facts<'k> {
    vars: &'k [Var],
    ranges: FxHashMap<VarId, Range>,
    /// The ranges that assumptions replaced, the latest last.
    journal: Vec<(VarId, Option<Range>)>,
    compared: Vec<Comparison>,
}

/// A state to go back to.
pub(super) struct Mark {
    ranges: usize,
    compared: usize,
}

/// A variable, or the number zero.
type Key = Option<VarId>;

/// `left relation right + offset`
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Comparison {
    left: Key,
    right: Key,
    offset: i64,
    relation: Relation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    AtMost,
    AtLeast,
    Equal,
    Differs,
}

/// Which of less, equal and greater are possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Outcomes(u8);

impl Outcomes {
    const LESS: Outcomes = Outcomes(1);
    const EQUAL: Outcomes = Outcomes(2);
    const GREATER: Outcomes = Outcomes(4);
    const ALL: Outcomes = Outcomes(7);

    const fn or(self, other: Outcomes) -> Outcomes {
        Outcomes(self.0 | other.0)
    }

    fn and(self, other: Outcomes) -> Outcomes {
        Outcomes(self.0 & other.0)
    }

    /// Those in which a comparison holds.
    fn of(op: ScalarBinary) -> Option<Outcomes> {
        Some(match op {
            ScalarBinary::Lt => Outcomes::LESS,
            ScalarBinary::Le => Outcomes::LESS.or(Outcomes::EQUAL),
            ScalarBinary::Gt => Outcomes::GREATER,
            ScalarBinary::Ge => Outcomes::GREATER.or(Outcomes::EQUAL),
            ScalarBinary::Eq => Outcomes::EQUAL,
            ScalarBinary::Ne => Outcomes::LESS.or(Outcomes::GREATER),
            _ => return None,
        })
    }
}

/// One side of a comparison, as `key + offset`; no key where it is no such sum, or the compiler casts it.
struct Side<'s> {
    scalar: &'s Scalar,
    is_cast: bool,
}

impl<'k> Facts<'k> {
    pub(super) fn new(vars: &'k [Var]) -> Facts<'k> {
        Facts { vars, ranges: FxHashMap::default(), journal: Vec::new(), compared: Vec::new() }
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { ranges: self.journal.len(), compared: self.compared.len() }
    }

    pub(super) fn back_to(&mut self, mark: Mark) {
        self.compared.truncate(mark.compared);
        while self.journal.len() > mark.ranges
            && let Some((var, before)) = self.journal.pop()
        {
            match before {
                Some(range) => self.ranges.insert(var, range),
                None => self.ranges.remove(&var),
            };
        }
    }

    /// Whether a variable is a truth value that is known: written, or a comparison of numbers that are.
    pub(super) fn is_constant_flag(&self, var: VarId, value: &Scalar) -> bool {
        let is_number = |side: &Scalar| {
            let (low, high) = self.range(side);
            low == high
        };
        let is_known = match value {
            Scalar::Bool(_) => true,
            Scalar::Binary(op, left, right) => Outcomes::of(*op).is_some() && is_number(left) && is_number(right),
            _ => false,
        };
        is_known && self.vars[var.0 as usize].ty == Type::Scalar(Dtype::Bool)
    }

    /// A variable that is this scalar.
    pub(super) fn define(&mut self, var: VarId, value: &Scalar) {
        let (range, natural) = (self.range(value), self.natural_range(var));
        let narrowed = (range.0.max(natural.0), range.1.min(natural.1));
        if narrowed.0 <= narrowed.1 {
            self.ranges.insert(var, narrowed);
        }
    }

    /// Variables of `definitions`, each after those that it is computed from.
    pub(super) fn define_all(&mut self, asked: Vec<VarId>, definitions: &FxHashMap<VarId, Scalar>) {
        let mut order: Vec<(VarId, &Scalar)> = Vec::new();
        let mut seen: FxHashSet<VarId> = FxHashSet::default();
        let mut rest = asked;
        while let Some(var) = rest.pop() {
            if let Some(value) = definitions.get(&var).filter(|_| seen.insert(var)) {
                order.push((var, value));
                visit::scalar_uses(value, &mut |var| rest.push(var));
            }
        }
        // A definition has a smaller number than what is computed from it.
        order.sort_unstable_by_key(|(var, _)| *var);
        order.into_iter().for_each(|(var, value)| self.define(var, value));
    }

    /// The index of a loop with constant bounds.
    pub(super) fn index(&mut self, var: VarId, start: &Scalar, stop: &Scalar) {
        let (Some(start), Some(stop)) = (fold::constant(start), fold::constant(stop)) else { return };
        if stop <= start {
            return;
        }
        self.ranges.insert(var, (start, stop - 1));
        let key = Some(var);
        self.compared.push(Comparison { left: key, right: None, offset: start, relation: Relation::AtLeast });
        self.compared.push(Comparison { left: key, right: None, offset: stop - 1, relation: Relation::AtMost });
    }

    /// From here on a condition holds, or does not.
    pub(super) fn assume(&mut self, condition: &Scalar, holds: bool) {
        use ScalarBinary::{And, Or};
        match condition {
            Scalar::Unary(ScalarUnary::Not, inner) => self.assume(inner, !holds),
            Scalar::Binary(op @ (And | Or), left, right) if (*op == And) == holds => {
                self.assume(left, holds);
                self.assume(right, holds);
            }
            Scalar::Binary(op, left, right) => {
                if let Some(op) = if holds { Some(*op) } else { form::negation(*op) } {
                    self.learn(left, op, right);
                }
            }
            _ => {}
        }
    }

    fn learn(&mut self, left: &Scalar, op: ScalarBinary, right: &Scalar) {
        let (left, right) = (self.without_remainders(left), self.without_remainders(right));
        let (left, right) = self.sides(&left, &right);
        let Some(mirrored) = mirrored(op) else { return };
        let ((left_key, left_offset), (right_key, right_offset)) = (left.sum(), right.sum());
        // A variable plus a number, against a number.
        if let (Some(Some(var)), Some(bound)) = (left_key, self.constant(&right)) {
            self.tighten(var, op, bound.saturating_sub(left_offset));
        } else if let (Some(bound), Some(Some(var))) = (self.constant(&left), right_key) {
            self.tighten(var, mirrored, bound.saturating_sub(right_offset));
        }
        let (Some(left), Some(right)) = (left_key, right_key) else { return };
        if (left, right) == (None, None) {
            return;
        }
        // What is more than an index is more than nothing.
        if let (Some(one), Some(other)) = (left, right) {
            let [least_one, least_other] = [one, other].map(|var| self.range(&Scalar::Var(var)).0);
            self.tighten_from_below(other, mirrored, least_one, left_offset.saturating_sub(right_offset));
            self.tighten_from_below(one, op, least_other, right_offset.saturating_sub(left_offset));
        }
        let Some(offset) = right_offset.checked_sub(left_offset) else { return };
        let (relation, offset) = match op {
            ScalarBinary::Lt => (Relation::AtMost, offset.saturating_sub(1)),
            ScalarBinary::Le => (Relation::AtMost, offset),
            ScalarBinary::Gt => (Relation::AtLeast, offset.saturating_add(1)),
            ScalarBinary::Ge => (Relation::AtLeast, offset),
            ScalarBinary::Eq => (Relation::Equal, offset),
            ScalarBinary::Ne => (Relation::Differs, offset),
            _ => return,
        };
        self.compared.push(Comparison { left, right, offset, relation });
    }

    /// `var` against what is at least `least`, plus an offset.
    fn tighten_from_below(&mut self, var: VarId, op: ScalarBinary, least: i64, offset: i64) {
        let is_above = matches!(op, ScalarBinary::Gt | ScalarBinary::Ge | ScalarBinary::Eq);
        if is_above && !is_no_bound(least) {
            let op = if op == ScalarBinary::Eq { ScalarBinary::Ge } else { op };
            self.tighten(var, op, least.saturating_add(offset));
        }
    }

    fn tighten(&mut self, var: VarId, op: ScalarBinary, bound: i64) {
        let (least, greatest) = self.range(&Scalar::Var(var));
        let narrowed = match op {
            ScalarBinary::Lt => (least, greatest.min(bound.saturating_sub(1))),
            ScalarBinary::Le => (least, greatest.min(bound)),
            ScalarBinary::Gt => (least.max(bound.saturating_add(1)), greatest),
            ScalarBinary::Ge => (least.max(bound), greatest),
            ScalarBinary::Eq => (least.max(bound), greatest.min(bound)),
            _ => return,
        };
        self.journal.push((var, self.ranges.insert(var, narrowed)));
    }

    /// Whether a condition always holds, or never does.
    pub(super) fn truth(&self, condition: &Scalar) -> Option<bool> {
        if self.holds(condition, true) {
            return Some(true);
        }
        self.holds(condition, false).then_some(false)
    }

    /// Whether it is proved that a condition is `value`.
    fn holds(&self, condition: &Scalar, value: bool) -> bool {
        use ScalarBinary::{And, Or};
        if let Some(is) = form::truth(condition) {
            return is == value;
        }
        match condition {
            Scalar::Unary(ScalarUnary::Not, inner) => self.holds(inner, !value),
            Scalar::Binary(op @ (And | Or), left, right) => {
                let changes_nothing = Some(*op == And);
                if form::truth(left) == changes_nothing {
                    return self.holds(right, value);
                }
                if form::truth(right) == changes_nothing {
                    return self.holds(left, value);
                }
                // One side alone decides by its form only: the compiler proves no alternative.
                (*op == And) == value && self.holds(left, value) && self.holds(right, value)
            }
            Scalar::Binary(op, left, right) => {
                let op = if value { Some(*op) } else { form::negation(*op) };
                op.is_some_and(|op| self.proves(left, op, right))
            }
            _ => false,
        }
    }

    pub(super) fn proves(&self, left: &Scalar, op: ScalarBinary, right: &Scalar) -> bool {
        let Some(required) = Outcomes::of(op) else { return false };
        let (left, right) = (self.without_remainders(left), self.without_remainders(right));
        let (left, right) = self.sides(&left, &right);
        let (least, greatest) = self.difference(left.scalar, right.scalar);
        let possible = match (least, greatest) {
            (_, ..0) => Outcomes::LESS,
            (1.., _) => Outcomes::GREATER,
            (0, 0) => Outcomes::EQUAL,
            (0, _) => Outcomes::EQUAL.or(Outcomes::GREATER),
            (_, 0) => Outcomes::LESS.or(Outcomes::EQUAL),
            _ => Outcomes::ALL,
        };
        possible.and(required) == possible || self.follows(&left, &right, required)
    }

    /// The scalar, with remainders replaced that are known to be zero or what is divided.
    fn without_remainders<'s>(&self, scalar: &'s Scalar) -> Cow<'s, Scalar> {
        use ScalarBinary::{Add, FloorMod, Mul};
        let Scalar::Binary(op, left, right) = scalar else { return Cow::Borrowed(scalar) };
        match (op, right.as_ref()) {
            (FloorMod, Scalar::Int(divisor @ 1..)) => {
                let left = self.without_remainders(left);
                let divides = |number: &Scalar| matches!(number, Scalar::Int(number) if number % divisor == 0);
                match left.as_ref() {
                    Scalar::Binary(Mul, a, b) if divides(a) || divides(b) => Cow::Owned(Scalar::Int(0)),
                    Scalar::Binary(Add, a, b) if divides(b) => {
                        let rest = Scalar::Binary(FloorMod, a.clone(), right.clone());
                        Cow::Owned(self.without_remainders(&rest).into_owned())
                    }
                    left if matches!(self.range(left), (0.., greatest) if greatest < *divisor) => {
                        Cow::Owned(left.clone())
                    }
                    _ => Cow::Borrowed(scalar),
                }
            }
            _ => match (self.without_remainders(left), self.without_remainders(right)) {
                (Cow::Borrowed(_), Cow::Borrowed(_)) => Cow::Borrowed(scalar),
                (left, right) => Cow::Owned(fold::binary(*op, left.into_owned(), right.into_owned())),
            },
        }
    }

    /// Whether the comparisons that hold imply one.
    fn follows(&self, left: &Side, right: &Side, required: Outcomes) -> bool {
        let ((Some(left), left_offset), (Some(right), right_offset)) = (left.sum(), right.sum()) else { return false };
        let Some(offset) = right_offset.checked_sub(left_offset) else { return false };
        let outcomes = self.reached(left, right).into_iter().fold(Outcomes::ALL, |all, known| {
            all.and(match (known.relation, known.offset.cmp(&offset)) {
                (Relation::AtMost, std::cmp::Ordering::Less) => Outcomes::LESS,
                (Relation::AtMost, std::cmp::Ordering::Equal) => Outcomes::LESS.or(Outcomes::EQUAL),
                (Relation::AtLeast, std::cmp::Ordering::Greater) => Outcomes::GREATER,
                (Relation::AtLeast, std::cmp::Ordering::Equal) => Outcomes::GREATER.or(Outcomes::EQUAL),
                (Relation::Equal, std::cmp::Ordering::Equal) => Outcomes::EQUAL,
                (Relation::Equal, _) | (Relation::Differs, std::cmp::Ordering::Equal) => {
                    Outcomes::LESS.or(Outcomes::GREATER)
                }
                _ => Outcomes::ALL,
            })
        });
        outcomes != Outcomes(0) && outcomes.and(required) == outcomes
    }

    /// What is known of `from` and `to`, by whatever chain of comparisons.
    fn reached(&self, from: Key, to: Key) -> Vec<Comparison> {
        let mut known: Vec<Comparison> = Vec::new();
        let mut next: Vec<Comparison> = self.starting_at(from).collect();
        while let Some(first) = next.pop() {
            if known.len() >= MOST_COMPARISONS || known.iter().any(|known| known.implies(&first)) {
                continue;
            }
            known.push(first);
            if first.right != to {
                next.extend(self.starting_at(first.right).filter_map(|second| first.then(&second)));
            }
        }
        known.retain(|comparison| comparison.right == to);
        known
    }

    fn starting_at(&self, key: Key) -> impl Iterator<Item = Comparison> + '_ {
        self.compared.iter().filter_map(move |comparison| comparison.seen_from(key))
    }

    // Values.

    /// Pairs of variables that a condition compares, one of them through a cast.
    pub(super) fn compared_through_casts(&self, condition: &Scalar, see: &mut impl FnMut([VarId; 2])) {
        let Scalar::Binary(op, left, right) = condition else {
            if let Scalar::Unary(_, inner) = condition {
                self.compared_through_casts(inner, see);
            }
            return;
        };
        if Outcomes::of(*op).is_none() {
            self.compared_through_casts(left, see);
            return self.compared_through_casts(right, see);
        }
        let (one, other) = self.sides(left, right);
        if !one.is_cast && !other.is_cast {
            return;
        }
        visit::scalar_uses(left, &mut |left| {
            visit::scalar_uses(right, &mut |right| see([left.min(right), left.max(right)]))
        });
    }

    /// Both sides of a comparison, which the compiler brings to the wider type of the two.
    fn sides<'s>(&self, left: &'s Scalar, right: &'s Scalar) -> (Side<'s>, Side<'s>) {
        let dtypes = (scalar::dtype(left, self.vars), scalar::dtype(right, self.vars));
        let (Some(of_left), Some(of_right)) = dtypes else {
            return (Side { scalar: left, is_cast: false }, Side { scalar: right, is_cast: false });
        };
        let common = if of_right.logical_bits() > of_left.logical_bits() { of_right } else { of_left };
        let is_cast = |dtype: Dtype| dtype != common && !(is_index(dtype) && is_index(common));
        // In a sum with a number it is what the number is added to that goes through a cast.
        let side = |scalar, dtype| Side {
            scalar,
            is_cast: is_cast(dtype) || scalar::dtype(addend(scalar).0, self.vars).is_some_and(is_cast),
        };
        (side(left, of_left), side(right, of_right))
    }

    fn constant(&self, side: &Side) -> Option<i64> {
        let (least, greatest) = self.range(side.scalar);
        (least == greatest).then_some(least)
    }

    /// The range of `left - right`.
    fn difference(&self, left: &Scalar, right: &Scalar) -> Range {
        let mut sum = Sum::default();
        sum.add(left, 1);
        sum.add(right, -1);
        let constant = (sum.constant, sum.constant);
        sum.terms.iter().filter(|(_, factor)| *factor != 0).fold(constant, |range, (term, factor)| {
            // A range that no value is in, as in a branch that is never taken, stays one unless it is multiplied.
            let part = match (self.range(term), factor) {
                (part, 1) => part,
                (part, -1) => negated(part),
                (part, _) => times(part, (*factor, *factor)),
            };
            (add(range.0, part.0), add(range.1, part.1))
        })
    }

    /// An index counts from zero.
    fn natural_range(&self, var: VarId) -> Range {
        match self.vars[var.0 as usize].ty {
            Type::Scalar(Dtype::Index) => (0, i64::MAX),
            _ => UNBOUNDED,
        }
    }

    fn range(&self, scalar: &Scalar) -> Range {
        match scalar {
            Scalar::Int(value) => (*value, *value),
            Scalar::Float(value) => {
                let value = value.get();
                // A cast of what is out of range stays at the end of the range, as there.
                if value.is_finite() { (value.floor() as i64, value.ceil() as i64) } else { UNBOUNDED }
            }
            Scalar::Bool(value) => (i64::from(*value), i64::from(*value)),
            Scalar::Var(var) => self.ranges.get(var).copied().unwrap_or_else(|| self.natural_range(*var)),
            Scalar::Dynamic(_) => (0, i64::MAX),
            Scalar::Cast(dtype, inner) => match of_type(*dtype) {
                Some(of_type) => {
                    let inner = self.range(inner);
                    (inner.0.max(of_type.0), inner.1.min(of_type.1))
                }
                None => UNBOUNDED,
            },
            Scalar::Const(_, number) => self.range(number),
            Scalar::Unary(op, inner) => self.range_of_unary(*op, inner),
            Scalar::Binary(op, left, right) => self.range_of_binary(*op, left, right),
            Scalar::Dim { .. } | Scalar::Call(_) | Scalar::Unknown(_) => UNBOUNDED,
        }
    }

    fn range_of_unary(&self, op: ScalarUnary, inner: &Scalar) -> Range {
        match op {
            ScalarUnary::Neg => negated(self.range(inner)),
            ScalarUnary::Abs => match self.range(inner) {
                range @ (0.., _) => range,
                range @ (_, ..=0) => negated(range),
                range => (0, negated(range).1.max(range.1)),
            },
            ScalarUnary::Not => (0, 1),
            ScalarUnary::BitNot => UNBOUNDED,
        }
    }

    fn range_of_binary(&self, op: ScalarBinary, left: &Scalar, right: &Scalar) -> Range {
        use ScalarBinary::*;
        match op {
            Add | Sub => {
                let (a, b) = (self.range(left), self.range(right));
                let b = if op == Sub { negated(b) } else { b };
                (add(a.0, b.0), add(a.1, b.1))
            }
            Mul => times(self.range(left), self.range(right)),
            FloorDiv => divided(self.range(left), self.range(right)),
            FloorMod => match (self.range(left), self.range(right)) {
                ((0.., greatest), (1.., divisor)) => (0, greatest.min(divisor - 1)),
                (_, (1.., divisor)) => (0, divisor - 1),
                _ => UNBOUNDED,
            },
            Min | Max => {
                let (a, b) = (self.range(left), self.range(right));
                if op == Min { (a.0.min(b.0), a.1.min(b.1)) } else { (a.0.max(b.0), a.1.max(b.1)) }
            }
            Eq | Ne | Lt | Le | Gt | Ge | And | Or => (0, 1),
            Div | Shl | Shr => UNBOUNDED,
        }
    }
}

/// Chains beyond that are not followed: no kernel that is compiled comes near.
const MOST_COMPARISONS: usize = 256;

impl Comparison {
    /// The same, said of `key`.
    fn seen_from(&self, key: Key) -> Option<Comparison> {
        if key == self.left {
            return Some(*self);
        }
        let relation = match self.relation {
            Relation::AtMost => Relation::AtLeast,
            Relation::AtLeast => Relation::AtMost,
            other => other,
        };
        let offset = self.offset.checked_neg()?;
        (key == self.right).then_some(Comparison { left: self.right, right: self.left, offset, relation })
    }

    /// What this and a comparison of its right side say together.
    fn then(&self, next: &Comparison) -> Option<Comparison> {
        let relation = match (self.relation, next.relation) {
            (Relation::Equal, other) | (other, Relation::Equal) => other,
            (Relation::AtMost, Relation::AtMost) => Relation::AtMost,
            (Relation::AtLeast, Relation::AtLeast) => Relation::AtLeast,
            _ => return None,
        };
        let offset = self.offset.checked_add(next.offset)?;
        (next.right != self.left).then_some(Comparison { left: self.left, right: next.right, offset, relation })
    }

    fn implies(&self, other: &Comparison) -> bool {
        use Relation::*;
        self.right == other.right
            && match (self.relation, other.relation) {
                (Equal, Equal) | (Differs, Differs) => self.offset == other.offset,
                (Equal | AtMost, AtMost) => self.offset <= other.offset,
                (Equal | AtLeast, AtLeast) => self.offset >= other.offset,
                (Equal, Differs) => self.offset != other.offset,
                (AtMost, Differs) => self.offset < other.offset,
                (AtLeast, Differs) => self.offset > other.offset,
                _ => false,
            }
    }
}

impl Side<'_> {
    fn sum(&self) -> (Option<Key>, i64) {
        let (scalar, offset) = addend(self.scalar);
        match scalar {
            Scalar::Int(value) if offset == 0 && !self.is_cast => (Some(None), *value),
            Scalar::Var(var) if !self.is_cast => (Some(Some(*var)), offset),
            _ => (None, 0),
        }
    }
}

/// A scalar as another one plus a number.
fn addend(scalar: &Scalar) -> (&Scalar, i64) {
    use ScalarBinary::{Add, Sub};
    match scalar {
        Scalar::Binary(Add, inner, other) => match (other.as_ref(), inner.as_ref()) {
            (Scalar::Int(value), _) => (inner, *value),
            (_, Scalar::Int(value)) => (other, *value),
            _ => (scalar, 0),
        },
        Scalar::Binary(Sub, inner, other) => match other.as_ref() {
            Scalar::Int(value) => (inner, value.saturating_neg()),
            _ => (scalar, 0),
        },
        other => (other, 0),
    }
}

/// A number plus multiples of expressions, compared by their form.
#[derive(Default)]
struct Sum<'s> {
    constant: i64,
    terms: Vec<(&'s Scalar, i64)>,
}

impl<'s> Sum<'s> {
    fn add(&mut self, scalar: &'s Scalar, factor: i64) {
        match scalar {
            Scalar::Int(value) => match value.checked_mul(factor).and_then(|value| self.constant.checked_add(value)) {
                Some(sum) => self.constant = sum,
                None => self.term(scalar, factor),
            },
            Scalar::Unary(ScalarUnary::Neg, inner) => self.add(inner, factor.saturating_neg()),
            Scalar::Binary(ScalarBinary::Add, left, right) => {
                self.add(left, factor);
                self.add(right, factor);
            }
            Scalar::Binary(ScalarBinary::Sub, left, right) => {
                self.add(left, factor);
                self.add(right, factor.saturating_neg());
            }
            Scalar::Binary(ScalarBinary::Mul, left, right) => match (left.as_ref(), right.as_ref()) {
                (Scalar::Int(by), inner) | (inner, Scalar::Int(by)) => match factor.checked_mul(*by) {
                    Some(factor) => self.add(inner, factor),
                    None => self.term(scalar, factor),
                },
                _ => self.term(scalar, factor),
            },
            other => self.term(other, factor),
        }
    }

    fn term(&mut self, scalar: &'s Scalar, factor: i64) {
        let same = self.terms.iter_mut().find(|(known, _)| *known == scalar && is_same_each_time(scalar));
        match same {
            Some((_, sum)) => *sum = sum.saturating_add(factor),
            None => self.terms.push((scalar, factor)),
        }
    }
}

fn is_same_each_time(scalar: &Scalar) -> bool {
    match scalar {
        Scalar::Call(_) | Scalar::Unknown(_) => false,
        Scalar::Unary(_, inner) | Scalar::Cast(_, inner) => is_same_each_time(inner),
        Scalar::Binary(_, left, right) => is_same_each_time(left) && is_same_each_time(right),
        _ => true,
    }
}

/// Two names of the same integer, between which nothing is cast.
fn is_index(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::Index | Dtype::Int64)
}

/// The values of an integer type; `None` for others.
fn of_type(dtype: Dtype) -> Option<Range> {
    use Dtype::*;
    let is_signed = match dtype {
        Int4 | Int8 | Int16 | Int32 | Int64 | Index => true,
        Uint4 | Uint8 | Uint16 | Uint32 | Uint64 => false,
        _ => return None,
    };
    let bits = dtype.logical_bits();
    Some(match (bits, is_signed) {
        (64.., _) => UNBOUNDED,
        (_, true) => (-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        (_, false) => (0, (1 << bits) - 1),
    })
}

/// No bound stays no bound.
fn add(a: i64, b: i64) -> i64 {
    match (is_no_bound(a), is_no_bound(b)) {
        (true, _) => a,
        (_, true) => b,
        _ => a.saturating_add(b),
    }
}

fn multiply(a: i64, b: i64) -> i64 {
    let beyond = if (a > 0) == (b > 0) { i64::MAX } else { i64::MIN };
    match (a, b) {
        (0, _) | (_, 0) => 0,
        _ if is_no_bound(a) || is_no_bound(b) => beyond,
        _ => a.checked_mul(b).unwrap_or(beyond),
    }
}

fn times(a: Range, b: Range) -> Range {
    let corners = [multiply(a.0, b.0), multiply(a.0, b.1), multiply(a.1, b.0), multiply(a.1, b.1)];
    (corners.into_iter().min().unwrap_or(i64::MIN), corners.into_iter().max().unwrap_or(i64::MAX))
}

fn negated(range: Range) -> Range {
    let negate = |value: i64| match value {
        i64::MIN => i64::MAX,
        i64::MAX => i64::MIN,
        value => -value,
    };
    (negate(range.1), negate(range.0))
}

fn divided(a: Range, b: Range) -> Range {
    let by = |value: i64, divisor: i64| if is_no_bound(value) { value } else { value.div_euclid(divisor) };
    match b {
        (1.., _) => (by(a.0, if a.0 >= 0 { b.1 } else { b.0 }), by(a.1, if a.1 >= 0 { b.0 } else { b.1 })),
        (_, ..0) => divided(negated(a), negated(b)),
        _ => UNBOUNDED,
    }
}

fn is_no_bound(value: i64) -> bool {
    matches!(value, i64::MIN | i64::MAX)
}

/// The operation of `b op a` that says the same as `a op b`.
fn mirrored(op: ScalarBinary) -> Option<ScalarBinary> {
    use ScalarBinary::*;
    Some(match op {
        Lt => Gt,
        Le => Ge,
        Gt => Lt,
        Ge => Le,
        Eq => Eq,
        Ne => Ne,
        _ => return None,
    })
}

//! What the kernel's conditions say: which hold always or never, so that the compiler takes them away with what they guard, and which threads come
//! through (docs/reference/tilelang.md, "1. What a front end must evaluate").

use std::cell::RefCell;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::finding::Reason;
use tilefit_python::work;
use tilefit_syntax::ast::{BinaryOp, BoolOp, CompareOp};

use super::Tracer;
use super::symbolic::Sum;
use super::value::{Expr, LaunchSpec, Value};
use crate::program::Threads;
use crate::vocabulary;

/// An operation whose result is one thing alone.
#[derive(Debug, Clone)]
pub(super) enum Made {
    Compared(CompareOp, Sum, Sum),
    Both(u64, u64),
    Either(u64, u64),
    Not(u64),
    Quotient(Sum, i128),
    Rest(Sum, i128),
}

/// From a number to another, both included; `None` where it has no end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub low: Option<i128>,
    pub high: Option<i128>,
}

impl Span {
    const ANY: Span = Span { low: None, high: None };

    fn one(value: i128) -> Span {
        Span { low: Some(value), high: Some(value) }
    }

    fn plus(self, other: Span) -> Span {
        let add = |one: Option<i128>, two: Option<i128>| one?.checked_add(two?);
        Span { low: add(self.low, other.low), high: add(self.high, other.high) }
    }

    fn times(self, factor: i128) -> Span {
        let scale = |end: Option<i128>| end?.checked_mul(factor);
        match factor < 0 {
            true => Span { low: scale(self.high), high: scale(self.low) },
            false => Span { low: scale(self.low), high: scale(self.high) },
        }
    }

    /// Of two numbers that are not negative.
    fn multiplied(self, other: Span) -> Span {
        match (self.low, other.low) {
            (Some(one), Some(two)) if one >= 0 && two >= 0 => {
                let high = self.high.zip(other.high).and_then(|(one, two)| one.checked_mul(two));
                Span { low: one.checked_mul(two), high }
            }
            _ => Span::ANY,
        }
    }

    fn within(self, other: Span) -> Span {
        let tighter = |one: Option<i128>, two: Option<i128>, pick: fn(i128, i128) -> i128| match (one, two) {
            (Some(one), Some(two)) => Some(pick(one, two)),
            (one, two) => one.or(two),
        };
        Span { low: tighter(self.low, other.low, i128::max), high: tighter(self.high, other.high, i128::min) }
    }
}

/// What is known of numbers and conditions where a statement stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Facts {
    made: FxHashMap<u64, Made>,
    spans: FxHashMap<u64, Span>,
    /// Sums that are not negative.
    at_least_zero: Vec<Sum>,
    /// Conditions by their keys.
    holding: Vec<(u64, bool)>,
    /// Numbers that differ from thread to thread.
    of_threads: RefCell<FxHashSet<u64>>,
    /// Enclosing conditions on the thread that say no range of threads.
    unclear_threads: u32,
    /// The threads of an enclosing group of warps.
    group: Option<u64>,
}

/// Where facts were before a branch.
#[derive(Debug)]
pub(super) struct Mark {
    spans: FxHashMap<u64, Span>,
    at_least_zero: usize,
    holding: usize,
    unclear_threads: u32,
    group: Option<u64>,
}

/// Conditions in conditions deeper than this are not looked at.
const DEEPEST: u32 = 12;
/// Rounds in which facts narrow each other's numbers.
const ROUNDS: usize = 3;
/// More rounds are not written out on either side of a loop of which anybody asks.
const WRITTEN_OUT: u64 = 8;

impl Facts {
    /// A variable that goes from 0 to below an extent.
    pub(super) fn counts(&mut self, key: u64, extent: Option<i64>) {
        let high = extent.map(|extent| i128::from(extent) - 1);
        self.spans.insert(key, Span { low: Some(0), high });
    }

    /// Only numbers are told apart that are not loaded: those may be of any type.
    pub(super) fn note_binary(&mut self, op: BinaryOp, made: &Expr, left: &Expr, right: &Expr) {
        let (Some(key), Some(divisor)) = (made.sum.only_key(), right.sum.as_number()) else { return };
        let divisor = i128::from(divisor);
        if divisor <= 0 {
            return;
        }
        match op {
            BinaryOp::FloorDiv => _ = self.made.insert(key, Made::Quotient(left.sum.clone(), divisor)),
            BinaryOp::Mod => _ = self.made.insert(key, Made::Rest(left.sum.clone(), divisor)),
            _ => {}
        }
    }

    pub(super) fn note_comparison(&mut self, op: CompareOp, made: &Expr, left: &Expr, right: &Expr) {
        if let Some(key) = made.sum.only_key() {
            self.made.insert(key, Made::Compared(op, left.sum.clone(), right.sum.clone()));
        }
    }

    pub(super) fn note_logical(&mut self, op: BoolOp, made: &Expr, one: &Expr, two: &Expr) {
        if let (Some(key), Some(one), Some(two)) = (made.sum.only_key(), one.sum.only_key(), two.sum.only_key()) {
            let made = match op {
                BoolOp::And => Made::Both(one, two),
                BoolOp::Or => Made::Either(one, two),
            };
            self.made.insert(key, made);
        }
    }

    /// What is computed of a number that differs from thread to thread differs, too.
    pub(super) fn note_operands(&self, made: u64, operands: &[&Sum]) {
        let thread = thread_keys();
        let mut of_threads = self.of_threads.borrow_mut();
        let mut keys = operands.iter().flat_map(|sum| sum.terms()).flat_map(|(keys, _)| keys);
        if keys.any(|key| thread.contains(&key) || of_threads.contains(&key)) {
            of_threads.insert(made);
        }
    }

    /// It differs from thread to thread.
    pub(super) fn note_of_thread(&self, made: u64) {
        self.of_threads.borrow_mut().insert(made);
    }

    pub(super) fn start_launch(&mut self, blocks: &[Option<i64>], threads: Option<&[u64]>) {
        *self = Facts {
            made: std::mem::take(&mut self.made),
            of_threads: self.of_threads.take().into(),
            ..Facts::default()
        };
        for (axis, extent) in ["x", "y", "z"].into_iter().zip(blocks) {
            self.counts(vocabulary::key(&format!("get_block_binding{axis}")), *extent);
        }
        for (axis, key) in thread_keys().into_iter().enumerate() {
            let extent = threads.map(|threads| threads.get(axis).copied().unwrap_or(1));
            self.counts(key, extent.and_then(|extent| i64::try_from(extent).ok()));
        }
    }

    pub(super) fn note_not(&mut self, made: &Expr, of: &Expr) {
        if let Some((key, of)) = made.sum.only_key().zip(of.sum.only_key()) {
            self.made.insert(key, Made::Not(of));
        }
    }

    fn span_of_key(&self, key: u64, depth: u32) -> Span {
        let own = self.spans.get(&key).copied().unwrap_or(Span::ANY);
        if depth >= DEEPEST {
            return own;
        }
        match self.made.get(&key) {
            Some(Made::Quotient(of, by)) => {
                let of = self.span(of, depth + 1);
                let divide = |end: Option<i128>| end.map(|end| end.div_euclid(*by));
                own.within(Span { low: divide(of.low), high: divide(of.high) })
            }
            Some(Made::Rest(of, by)) => {
                let of = self.span(of, depth + 1);
                let is_itself = of.low.is_some_and(|low| low >= 0) && of.high.is_some_and(|high| high < *by);
                own.within(if is_itself { of } else { Span { low: Some(0), high: Some(by - 1) } })
            }
            _ => own,
        }
    }

    fn span(&self, sum: &Sum, depth: u32) -> Span {
        work::spend(1);
        sum.terms().fold(Span::one(0), |all, (keys, factor)| {
            let product = keys.into_iter().fold(Span::one(1), |product, key| {
                let of_key = self.span_of_key(key, depth);
                if product == Span::one(1) { of_key } else { product.multiplied(of_key) }
            });
            all.plus(product.times(factor))
        })
    }

    /// What a number of the kernel is at least, as far as that is more than nothing.
    pub(super) fn least(&self, sum: &Sum) -> u64 {
        self.span(sum, 0).low.and_then(|low| u64::try_from(low).ok()).unwrap_or(0)
    }

    /// Whether a condition holds always or never here.
    pub(super) fn decided(&self, key: u64) -> Option<bool> {
        self.decided_within(key, 0)
    }

    fn decided_within(&self, key: u64, depth: u32) -> Option<bool> {
        if let Some((_, holds)) = self.holding.iter().find(|(known, _)| *known == key) {
            return Some(*holds);
        }
        if depth >= DEEPEST {
            return None;
        }
        match self.made.get(&key)? {
            Made::Compared(op, left, right) => {
                let span = self.span(&left.minus(right)?, 0);
                let below = |limit: i128| span.high.is_some_and(|high| high < limit);
                let above = |limit: i128| span.low.is_some_and(|low| low > limit);
                let either = |yes: bool, no: bool| if yes { Some(true) } else { no.then_some(false) };
                match op {
                    CompareOp::Lt => either(below(0), above(-1)),
                    CompareOp::Le => either(below(1), above(0)),
                    CompareOp::Gt => either(above(0), below(1)),
                    CompareOp::Ge => either(above(-1), below(0)),
                    CompareOp::Eq => either(span == Span::one(0), below(0) || above(0)),
                    CompareOp::Ne => either(below(0) || above(0), span == Span::one(0)),
                    _ => None,
                }
            }
            Made::Both(one, two) => {
                match (self.decided_within(*one, depth + 1), self.decided_within(*two, depth + 1)) {
                    (Some(false), _) | (_, Some(false)) => Some(false),
                    (Some(true), Some(true)) => Some(true),
                    _ => None,
                }
            }
            Made::Either(one, two) => {
                match (self.decided_within(*one, depth + 1), self.decided_within(*two, depth + 1)) {
                    (Some(true), _) | (_, Some(true)) => Some(true),
                    (Some(false), Some(false)) => Some(false),
                    _ => None,
                }
            }
            Made::Not(of) => self.decided_within(*of, depth + 1).map(|holds| !holds),
            Made::Quotient(..) | Made::Rest(..) => None,
        }
    }

    pub(super) fn mark(&self) -> Mark {
        work::spend(self.spans.len() as u64);
        Mark {
            spans: self.spans.clone(),
            at_least_zero: self.at_least_zero.len(),
            holding: self.holding.len(),
            unclear_threads: self.unclear_threads,
            group: self.group,
        }
    }

    pub(super) fn back_to(&mut self, mark: Mark) {
        self.spans = mark.spans;
        self.at_least_zero.truncate(mark.at_least_zero);
        self.holding.truncate(mark.holding);
        self.unclear_threads = mark.unclear_threads;
        self.group = mark.group;
    }

    /// Only so many threads come here, of a group that is theirs.
    pub(super) fn assume_some_threads(&mut self, count: Option<u64>) {
        match count {
            Some(count) => self.group = Some(count),
            None => self.unclear_threads += 1,
        }
    }

    /// In a branch whose condition is loaded: it says nothing of numbers.
    fn assume_loaded(&mut self, key: u64) {
        if self.of_threads.borrow().contains(&key) {
            self.unclear_threads += 1;
        }
    }

    /// In the branch where a condition holds, or does not.
    pub(super) fn assume(&mut self, key: u64, holds: bool) {
        let thread = thread_keys();
        let is_about_threads = self.of_threads.borrow().contains(&key);
        let before = thread.map(|key| self.span_of_key(key, 0));
        let is_clear = self.assume_within(key, holds, 0);
        self.narrow();
        let has_narrowed = thread.map(|key| self.span_of_key(key, 0)) != before;
        if is_about_threads && !(is_clear && has_narrowed) {
            self.unclear_threads += 1;
        }
    }

    /// Whether all that the condition says is among the facts.
    fn assume_within(&mut self, key: u64, holds: bool, depth: u32) -> bool {
        self.holding.push((key, holds));
        if depth >= DEEPEST {
            return false;
        }
        match (self.made.get(&key).cloned(), holds) {
            (Some(Made::Both(one, two)), true) => {
                self.assume_within(one, true, depth + 1) & self.assume_within(two, true, depth + 1)
            }
            (Some(Made::Either(one, two)), false) => {
                self.assume_within(one, false, depth + 1) & self.assume_within(two, false, depth + 1)
            }
            (Some(Made::Not(of)), holds) => self.assume_within(of, !holds, depth + 1),
            (Some(Made::Compared(op, left, right)), holds) => self.assume_compared(op, &left, &right, holds),
            _ => false,
        }
    }

    fn assume_compared(&mut self, op: CompareOp, left: &Sum, right: &Sum, holds: bool) -> bool {
        let op = match (op, holds) {
            (op, true) => op,
            (CompareOp::Lt, false) => CompareOp::Ge,
            (CompareOp::Le, false) => CompareOp::Gt,
            (CompareOp::Gt, false) => CompareOp::Le,
            (CompareOp::Ge, false) => CompareOp::Lt,
            (CompareOp::Eq, false) => CompareOp::Ne,
            (CompareOp::Ne, false) => CompareOp::Eq,
            (_, false) => return false,
        };
        let one = Sum::number(1);
        let less = |small: &Sum, great: &Sum| great.minus(small)?.minus(&one);
        let facts = match op {
            CompareOp::Lt => vec![less(left, right)],
            CompareOp::Le => vec![right.minus(left)],
            CompareOp::Gt => vec![less(right, left)],
            CompareOp::Ge => vec![left.minus(right)],
            CompareOp::Eq => vec![left.minus(right), right.minus(left)],
            _ => return false,
        };
        let known = facts.into_iter().collect::<Option<Vec<Sum>>>();
        // Whether a number is whole is known only of those that count.
        let is_whole = |sum: &Sum| {
            sum.terms().flat_map(|(keys, _)| keys).all(|key| {
                self.spans.contains_key(&key)
                    || matches!(self.made.get(&key), Some(Made::Quotient(..) | Made::Rest(..)))
            })
        };
        match known {
            Some(facts) if facts.iter().all(is_whole) => {
                // Of a thread and another number, each block lets in others.
                let is_alone = facts.iter().all(|fact| {
                    let keys: Vec<u64> = fact.terms().flat_map(|(keys, _)| keys).collect();
                    keys.len() < 2
                        || !keys.iter().any(|key| self.of_threads.borrow().contains(key) || thread_keys().contains(key))
                });
                self.at_least_zero.extend(facts);
                is_alone
            }
            _ => false,
        }
    }

    /// What the facts say of single variables.
    fn narrow(&mut self) {
        for _ in 0..ROUNDS {
            for fact in self.at_least_zero.clone() {
                work::spend(1);
                for (keys, factor) in fact.terms() {
                    let [key] = keys.as_slice() else { continue };
                    let whole = self.span(&fact, 0);
                    let own = self.span_of_key(*key, 0);
                    // What all others are at most.
                    let rest = match (whole.high, own.times(factor).high) {
                        (Some(whole), Some(own)) => whole.checked_sub(own),
                        _ => self.span(&fact.without(*key), 0).high,
                    };
                    let Some(rest) = rest else { continue };
                    let limit = match factor > 0 {
                        // factor * key >= -rest
                        true => Span {
                            low: Some((-rest).div_euclid(factor) + i128::from((-rest).rem_euclid(factor) != 0)),
                            high: None,
                        },
                        false => Span { low: None, high: Some(rest.div_euclid(-factor)) },
                    };
                    self.spans.insert(*key, own.within(limit));
                }
            }
        }
    }

    /// The threads that come where a statement stands.
    pub(super) fn threads(&self, extents: &[u64]) -> Threads {
        if self.unclear_threads > 0 {
            return Threads::Unknown(Reason::new("which threads take a branch is not known"));
        }
        if let Some(count) = self.group {
            let has_narrowed = thread_keys().iter().zip(extents).any(|(key, extent)| {
                let span = self.span_of_key(*key, 0);
                span.low.is_some_and(|low| low > 0) || span.high.is_some_and(|high| high + 1 < i128::from(*extent))
            });
            return match has_narrowed {
                false => Threads::Some(count),
                true => Threads::Unknown(Reason::new("which threads of a group take a branch is not known")),
            };
        }
        let mut all: u64 = 1;
        let mut is_all = true;
        for (axis, key) in thread_keys().into_iter().enumerate() {
            let extent = extents.get(axis).copied().unwrap_or(1);
            let span = self.span_of_key(key, 0).within(Span { low: Some(0), high: Some(i128::from(extent) - 1) });
            let count = span.high.zip(span.low).map_or(0, |(high, low)| (high - low + 1).max(0));
            let count = u64::try_from(count).unwrap_or(extent);
            is_all &= count == extent;
            all = all.saturating_mul(count);
        }
        if is_all { Threads::All } else { Threads::Some(all) }
    }
}

impl Facts {
    /// Where the number of all is not known.
    fn threads_of_unknown(&self) -> Threads {
        let is_bounded = thread_keys().iter().any(|key| self.span_of_key(*key, 0).low != Some(0));
        match is_bounded || self.unclear_threads > 0 {
            true => Threads::Unknown(Reason::new("which threads take a branch is not known")),
            false => Threads::All,
        }
    }
}

fn thread_keys() -> [u64; 3] {
    ["x", "y", "z"].map(|axis| vocabulary::key(&format!("get_thread_binding{axis}")))
}

impl Tracer<'_> {
    /// Whether a condition of the kernel holds always or never where it stands.
    pub(super) fn decided(&self, condition: &Value) -> Option<bool> {
        match condition {
            // What is loaded may be another value the next time.
            Value::Expr(expr) if expr.touches.is_empty() => self.facts.decided(expr.sum.only_key()?),
            _ => None,
        }
    }

    /// Whether a condition holds in the rounds that the compiler writes out before a pipelined loop and after it: only rounds that say so.
    pub(super) fn decided_in_rounds(&mut self, condition: &Expr) -> Vec<(u64, bool)> {
        let (Some((variable, extent)), Some(key)) = (self.pipelined, condition.sum.only_key()) else {
            return Vec::new();
        };
        if !condition.touches.is_empty() {
            return Vec::new();
        }
        let last = extent.map_or(0..0, |extent| extent.saturating_sub(WRITTEN_OUT).max(WRITTEN_OUT)..extent);
        let rounds = (0..extent.unwrap_or(WRITTEN_OUT).min(WRITTEN_OUT)).chain(last);
        let mark = self.facts.mark();
        let mut decided = Vec::new();
        for round in rounds {
            self.facts.spans.insert(variable, Span::one(i128::from(round)));
            decided.extend(self.facts.decided(key).map(|holds| (round, holds)));
        }
        self.facts.back_to(mark);
        decided
    }

    pub(super) fn under<T>(&mut self, condition: Option<&Expr>, holds: bool, run: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.facts.mark();
        if let Some((condition, key)) = condition.and_then(|condition| Some((condition, condition.sum.only_key()?))) {
            match condition.touches.is_empty() {
                true => self.facts.assume(key, holds),
                false => self.facts.assume_loaded(key),
            }
        }
        let result = run(self);
        self.facts.back_to(mark);
        result
    }

    /// The threads that come where the next statement is recorded.
    pub(super) fn threads_here(&self) -> Threads {
        match self.out.spec().as_deref() {
            Some(LaunchSpec { threads: Ok(threads), .. }) => self.facts.threads(threads),
            _ => self.facts.threads_of_unknown(),
        }
    }
}

//! What the host does with the tensors around its scopes, for the compiler's OptimizeOrchTensors: a result that only takes the place of
//! an operand is stored into that operand and gets no tensor of its own.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{Carry, For, Handover, LoopKind, Operand, Scalar, Stmt, VarId, While, fold, visit};

pub(super) struct Handovers {
    /// What a loop's body reads in the next round in place of a value that it yields.
    carried: FxHashMap<VarId, VarId>,
    /// How many scopes read a value; all that the host itself reads of it counts as one more.
    readers: FxHashMap<VarId, usize>,
}

impl Handovers {
    pub(super) fn of(host: &[Stmt], regions: &[Vec<Stmt>]) -> Handovers {
        let mut handovers = Handovers { carried: FxHashMap::default(), readers: FxHashMap::default() };
        visit::statements(host, &mut |stmt| handovers.loops(stmt));
        handovers.reader(host);
        for region in regions {
            // What leaves a scope at its end is not read by that.
            let body = match region.as_slice() {
                [body @ .., Stmt::Return { .. }] => body,
                body => body,
            };
            handovers.reader(body);
        }
        handovers
    }

    fn loops(&mut self, stmt: &Stmt) {
        let (carries, body): (&[Carry], &[Stmt]) = match stmt {
            Stmt::For(For { kind, start, stop, step, carries, body, .. }) if !runs_once(*kind, start, stop, step) => {
                (carries, body)
            }
            Stmt::While(While { carries, body, .. }) => (carries, body),
            _ => return,
        };
        for (value, carry) in visit::yielded(body).iter().zip(carries) {
            if let Some(value) = value.var() {
                self.carried.entry(value).or_insert(carry.iter);
            }
        }
    }

    fn reader(&mut self, body: &[Stmt]) {
        let mut read: FxHashSet<VarId> = FxHashSet::default();
        for stmt in body {
            visit::uses(stmt, &mut |var| {
                read.insert(var);
            });
        }
        for var in read {
            *self.readers.entry(var).or_default() += 1;
        }
    }

    /// Of a scope that takes `taken` as its `params` and ends with what leaves it.
    pub(super) fn of_scope(&self, body: &[Stmt], taken: &[VarId], params: &[VarId], place: ScopeContext) -> Handover {
        let param_of = |outer: &VarId| taken.iter().position(|taken| taken == outer).map(|at| params[at]);
        let leaving: &[Operand] = match body.last() {
            Some(Stmt::Return { values, .. }) => values,
            _ => &[],
        };
        let back = |value: &Operand| param_of(self.carried.get(&value.var()?)?);
        let carried_back = leaving.iter().enumerate().filter_map(|(at, value)| Some((at, back(value)?)));
        let carried_back = if place.is_apart { Vec::new() } else { carried_back.collect() };
        let mut handover = Handover { carried_back, ..Handover::default() };
        for (outer, &param) in taken.iter().zip(params) {
            if place.in_carrying_loop || self.readers.get(outer) != Some(&1) {
                continue;
            }
            match place.read_by_host.contains(outer) {
                true => handover.unclear.push(param),
                false => handover.consumed.push(param),
            }
        }
        handover
    }
}

/// Where a scope stands in its host.
#[derive(Clone, Copy)]
pub(super) struct ScopeContext<'a> {
    /// In a loop that hands tensors from one round to the next.
    pub(super) in_carrying_loop: bool,
    /// In a scope of its own in there: the compiler looks at the calls of the loop's own list only.
    pub(super) is_apart: bool,
    /// Values that the host may read in statements which are not followed.
    pub(super) read_by_host: &'a FxHashSet<VarId>,
}

/// The compiler's Simplify puts the body of such a loop in its place.
pub(super) fn runs_once(kind: LoopKind, start: &Scalar, stop: &Scalar, step: &Scalar) -> bool {
    kind == LoopKind::Range && fold::trip_count(start, stop, step) == Some(1)
}

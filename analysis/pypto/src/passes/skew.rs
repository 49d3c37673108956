//! SkewCrossCorePipeline: a pipeline in which one core both sends to the other and waits for its answer. Where it sends first,
//! it runs some iterations ahead: they come before the loop, and their other halves after it. Every other such loop runs as
//! it is written. Pipelines that only send, or only receive, are left to [`super::pipeline`].

use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

use super::io_order::Drains;
use super::iterations::{Iteration, Stage, Staging, Tagged, as_value};
use crate::ir::{
    Carry, For, Kernel, LoopKind, Operand, Part, Role, Scalar, ScalarBinary, Stmt, Type, Value, VarId, fold, rewrite,
    visit,
};
use crate::ops::OpId;

/// Groups of stages that this pass makes count from here, so that none is that of a copied loop.
const FIRST_GROUP: u32 = 1 << 20;
/// Iterations that the sending core is ahead, at least, where there are enough.
const DEPTH: i64 = 2;

/// The indices of copied loops join `drains`.
pub(super) fn run(kernel: &mut Kernel, drains: &mut Drains) {
    let body = std::mem::take(&mut kernel.body);
    let mut skew = Skew { staging: Staging::new(kernel, FIRST_GROUP, drains) };
    let body = rewrite::expand_loops(body, &mut |inner, out| skew.for_loop(inner, out));
    kernel.body = body;
}

struct Skew<'a> {
    staging: Staging<'a>,
}

/// The halves of a loop's body, by the places of their statements.
struct Halves {
    statements: Vec<Stmt>,
    yields: Vec<Operand>,
    ahead: BTreeSet<usize>,
    behind: BTreeSet<usize>,
}

impl Skew<'_> {
    fn for_loop(&mut self, inner: For, out: &mut Vec<Stmt>) {
        let LoopKind::Pipeline { stages, .. } = inner.kind else { return out.push(Stmt::For(inner)) };
        if !(inner.body.iter().any(sends) && inner.body.iter().any(receives)) {
            return out.push(Stmt::For(inner));
        }
        let bounds = [&inner.start, &inner.step].map(fold::constant);
        let trips = inner.trip_count();
        let wanted = (i64::from(stages) - 1).max(DEPTH);
        match (bounds, trips, stages > 1) {
            ([Some(start), Some(step)], Some(trips), true) if trips >= 2 => match self.halves(&inner) {
                Some(halves) => {
                    // As deep as the number of iterations allows.
                    let fits = |depth: &i64| trips % depth == 0 && trips >= 2 * depth;
                    let depth = (1..=wanted).rev().find(fits).unwrap_or(1);
                    self.skewed(&inner, &halves, Lead { start, step, trips, depth }, out);
                }
                None => out.push(Stmt::For(For { kind: LoopKind::Range, ..inner })),
            },
            _ => out.push(Stmt::For(For { kind: LoopKind::Range, ..inner })),
        }
    }

    /// What leads to the first transfer, and the rest; `None` where the first half cannot run ahead.
    fn halves(&self, inner: &For) -> Option<Halves> {
        let mut statements = inner.body.clone();
        let yields = match statements.pop_if(|last| matches!(last, Stmt::Yield { .. })) {
            Some(Stmt::Yield { values, .. }) => values,
            _ => Vec::new(),
        };
        let count = |is: fn(&Stmt) -> bool| statements.iter().filter(|stmt| is(stmt)).count();
        if count(sends) != 1 || count(receives) != 1 {
            return None;
        }
        let first = statements.iter().position(|stmt| sends(stmt) || receives(stmt))?;
        // What is received is freed after its last use, which would be in the other half.
        if receives(&statements[first]) {
            return None;
        }
        let mut made_by: FxHashMap<VarId, usize> = FxHashMap::default();
        for (place, stmt) in statements.iter().enumerate() {
            visit::definitions(stmt, &mut |var| {
                made_by.insert(var, place);
            });
        }
        let ahead = slice(&statements, &made_by, [first]);
        if ahead.len() == statements.len() {
            return None;
        }
        let carried: FxHashSet<VarId> = inner.carries.iter().map(|carry| carry.iter).collect();
        let mut behind: BTreeSet<usize> = (0..statements.len()).filter(|place| !ahead.contains(place)).collect();
        let mut shared: BTreeSet<usize> = BTreeSet::new();
        let mut takes_carried = false;
        for &place in &ahead {
            visit::uses(&statements[place], &mut |var| takes_carried |= carried.contains(&var));
        }
        for &place in &behind {
            visit::uses(&statements[place], &mut |var| {
                shared.extend(made_by.get(&var).filter(|place| ahead.contains(place)));
            });
        }
        let yields_ahead = yields
            .iter()
            .filter_map(Operand::var)
            .any(|var| made_by.get(&var).is_some_and(|place| ahead.contains(place)));
        if takes_carried || yields_ahead {
            return None;
        }
        // What both halves need must be an address that either can compute.
        let again = slice(&statements, &made_by, shared);
        if !again.iter().all(|&place| self.is_scalar(&statements[place])) {
            return None;
        }
        behind.extend(again);
        Some(Halves { statements, yields, ahead, behind })
    }

    fn is_scalar(&self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let { var, value: Value::Scalar(_) | Value::Copy(_), .. } => {
                matches!(self.staging.kernel.var(*var).ty, Type::Scalar(_))
            }
            _ => false,
        }
    }

    fn skewed(&mut self, inner: &For, halves: &Halves, lead: Lead, out: &mut Vec<Stmt>) {
        let Lead { start, step, trips, depth } = lead;
        let group = self.staging.group(inner.kind.asked_stages());
        let numbered = |part: Part, nth: i64| Stage { group, nth, count: depth, part };
        let at = |iteration: i64| Scalar::Int(start.saturating_add(iteration.saturating_mul(step)));
        let by = |op, index: VarId, iterations: i64| {
            fold::binary(op, Scalar::Var(index), Scalar::Int(iterations.saturating_mul(step)))
        };
        let initial: Vec<Operand> = inner.carries.iter().map(|carry| carry.init.clone()).collect();
        for stage in 0..depth {
            let copy = self.half(inner, halves, &halves.ahead, at(stage), &initial, numbered(Part::Ahead, stage));
            out.extend(copy.body);
        }

        let index = self.staging.fresh(inner.index);
        let carries: Vec<Carry> = inner
            .carries
            .iter()
            .map(|carry| Carry {
                iter: self.staging.fresh(carry.iter),
                result: self.staging.named(carry.result, "_swp"),
                ..carry.clone()
            })
            .collect();
        let mut values: Vec<Operand> = carries.iter().map(|carry| Operand::Var(carry.iter)).collect();
        let mut body = Vec::new();
        for stage in 0..depth {
            let ahead = by(ScalarBinary::Add, index, stage);
            let copy = self.half(inner, halves, &halves.ahead, ahead, &values, numbered(Part::Stage, stage));
            body.extend(copy.body);
        }
        for stage in 0..depth {
            let behind = by(ScalarBinary::Sub, index, depth - stage);
            let copy = self.half(inner, halves, &halves.behind, behind, &values, numbered(Part::Stage, stage));
            body.extend(copy.body);
            values = copy.values;
        }
        if !carries.is_empty() {
            body.push(Stmt::Yield { values, origin: inner.origin });
        }
        let mut values: Vec<Operand> = carries.iter().map(|carry| Operand::Var(carry.result)).collect();
        out.push(Stmt::For(For {
            kind: LoopKind::Range,
            index,
            start: at(depth),
            stop: at(trips),
            step: Scalar::Int(depth.saturating_mul(step)),
            carries,
            body,
            origin: inner.origin,
        }));

        for stage in 0..depth {
            let last = at(trips - depth + stage);
            let copy = self.half(inner, halves, &halves.behind, last, &values, numbered(Part::Rest, stage));
            out.extend(copy.body);
            values = copy.values;
        }
        for (carry, value) in inner.carries.iter().zip(values) {
            self.staging.kernel.var_mut(carry.result).role = Role::Def;
            out.push(Stmt::Let { var: carry.result, value: as_value(value), origin: inner.origin });
        }
    }

    /// A copy of one half for one iteration.
    fn half(
        &mut self,
        inner: &For,
        halves: &Halves,
        which: &BTreeSet<usize>,
        index: Scalar,
        carried: &[Operand],
        stage: Stage,
    ) -> Iteration {
        let mut selected: Vec<Stmt> = which.iter().map(|&place| halves.statements[place].clone()).collect();
        selected.push(Stmt::Yield { values: halves.yields.clone(), origin: inner.origin });
        self.staging.stage(inner, &selected, index, carried, stage, Tagged::AllButReceived)
    }
}

/// The iterations of a loop, and how many of them one half is ahead of the other.
struct Lead {
    start: i64,
    step: i64,
    trips: i64,
    depth: i64,
}

/// The statements that some of them need, themselves included.
fn slice(
    statements: &[Stmt],
    made_by: &FxHashMap<VarId, usize>,
    from: impl IntoIterator<Item = usize>,
) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open: Vec<usize> = from.into_iter().collect();
    while let Some(place) = open.pop() {
        if found.insert(place) {
            visit::uses(&statements[place], &mut |var| open.extend(made_by.get(&var)));
        }
    }
    found
}

fn sends(stmt: &Stmt) -> bool {
    visit::call_of(stmt).is_some_and(|call| matches!(call.op, OpId::TPUSH_TO_AIC | OpId::TPUSH_TO_AIV))
}

fn receives(stmt: &Stmt) -> bool {
    visit::call_of(stmt).is_some_and(|call| matches!(call.op, OpId::TPOP_FROM_AIC | OpId::TPOP_FROM_AIV))
}

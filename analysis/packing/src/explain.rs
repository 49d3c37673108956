//! Why something does not fit, and what would make it fit. Dearer than packing: for the moment when it is asked for.

use super::conflicts::Conflicts;
use super::first_fit::MOST_PAIRS;
use super::liveness;
use super::lower_bound::lower_bound;
use super::problem::{Buffer, BufferIx, Interval, Lifetime, Problem};
use super::search::{Cancel, Feasibility, search};
use super::strategy::{Budget, Goal, Verdict, pack};

/// Buffers that no packing places within the capacity even by themselves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Core {
    pub buffers: Vec<BufferIx>,
    /// Without any one of them the others can be packed. False when the budget ended before that was clear.
    pub irreducible: bool,
    /// Nodes of the exact search.
    pub nodes: u64,
}

/// The reason for [`Verdict::Fragmented`] (or [`Verdict::OverCapacity`]): leaves out whatever the proof does without. `None` where
/// `nodes` are not enough to prove anything.
pub fn irreducible(problem: &Problem, nodes: u64, cancel: Cancel) -> Option<Core> {
    let mut core = Core { buffers: problem.indices().collect(), irreducible: true, nodes: 0 };
    if impossible(problem, nodes, &mut core.nodes, cancel) != Some(true) {
        return None;
    }
    // In halves, quarters and so on while many can go at once, then one by one.
    let mut chunk = core.buffers.len().div_ceil(2);
    while chunk > 0 {
        let mut at = 0;
        while at < core.buffers.len() {
            let end = (at + chunk).min(core.buffers.len());
            let rest: Vec<BufferIx> = core.buffers[..at].iter().chain(&core.buffers[end..]).copied().collect();
            match impossible(&problem.subset(&rest), nodes, &mut core.nodes, cancel) {
                Some(true) => {
                    core.buffers = rest;
                    continue;
                }
                Some(false) => {}
                None if chunk == 1 => core.irreducible = false,
                None => {}
            }
            at = end;
        }
        chunk /= 2;
    }
    Some(core)
}

/// Whether it is proved that there is no packing within the capacity, or that there is one.
fn impossible(problem: &Problem, nodes: u64, spent: &mut u64, cancel: Cancel) -> Option<bool> {
    if lower_bound(problem, &liveness::bound(problem)) > problem.capacity() {
        return Some(true);
    }
    let conflicts = Conflicts::of(problem, MOST_PAIRS)?;
    let answer = search(problem, &conflicts, problem.capacity(), nodes.saturating_sub(*spent), cancel);
    *spent += answer.nodes;
    match answer.found {
        Feasibility::Packed(_) => Some(false),
        Feasibility::Impossible => Some(true),
        Feasibility::Stopped => None,
    }
}

/// A change to one buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    Remove,
    /// To half its size, rounded up.
    Halve,
    /// Free it at this time already.
    EndAt(u64),
}

/// A change to one buffer with which everything fits, found by packing it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    pub buffer: BufferIx,
    pub change: Change,
    /// Of the packing with the change, in bytes.
    pub height: u64,
}

/// For a problem over capacity, the single changes that make it fit, in the order of the problem. Only buffers alive at every
/// instant that is over capacity can help; each change is packed within `budget` before it is called a fix.
pub fn fixes(problem: &Problem, budget: &Budget) -> Vec<Fix> {
    let usable = liveness::usable_capacity(problem);
    let levels = liveness::levels(problem, |ix| problem.buffer(ix).size);
    let over: Vec<Interval> = levels.iter().filter(|level| level.bytes > usable).map(|level| level.over).collect();
    let (Some(first), Some(worst)) = (over.first(), levels.iter().map(|level| level.bytes).max()) else {
        return Vec::new();
    };
    let alive_at_all = |buffer: &Buffer| over.iter().all(|over| buffer.lifetime.contains(over.start));
    let mut fixes = Vec::new();
    for ix in problem.indices() {
        let buffer = problem.buffer(ix);
        let others = worst.saturating_sub(buffer.size);
        if others > usable || buffer.fixed.is_some() || !alive_at_all(buffer) {
            continue;
        }
        let halved = Buffer { size: buffer.size.div_ceil(2), ..buffer.clone() };
        let earlier = ended_at(&buffer.lifetime, first.start).map(|lifetime| Buffer { lifetime, ..buffer.clone() });
        let changes = [
            (Change::Remove, Some(None)),
            (Change::Halve, (others + halved.size <= usable).then_some(Some(halved))),
            (Change::EndAt(first.start), earlier.map(Some)),
        ];
        for (change, changed) in changes {
            let Some(changed) = changed else { continue };
            let outcome = pack(&problem.with_buffer(ix, changed), &Budget { goal: Goal::Fit, ..*budget });
            if let Verdict::Fits { .. } = outcome.verdict {
                fixes.push(Fix { buffer: ix, change, height: outcome.placement.height });
            }
        }
    }
    fixes
}

/// What of a lifetime is before `time`; `None` where that is nothing.
fn ended_at(lifetime: &Lifetime, time: u64) -> Option<Lifetime> {
    let before = lifetime.intervals().filter(|interval| interval.start < time);
    let cut: Vec<Interval> = before.map(|interval| Interval::new(interval.start, interval.end.min(time))).collect();
    (!cut.is_empty()).then(|| Lifetime::union(cut))
}

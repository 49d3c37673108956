//! Soft constraints: pairs of buffers that may share bytes but should not if there is room, such as double buffers and buffers of
//! different pipes. As many are satisfied as there is room for.

use super::conflicts::Conflicts;
use super::first_fit::{Order, Placement};
use super::problem::validate;
use super::problem::{BufferIx, Problem};
use super::strategy::{Budget, Goal, Method, PackResult, Verdict, pack};

/// Single constraints that are tried, each with a packing.
const MOST_TRIED: usize = 32;

/// Buffers that these packings place in all: a packing without search costs time too, and the more the larger it is.
const MOST_REPACKED: usize = 800;

/// Conflicts and soft constraints up to which buffers are placed by what sharing costs.
const MOST_PAIRS: usize = 20_000;

/// A packing with as many soft constraints satisfied as was found possible.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Relaxed {
    /// With all soft constraints that are not in `relaxed` as no-alias pairs. Where not even the problem without them fits, that of
    /// the problem without them.
    pub outcome: PackResult,
    /// Positions of the soft constraints that are violated: their buffers share bytes. Empty when the outcome does not fit.
    pub relaxed: Vec<usize>,
}

/// Packs with `soft` constraints: pairs that should not share bytes if there is room, the dearest first. All of them if possible; else
/// gives up few. The budget is for all attempts together.
pub fn pack_relaxing(problem: &Problem, soft: &[(BufferIx, BufferIx)], budget: &Budget) -> Relaxed {
    let outcome = pack(problem, budget);
    if !fits(&outcome) {
        return Relaxed { outcome, relaxed: Vec::new() };
    }
    let rest = Budget { nodes: budget.nodes.saturating_sub(outcome.nodes), ..*budget };
    satisfy_soft_constraints(problem, soft, outcome, &rest)
}

/// The same for a problem of which a packing that fits is known.
pub fn satisfy_soft_constraints(
    problem: &Problem,
    soft: &[(BufferIx, BufferIx)],
    known: PackResult,
    budget: &Budget,
) -> Relaxed {
    let mut best = Satisfying { problem, soft, outcome: known, relaxed: Vec::new() };
    best.relaxed = best.violated(&best.outcome.placement.offsets);
    let mut nodes = budget.nodes / 2;
    if !best.relaxed.is_empty() {
        best.attempt(0..soft.len(), &Budget { nodes, ..*budget });
    }
    if best.relaxed.is_empty() {
        return best.done();
    }
    best.place_by_cost();
    let tried = MOST_TRIED.min(MOST_REPACKED / problem.buffers().len().max(1));
    for constraint in best.relaxed.clone().into_iter().take(tried) {
        // What was attempted before may have satisfied it in passing.
        if best.relaxed.binary_search(&constraint).is_err() {
            continue;
        }
        let kept: Vec<usize> =
            (0..soft.len()).filter(|at| *at == constraint || best.relaxed.binary_search(at).is_err()).collect();
        nodes -= best.attempt(kept, &Budget { goal: Goal::Fit, nodes: nodes / 4, ..*budget }).min(nodes);
    }
    best.done()
}

fn fits(outcome: &PackResult) -> bool {
    matches!(outcome.verdict, Verdict::Fits { .. })
}

struct Satisfying<'a> {
    problem: &'a Problem,
    soft: &'a [(BufferIx, BufferIx)],
    outcome: PackResult,
    /// Sorted.
    relaxed: Vec<usize>,
}

impl Satisfying<'_> {
    /// Packs with these soft constraints as no-alias pairs, and keeps what is better. Returns the nodes that it took.
    fn attempt(&mut self, kept: impl IntoIterator<Item = usize>, budget: &Budget) -> u64 {
        let pairs = kept.into_iter().map(|at| self.soft[at]);
        let outcome = pack(&self.problem.with_no_alias(pairs), budget);
        let nodes = outcome.nodes;
        if fits(&outcome) {
            self.keep_better(outcome.placement, outcome.method);
        }
        nodes
    }

    fn keep_better(&mut self, placement: Placement, method: Method) {
        let relaxed = self.violated(&placement.offsets);
        if (relaxed.len(), placement.height) < (self.relaxed.len(), self.outcome.placement.height) {
            (self.outcome.placement, self.outcome.method, self.relaxed) = (placement, method, relaxed);
        }
    }

    fn violated(&self, offsets: &[u64]) -> Vec<usize> {
        (0..self.soft.len()).filter(|at| share(self.problem, offsets, self.soft[*at])).collect()
    }

    fn done(self) -> Relaxed {
        let Satisfying { problem, mut outcome, relaxed, .. } = self;
        let optimal = outcome.placement.height <= outcome.lower_bound;
        if outcome.placement.height <= problem.capacity() {
            outcome.verdict = Verdict::Fits { optimal };
        }
        Relaxed { outcome, relaxed }
    }

    /// First-fit in several orders, but each buffer where it violates least, and lowest among those places.
    fn place_by_cost(&mut self) {
        let Some(conflicts) = Conflicts::of(self.problem, MOST_PAIRS) else { return };
        if self.soft.len() > MOST_PAIRS {
            return;
        }
        let mut apart: Vec<Vec<BufferIx>> = vec![Vec::new(); self.problem.buffers().len()];
        for (a, b) in self.soft.iter().flat_map(|&(a, b)| [(a, b), (b, a)]) {
            if let (Some(of), true) = (apart.get_mut(a.index()), b.index() < self.problem.buffers().len()) {
                of.push(b);
            }
        }
        let mut orders: Vec<Vec<BufferIx>> = Order::ALL.iter().map(|order| order.sorted(self.problem)).collect();
        let mut by_soft = Order::Size.sorted(self.problem);
        by_soft.sort_by_key(|ix| std::cmp::Reverse(apart[ix.index()].len()));
        orders.push(by_soft);
        for order in orders {
            let Some(offsets) = by_cost(self.problem, &conflicts, &apart, &order) else { continue };
            if validate(self.problem, &offsets).is_ok() {
                self.keep_better(Placement::new(self.problem, offsets), Method::FewestViolated);
            }
        }
    }
}

/// An offset for every buffer; `None` where one has no place within the capacity.
fn by_cost(problem: &Problem, conflicts: &Conflicts, apart: &[Vec<BufferIx>], order: &[BufferIx]) -> Option<Vec<u64>> {
    let mut offsets: Vec<Option<u64>> = problem.buffers().iter().map(|buffer| buffer.fixed).collect();
    let (mut taken, mut shared) = (Ranges::default(), Ranges::default());
    let mut places: Vec<u64> = Vec::new();
    for &ix in order {
        if offsets[ix.index()].is_some() {
            continue;
        }
        let buffer = problem.buffer(ix);
        let range = |other: BufferIx| offsets[other.index()].map(|at| (at, at + problem.buffer(other).size));
        let reserved = problem.reserved().iter().map(|range| (range.start, range.end));
        taken.set(conflicts.neighbours(ix).filter_map(range).chain(reserved));
        shared.set(apart[ix.index()].iter().copied().filter_map(range));
        places.clear();
        places.push(0);
        places.extend(taken.ends.iter().chain(&shared.ends).map(|top| top.next_multiple_of(buffer.align)));
        places.sort_unstable();
        places.dedup();
        let fitting = places.iter().copied().take_while(|at| at + buffer.size <= problem.capacity());
        let (mut taken, mut shared) = (taken.meeting(buffer.size), shared.meeting(buffer.size));
        let mut best: Option<(usize, u64)> = None;
        for at in fitting {
            if taken(at) == 0 {
                let violated = shared(at);
                best = best.filter(|&(least, _)| least <= violated).or(Some((violated, at)));
                if violated == 0 {
                    break;
                }
            }
        }
        offsets[ix.index()] = Some(best?.1);
    }
    offsets.into_iter().collect()
}

/// Ranges of bytes. Starts and ends are sorted, each by itself.
#[derive(Default)]
struct Ranges {
    starts: Vec<u64>,
    ends: Vec<u64>,
}

impl Ranges {
    fn set(&mut self, ranges: impl Iterator<Item = (u64, u64)>) {
        self.starts.clear();
        self.ends.clear();
        for (start, end) in ranges {
            self.starts.push(start);
            self.ends.push(end);
        }
        self.starts.sort_unstable();
        self.ends.sort_unstable();
    }

    /// How many of them meet `size` bytes at an offset: those that start before its end, but not those that end before its start.
    /// To be asked by ascending offset.
    fn meeting(&self, size: u64) -> impl FnMut(u64) -> usize + '_ {
        let (mut started, mut ended) = (0, 0);
        move |at| {
            started += self.starts[started..].iter().take_while(|&&start| start < at + size).count();
            ended += self.ends[ended..].iter().take_while(|&&end| end <= at).count();
            started - ended
        }
    }
}

/// Whether two buffers have bytes in common, at whatever times.
fn share(problem: &Problem, offsets: &[u64], (a, b): (BufferIx, BufferIx)) -> bool {
    let range = |ix: BufferIx| offsets.get(ix.index()).map(|&offset| (offset, offset + problem.buffer(ix).size));
    let (Some(first), Some(second)) = (range(a), range(b)) else { return false };
    first.0 < second.1 && second.0 < first.1
}

//! The schedule of a packing: bound, heuristics, exact search, from the cheapest to the dearest and no further than needed.

use super::baseline::{bump, share_then_bump};
use super::conflicts::Conflicts;
use super::first_fit::{Order, Placement, first_fit_in, sweep};
use super::liveness::{self, Bound};
use super::lower_bound::lower_bound;
use super::problem::validate_within;
use super::problem::{BufferIx, Problem};
use super::search::{self, search};

/// Pairs of conflicting buffers, and buffers, up to which [`pack`] tries more than one order: about 10 ms each.
const FEW_PAIRS: usize = 200_000;
const FEW_BUFFERS: usize = 20_000;

/// Nodes per buffer for the first look at the height of the bound.
const NODES_AT_BOUND: u64 = 16;

/// When to be content with a packing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// The first that is within the capacity; the one without reuse, if it is.
    Fit,
    /// The lowest there is.
    Lowest,
}

/// How hard to look. Only nodes count, so that the answer is the same on every machine; `cancel` is asked between nodes and
/// stops the search early, after which the answer depends on when it did.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    pub goal: Goal,
    /// Nodes of the exact search, over all its runs; 0 is heuristics only.
    pub nodes: u64,
    pub cancel: Option<&'a dyn Fn() -> bool>,
}

impl Budget<'_> {
    pub fn new(goal: Goal, nodes: u64) -> Self {
        Self { goal, nodes, cancel: None }
    }
}

/// One of four, never blended; each but [`Verdict::Undecided`] is proved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The placement is within the capacity.
    Fits {
        /// No packing is lower.
        optimal: bool,
    },
    /// More is live at one instant than there is room for: [`Bound::peaks`] begins with the witness.
    OverCapacity {
        /// Bytes by which the live set exceeds what is free of reserved ranges.
        overshoot: u64,
    },
    /// There is room at every instant, and yet no packing within the capacity: [`explain::irreducible`](super::explain::irreducible)
    /// says for which buffers.
    Fragmented,
    /// The budget ended first: the lowest packing is somewhere in `[lower_bound, height]` of the [`PackResult`].
    Undecided,
}

/// Where the placement of an [`PackResult`] came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    Bump,
    ShareThenBump,
    FirstFit(Order),
    Search,
    /// First-fit where it violates the fewest soft constraints.
    FewestViolated,
}

/// The answer to a [`Problem`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackResult {
    pub verdict: Verdict,
    /// The lowest packing found: valid in all but the capacity, where the verdict is not [`Verdict::Fits`].
    pub placement: Placement,
    pub method: Method,
    pub bound: Bound,
    /// No packing is lower than this, in bytes: the bound with all that alignment, reserved ranges, no-alias pairs and the search add to it.
    pub lower_bound: u64,
    /// Nodes of the exact search.
    pub nodes: u64,
}

/// Goes from bound to heuristics to exact search until the goal is reached, refuted or the budget spent.
pub fn pack(problem: &Problem, budget: &Budget) -> PackResult {
    let bound = liveness::bound(problem);
    let lower_bound = lower_bound(problem, &bound);
    let mut packer = Packer { problem, budget, lower_bound, best: BestPacking::bump(problem), nodes: 0 };
    let conflicts = packer.first_fit();
    if let Some(conflicts) = conflicts.filter(|_| budget.nodes > 0) {
        packer.search(&conflicts);
    }
    let verdict = packer.verdict(&bound);
    let Packer { lower_bound, best, nodes, .. } = packer;
    let BestPacking { placement, method } = checked(problem, best);
    PackResult { verdict, placement, method, bound, lower_bound, nodes }
}

struct Packer<'a> {
    problem: &'a Problem,
    budget: &'a Budget<'a>,
    /// Nothing is lower.
    lower_bound: u64,
    best: BestPacking,
    nodes: u64,
}

impl Packer<'_> {
    /// Whether no more is wanted.
    fn done(&self) -> bool {
        let height = self.best.placement.height;
        height <= self.lower_bound || self.budget.goal == Goal::Fit && height <= self.problem.capacity()
    }

    /// The cheap guesses. Returns the conflicts, if there is a point in going on with them.
    fn first_fit(&mut self) -> Option<Conflicts> {
        if self.done() {
            return None;
        }
        let problem = self.problem;
        let few = problem.buffers().len() <= FEW_BUFFERS;
        let Some(conflicts) = few.then(|| Conflicts::of(problem, FEW_PAIRS)).flatten() else {
            self.best.improve(Method::FirstFit(Order::Start), sweep(problem));
            return None;
        };
        for order in Order::ALL {
            self.best.improve(Method::FirstFit(order), first_fit_in(problem, &conflicts, &order.sorted(problem)));
            if self.done() {
                return None;
            }
        }
        // What shares whole groups stacks them; taken by ascending offset, first-fit can only be lower.
        let shared = share_then_bump(problem, &conflicts);
        let mut order: Vec<BufferIx> = problem.indices().collect();
        order.sort_by_key(|ix| shared.offsets[ix.index()]);
        self.best.improve(Method::ShareThenBump, first_fit_in(problem, &conflicts, &order));
        (!self.done()).then_some(conflicts)
    }

    fn search(&mut self, conflicts: &Conflicts) {
        let capacity = self.problem.capacity();
        // At the bound there is least freedom, so that an answer often comes at once; it ends everything.
        if self.lower_bound != capacity && (self.lower_bound < capacity || self.budget.goal == Goal::Lowest) {
            let briefly = NODES_AT_BOUND * self.problem.buffers().len() as u64;
            self.search_at(conflicts, self.lower_bound, briefly.min(self.budget.nodes / 4));
        }
        if self.lower_bound <= capacity && capacity < self.best.placement.height {
            self.search_at(conflicts, capacity, self.budget.nodes);
        }
        if self.budget.goal == Goal::Lowest {
            self.tighten(conflicts);
        }
    }

    /// Halves the interval between what is proved and what is found. A height that is not decided within its share of the
    /// budget is passed over: lower ones would only take longer.
    fn tighten(&mut self, conflicts: &Conflicts) {
        let share = self.budget.nodes / 16;
        let mut lowest = self.lower_bound;
        while !self.done() && self.nodes < self.budget.nodes {
            lowest = lowest.max(self.lower_bound);
            let Some(range) = self.best.placement.height.checked_sub(lowest + 1) else { return };
            let height = lowest + range / 2;
            if self.search_at(conflicts, height, share) {
                return;
            }
            if height < self.best.placement.height {
                lowest = search::next_height(self.problem, height);
            }
        }
    }

    /// Decides whether there is a packing of `height`, with at most `nodes`; says whether it was cancelled.
    fn search_at(&mut self, conflicts: &Conflicts, height: u64, nodes: u64) -> bool {
        if self.done() {
            return false;
        }
        let nodes = nodes.min(self.budget.nodes - self.nodes);
        let answer = search(self.problem, conflicts, height, nodes, self.budget.cancel);
        self.nodes += answer.nodes;
        match answer.found {
            search::Feasibility::Packed(offsets) => {
                self.best.improve(Method::Search, Placement::new(self.problem, offsets))
            }
            search::Feasibility::Impossible => {
                self.lower_bound = self.lower_bound.max(search::next_height(self.problem, height))
            }
            search::Feasibility::Stopped => return self.budget.cancel.is_some_and(|cancel| cancel()),
        }
        false
    }

    fn verdict(&self, bound: &Bound) -> Verdict {
        let capacity = self.problem.capacity();
        let height = self.best.placement.height;
        let overshoot = bound.bytes.saturating_sub(liveness::usable_capacity(self.problem));
        if height <= capacity {
            Verdict::Fits { optimal: height <= self.lower_bound }
        } else if overshoot > 0 {
            Verdict::OverCapacity { overshoot }
        } else if self.lower_bound > capacity {
            Verdict::Fragmented
        } else {
            Verdict::Undecided
        }
    }
}

struct BestPacking {
    placement: Placement,
    method: Method,
}

impl BestPacking {
    fn bump(problem: &Problem) -> Self {
        Self { placement: bump(problem), method: Method::Bump }
    }

    fn improve(&mut self, method: Method, placement: Placement) {
        if placement.height < self.placement.height {
            *self = Self { placement, method };
        }
    }
}

/// A packing that the validator rejects is a mistake in this library, and is not handed out.
fn checked(problem: &Problem, found: BestPacking) -> BestPacking {
    let verdict = validate_within(problem, &found.placement.offsets, found.placement.height);
    debug_assert_eq!(verdict, Ok(()), "{:?}", found.method);
    if verdict.is_ok() { found } else { BestPacking::bump(problem) }
}

//! From the cheapest answer to the dearest, and no further than needed.

use super::baseline::{bump, share_then_bump};
use super::conflicts::Conflicts;
use super::first_fit::{Order, Placement, first_fit_in, sweep};
use super::floor::floor;
use super::liveness::{self, Bound};
use super::problem::{BufferIx, Problem};
use super::validate::validate;

/// Pairs of conflicting buffers up to which [`pack`] tries more than one order: about 10 ms each.
const FEW_PAIRS: usize = 200_000;

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
    /// There is room at every instant, and yet no packing within the capacity.
    Fragmented {
        /// Buffers that cannot be packed even by themselves, and of which any fewer can where `irreducible`.
        subset: Vec<BufferIx>,
        irreducible: bool,
    },
    /// The budget ended first: the lowest packing is somewhere in `[floor, height]` of the [`Outcome`].
    Undecided,
}

/// Where the placement of an [`Outcome`] came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Method {
    Bump,
    ShareThenBump,
    FirstFit(Order),
    Search,
}

/// The answer to a [`Problem`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    pub verdict: Verdict,
    /// The lowest packing found: valid in all but the capacity, where the verdict is not [`Verdict::Fits`].
    pub placement: Placement,
    pub method: Method,
    pub bound: Bound,
    /// No packing is lower than this, in bytes: the bound with all that alignment, reserved ranges, no-alias pairs and the search add to it.
    pub floor: u64,
    /// Nodes of the exact search.
    pub nodes: u64,
}

/// Climbs from bound to heuristics to exact search until the goal is reached, refuted or the budget spent.
pub fn pack(problem: &Problem, budget: &Budget) -> Outcome {
    let bound = liveness::bound(problem);
    let floor = floor(problem, &bound);
    let goal = match budget.goal {
        Goal::Fit => floor.max(problem.capacity()),
        Goal::Lowest => floor,
    };
    let Found { placement, method } = checked(problem, heuristics(problem, goal));
    let overshoot = bound.bytes.saturating_sub(liveness::usable_capacity(problem));
    let verdict = if placement.height <= problem.capacity() {
        Verdict::Fits { optimal: placement.height == floor }
    } else if overshoot > 0 {
        Verdict::OverCapacity { overshoot }
    } else {
        Verdict::Undecided
    };
    Outcome { verdict, placement, method, bound, floor, nodes: 0 }
}

struct Found {
    placement: Placement,
    method: Method,
}

impl Found {
    fn improve(&mut self, method: Method, placement: Placement) {
        if placement.height < self.placement.height {
            *self = Self { placement, method };
        }
    }
}

/// A packing that the validator rejects is a mistake in this library; nobody shall see it.
fn checked(problem: &Problem, found: Found) -> Found {
    let verdict = validate(&problem.with_capacity(found.placement.height), &found.placement.offsets);
    debug_assert_eq!(verdict, Ok(()), "{:?}", found.method);
    if verdict.is_ok() { found } else { Found { placement: bump(problem), method: Method::Bump } }
}

/// The first cheap placement not above `goal`, or else the lowest.
fn heuristics(problem: &Problem, goal: u64) -> Found {
    let mut best = Found { placement: bump(problem), method: Method::Bump };
    if best.placement.height <= goal {
        return best;
    }
    let Some(conflicts) = Conflicts::of(problem, FEW_PAIRS) else {
        best.improve(Method::FirstFit(Order::Start), sweep(problem));
        return best;
    };
    for order in Order::ALL {
        best.improve(Method::FirstFit(order), first_fit_in(problem, &conflicts, &order.sorted(problem)));
        if best.placement.height <= goal {
            return best;
        }
    }
    // What shares whole groups stacks them; taken by ascending offset, first-fit can only be lower.
    let shared = share_then_bump(problem, &conflicts);
    let mut order: Vec<BufferIx> = problem.indices().collect();
    order.sort_by_key(|ix| shared.offsets[ix.index()]);
    best.improve(Method::ShareThenBump, first_fit_in(problem, &conflicts, &order));
    best
}

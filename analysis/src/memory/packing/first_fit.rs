//! First-fit: buffers one after the other, each at the lowest offset free for its whole lifetime.
//!
//! Only the order decides the height, and for every problem some order reaches the optimum (take the buffers of an optimal
//! packing by ascending offset). Which one is what [`search`](super::search) looks for; here are the cheap guesses.

use super::conflicts::Conflicts;
use super::free_list::FreeList;
use super::problem::{Buffer, BufferIx, Problem};

/// Pairs of conflicting buffers up to which orders other than [`Order::Start`] are tried: about 0.2 s and 64 MB.
pub const MOST_PAIRS: usize = 4_000_000;

/// The order in which first-fit takes the buffers; what still ties stays in the order of the problem.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Order {
    Input,
    /// Largest first, then longest alive.
    Size,
    /// Longest alive first, then largest.
    Lifetime,
    /// Earliest first, then largest.
    Start,
    /// Largest product of size and time alive first, then longest alive.
    Area,
}

impl Order {
    pub const ALL: [Order; 5] = [Order::Input, Order::Size, Order::Lifetime, Order::Start, Order::Area];

    pub fn name(self) -> &'static str {
        match self {
            Order::Input => "input",
            Order::Size => "size",
            Order::Lifetime => "lifetime",
            Order::Start => "start",
            Order::Area => "area",
        }
    }

    /// The buffers of `problem` in this order.
    pub fn sorted(self, problem: &Problem) -> Vec<BufferIx> {
        let mut keyed: Vec<(u128, u64, BufferIx)> = problem.indices().map(|ix| self.key(problem, ix)).collect();
        keyed.sort_unstable();
        keyed.into_iter().map(|(_, _, ix)| ix).collect()
    }

    fn key(self, problem: &Problem, ix: BufferIx) -> (u128, u64, BufferIx) {
        let Buffer { size, lifetime, .. } = problem.buffer(ix);
        let bytes = u128::from(*size);
        match self {
            Order::Input => (0, 0, ix),
            Order::Size => (!bytes, !lifetime.duration(), ix),
            Order::Lifetime => (!u128::from(lifetime.duration()), !size, ix),
            Order::Start => (u128::from(lifetime.start()), !size, ix),
            Order::Area => (!(bytes * u128::from(lifetime.duration())), !lifetime.duration(), ix),
        }
    }
}

/// An offset in bytes for every buffer, in the order of the problem, and the height that they reach.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    pub offsets: Vec<u64>,
    pub height: u64,
}

impl Placement {
    /// The height of `offsets`, which must be as many as there are buffers.
    pub fn new(problem: &Problem, offsets: Vec<u64>) -> Self {
        let tops = problem.buffers().iter().zip(&offsets).map(|(buffer, offset)| offset + buffer.size);
        let height = tops.max().unwrap_or(0);
        Self { offsets, height }
    }
}

/// First-fit in one order. O((n + p) log n) for p pairs of conflicting buffers; where p exceeds [`MOST_PAIRS`] the answer is
/// that of [`sweep`], whatever the order.
pub fn first_fit(problem: &Problem, order: Order) -> Placement {
    if order == Order::Start && sweep_is_exact(problem) {
        return sweep(problem);
    }
    match Conflicts::of(problem, MOST_PAIRS) {
        Some(conflicts) => first_fit_in(problem, &conflicts, &order.sorted(problem)),
        None => sweep(problem),
    }
}

/// First-fit in any order, which must name every buffer once. Fixed buffers are placed before all others.
pub fn first_fit_in(problem: &Problem, conflicts: &Conflicts, order: &[BufferIx]) -> Placement {
    let buffers = problem.buffers();
    let mut tops: Vec<u64> = vec![0; buffers.len()]; // 0: not placed, as no size is 0
    let mut offsets: Vec<u64> = vec![0; buffers.len()];
    for (ix, buffer) in buffers.iter().enumerate() {
        if let Some(fixed) = buffer.fixed {
            offsets[ix] = fixed;
            tops[ix] = fixed + buffer.size;
        }
    }
    let reserved: Vec<(u64, u64)> = problem.reserved().iter().map(|range| (range.start, range.end)).collect();
    let mut taken: Vec<(u64, u64)> = Vec::new();
    for ix in order {
        let at = ix.index();
        if tops[at] > 0 {
            continue;
        }
        taken.clear();
        taken.extend_from_slice(&reserved);
        let placed = conflicts.of_index(ix.0).iter().filter(|&&other| tops[other as usize] > 0);
        taken.extend(placed.map(|&other| (offsets[other as usize], tops[other as usize])));
        taken.sort_unstable();
        offsets[at] = lowest_gap(0, &taken, buffers[at].size, buffers[at].align);
        tops[at] = offsets[at] + buffers[at].size;
    }
    Placement::new(problem, offsets)
}

/// The lowest aligned offset, not below `from`, at which `size` bytes are free between ranges sorted by their start.
pub(super) fn lowest_gap(from: u64, taken: &[(u64, u64)], size: u64, align: u64) -> u64 {
    let mut offset = from.next_multiple_of(align);
    for &(start, end) in taken {
        if offset + size <= start {
            break;
        }
        if end > offset {
            offset = end.next_multiple_of(align);
        }
    }
    offset
}

/// Whether [`sweep`] is first-fit by start: it sees of a lifetime only where it starts and ends.
fn sweep_is_exact(problem: &Problem) -> bool {
    problem.no_alias().is_empty() && problem.buffers().iter().all(|b| b.fixed.is_none() && !b.lifetime.has_gaps())
}

/// First-fit by start in O(n log n), with a list of what is free as time goes on. Lifetimes count from their first start to
/// their last end, up to the start of every later no-alias partner, and fixed buffers from the beginning of the program to its end.
pub fn sweep(problem: &Problem) -> Placement {
    let buffers = problem.buffers();
    let mut free = FreeList::new();
    for range in problem.reserved() {
        free.take(range.start, range.end - range.start);
    }
    let mut offsets: Vec<u64> = vec![0; buffers.len()];
    for (fixed, size) in disjoint_fixed(problem) {
        free.take(fixed, size);
    }
    let ends = stretched_ends(problem);
    let mut by_end: Vec<u32> = (0..buffers.len() as u32).collect();
    by_end.sort_unstable_by_key(|&ix| (ends[ix as usize], ix));
    let mut dying = by_end.into_iter().peekable();
    for ix in Order::Start.sorted(problem) {
        let buffer = &buffers[ix.index()];
        while let Some(dead) = dying.next_if(|&ix| ends[ix as usize] <= buffer.lifetime.start()) {
            if buffers[dead as usize].fixed.is_none() {
                free.free(offsets[dead as usize], buffers[dead as usize].size);
            }
        }
        offsets[ix.index()] = match buffer.fixed {
            Some(fixed) => fixed,
            None => {
                // The highest gap is as good as endless for a checked problem.
                let offset = free.lowest(buffer.size, buffer.align).unwrap_or(0);
                free.take(offset, buffer.size);
                offset
            }
        };
    }
    Placement::new(problem, offsets)
}

/// Start and length of what the fixed buffers cover between them.
fn disjoint_fixed(problem: &Problem) -> Vec<(u64, u64)> {
    let mut fixed: Vec<(u64, u64)> =
        problem.buffers().iter().filter_map(|b| b.fixed.map(|offset| (offset, offset + b.size))).collect();
    fixed.sort_unstable();
    fixed.dedup_by(|next, last| {
        let joined = next.0 <= last.1;
        if joined {
            last.1 = last.1.max(next.1);
        }
        joined
    });
    fixed.into_iter().map(|(start, end)| (start, end - start)).collect()
}

fn stretched_ends(problem: &Problem) -> Vec<u64> {
    let mut ends: Vec<u64> = problem.buffers().iter().map(|buffer| buffer.lifetime.end()).collect();
    for &(a, b) in problem.no_alias() {
        for (first, later) in [(a, b), (b, a)] {
            let until = problem.buffer(later).lifetime.start().saturating_add(1);
            ends[first.index()] = ends[first.index()].max(until);
        }
    }
    ends
}

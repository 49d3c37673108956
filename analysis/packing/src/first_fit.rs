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
        let area = |b: &Buffer| u128::from(b.size) * u128::from(b.lifetime.duration());
        match self {
            Order::Input => problem.indices().collect(),
            Order::Size => sorted_by(problem, |b| (!b.size, !b.lifetime.duration())),
            Order::Lifetime => sorted_by(problem, |b| (!b.lifetime.duration(), !b.size)),
            Order::Start => sorted_by(problem, |b| (b.lifetime.start(), !b.size)),
            Order::Area => sorted_by(problem, |b| (!area(b), !b.lifetime.duration())),
        }
    }
}

fn sorted_by<K: Ord>(problem: &Problem, key: impl Fn(&Buffer) -> K) -> Vec<BufferIx> {
    let mut keyed: Vec<(K, BufferIx)> = problem.indices().map(|ix| (key(problem.buffer(ix)), ix)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, ix)| ix).collect()
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
    let mut placed = Placed::new(problem);
    for &ix in order {
        if problem.buffer(ix).fixed.is_none() {
            match conflicts.row(ix) {
                Some(conflict) => placed.below_row(ix, conflict),
                None => placed.among_neighbours(ix, conflicts.of_index(ix.0)),
            }
        }
    }
    Placement::new(problem, placed.offsets)
}

/// What first-fit has placed so far.
struct Placed<'a> {
    problem: &'a Problem,
    offsets: Vec<u64>,
    /// Per buffer its end; 0 where it is not placed, as no size is 0.
    tops: Vec<u64>,
    /// Start, end and buffer of all that is placed or reserved, sorted.
    ranges: Vec<(u64, u64, Option<BufferIx>)>,
    /// Scratch space.
    taken: Vec<(u64, u64)>,
}

impl<'a> Placed<'a> {
    fn new(problem: &'a Problem) -> Self {
        let count = problem.buffers().len();
        let mut placed =
            Self { problem, offsets: vec![0; count], tops: vec![0; count], ranges: Vec::new(), taken: Vec::new() };
        placed.ranges.extend(problem.reserved().iter().map(|range| (range.start, range.end, None)));
        for (ix, buffer) in problem.indices().zip(problem.buffers()) {
            if let Some(fixed) = buffer.fixed {
                placed.put(ix, fixed);
                placed.ranges.push((fixed, fixed + buffer.size, Some(ix)));
            }
        }
        placed.ranges.sort_unstable();
        placed
    }

    fn put(&mut self, ix: BufferIx, offset: u64) {
        self.offsets[ix.index()] = offset;
        self.tops[ix.index()] = offset + self.problem.buffer(ix).size;
    }

    /// Looks through everything placed, from the bottom, for what is in the way: quickest for small problems.
    fn below_row(&mut self, ix: BufferIx, conflict: impl Fn(u32) -> bool) {
        let Buffer { size, align, .. } = *self.problem.buffer(ix);
        let in_the_way = self.ranges.iter().filter(|(_, _, other)| other.is_none_or(|other| conflict(other.0)));
        let offset = lowest_gap(0, in_the_way.map(|&(start, end, _)| (start, end)), size, align);
        self.put(ix, offset);
        let range = (offset, offset + size, Some(ix));
        let at = self.ranges.partition_point(|other| *other < range);
        self.ranges.insert(at, range);
    }

    /// Sorts what is placed of the neighbours.
    fn among_neighbours(&mut self, ix: BufferIx, neighbours: &[u32]) {
        let Buffer { size, align, .. } = *self.problem.buffer(ix);
        self.taken.clear();
        self.taken.extend(self.problem.reserved().iter().map(|range| (range.start, range.end)));
        let placed = neighbours.iter().map(|&other| other as usize).filter(|&other| self.tops[other] > 0);
        self.taken.extend(placed.map(|other| (self.offsets[other], self.tops[other])));
        self.taken.sort_unstable();
        let offset = lowest_gap(0, self.taken.iter().copied(), size, align);
        self.put(ix, offset);
    }
}

/// The lowest aligned offset, not below `from`, at which `size` bytes are free between ranges sorted by their start.
pub(super) fn lowest_gap(from: u64, taken: impl Iterator<Item = (u64, u64)>, size: u64, align: u64) -> u64 {
    // Division is what this loop would spend its time on.
    let mask = if align.is_power_of_two() { Some(align - 1) } else { None };
    let aligned = |offset: u64| mask.map_or_else(|| offset.next_multiple_of(align), |mask| (offset + mask) & !mask);
    let mut offset = aligned(from);
    for (start, end) in taken {
        if offset + size <= start {
            break;
        }
        if end > offset {
            offset = aligned(end);
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
    let mut dying: Vec<(u64, u32)> = ends.into_iter().zip(0..).collect();
    dying.sort_unstable();
    let mut dying = dying.into_iter().peekable();
    for ix in Order::Start.sorted(problem) {
        let buffer = &buffers[ix.index()];
        while let Some((_, dead)) = dying.next_if(|&(end, _)| end <= buffer.lifetime.start()) {
            if buffers[dead as usize].fixed.is_none() {
                free.free(offsets[dead as usize], buffers[dead as usize].size);
            }
        }
        offsets[ix.index()] = match buffer.fixed {
            Some(fixed) => fixed,
            // The highest gap is as good as endless for a checked problem.
            None => free.take_lowest(buffer.size, buffer.align).unwrap_or(0),
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

//! The allocator of shared memory (`lib/Analysis/Allocation.cpp` of Triton, after "Algorithms for Compile-Time Memory Optimization", Gergov 1999).
//!
//! Buffers are placed by falling size, each at the lowest offset that is free for all of its live range; alignment and tasks are not looked at
//! then. What interferes afterwards is coloured and moved up, until nothing does. Order matters: of equal sizes, the earlier one goes first.

use std::collections::BTreeMap;

use tilefit_python::work;

use super::liveness::{LiveRange, Task, are_beside};

/// A buffer to place. The compiler's order of them: explicit ones as they are allocated, then scratch of operations, then calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Buffer {
    /// Bytes.
    pub size: u64,
    /// Bytes.
    pub alignment: u64,
    pub live: LiveRange,
    /// Where the operation stands that it belongs to.
    pub task: Option<Task>,
}

impl Buffer {
    fn aligned(&self, offset: u64) -> u64 {
        offset.checked_next_multiple_of(self.alignment.max(1)).unwrap_or(u64::MAX)
    }
}

/// Where each buffer starts, and what the block takes; bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    pub offsets: Vec<u64>,
    pub total: u64,
}

/// Places buffers as the compiler does.
pub fn allocate(buffers: &[Buffer]) -> Allocation {
    let mut by_size: Vec<usize> = (0..buffers.len()).collect();
    by_size.sort_by_key(|&buffer| std::cmp::Reverse(buffers[buffer].size));
    let mut offsets = lowest_free(buffers, &by_size);
    let mut neighbours = interference(buffers, &offsets);
    loop {
        let total = separate(buffers, &by_size, &neighbours, &mut offsets);
        neighbours = interference(buffers, &offsets);
        if neighbours.iter().all(Vec::is_empty) {
            return Allocation { offsets, total };
        }
    }
}

/// When the memory from an offset on is free, by that offset and, of equal ones, in the order of insertion.
#[derive(Default)]
struct Free {
    /// The place of each in `ranges`.
    at: BTreeMap<(u64, usize), usize>,
    /// In no order, to be gone through: with what each has in `at`.
    ranges: Vec<(LiveRange, (u64, usize))>,
    inserted: usize,
}

impl Free {
    fn insert(&mut self, offset: u64, range: LiveRange) {
        let key = (offset, self.inserted);
        self.at.insert(key, self.ranges.len());
        self.ranges.push((range, key));
        self.inserted += 1;
    }

    fn take_lowest(&mut self) -> Option<(u64, LiveRange)> {
        let ((offset, _), place) = self.at.pop_first()?;
        let (range, _) = self.ranges.swap_remove(place);
        if let Some((_, moved)) = self.ranges.get(place) {
            self.at.insert(*moved, place);
        }
        Some((offset, range))
    }
}

/// Offsets under which every buffer has the memory to itself, but for alignment and tasks.
fn lowest_free(buffers: &[Buffer], by_size: &[usize]) -> Vec<u64> {
    let mut offsets = vec![0; buffers.len()];
    let mut unplaced = by_size.to_vec();
    let mut free = Free::default();
    free.insert(0, LiveRange::ALWAYS);
    while let Some((offset, range)) = free.take_lowest() {
        let mut compared = unplaced.len();
        // Where it meets free memory that starts higher, that may yet be lower than what lies here now.
        let fits = |&buffer: &usize| {
            let live = buffers[buffer].live;
            let mut is_free = || {
                let mut others = free.ranges.iter();
                let is_free = !others.any(|(other, _)| live.meets(*other));
                compared += free.ranges.len() - others.len();
                is_free
            };
            live.meets(range) && is_free()
        };
        let found = unplaced.iter().position(fits);
        work::spend_on_pairs(compared);
        let Some(found) = found else { continue };
        let buffer = unplaced.remove(found);
        let Buffer { size, live, .. } = buffers[buffer];
        offsets[buffer] = buffers[buffer].aligned(offset);
        free.insert(offsets[buffer].saturating_add(size), range.common(live));
        if range.start < live.start {
            free.insert(offset, LiveRange { start: range.start, end: live.end });
        }
        if live.end < range.end {
            free.insert(offset, LiveRange { start: live.start, end: range.end });
        }
    }
    offsets
}

/// The buffers that share bytes with each one while both are in use.
fn interference(buffers: &[Buffer], offsets: &[u64]) -> Vec<Vec<usize>> {
    let interfere = |one: usize, other: usize| {
        let (first, second) = (&buffers[one], &buffers[other]);
        let bytes = offsets[one] < offsets[other].saturating_add(second.size)
            && offsets[other] < offsets[one].saturating_add(first.size);
        bytes && (first.live.meets(second.live) || are_beside(first.task, second.task))
    };
    let mut neighbours = vec![Vec::new(); buffers.len()];
    let mut note = |one: usize, other: usize| {
        neighbours[one].push(other);
        neighbours[other].push(one);
    };
    let mut by_start: Vec<usize> = (0..buffers.len()).collect();
    by_start.sort_by_key(|&buffer| buffers[buffer].live.start);
    for (i, &one) in by_start.iter().enumerate() {
        let together = by_start[i + 1..].iter().take_while(|&&other| buffers[other].live.start < buffers[one].live.end);
        let mut compared = 0;
        for &other in together {
            compared += 1;
            if interfere(one, other) {
                note(one, other);
            }
        }
        work::spend_on_pairs(compared);
    }
    // What runs in tasks interferes also where it is not live together.
    let in_tasks: Vec<usize> = (0..buffers.len()).filter(|&buffer| buffers[buffer].task.is_some()).collect();
    for (i, &one) in in_tasks.iter().enumerate() {
        work::spend_on_pairs(i);
        for &other in &in_tasks[..i] {
            if !buffers[one].live.meets(buffers[other].live) && interfere(one, other) {
                note(one, other);
            }
        }
    }
    neighbours
}

/// Colours buffers so that no two neighbours have one colour, and moves all but those of the first above their neighbours. Returns the total.
fn separate(buffers: &[Buffer], by_size: &[usize], neighbours: &[Vec<usize>], offsets: &mut [u64]) -> u64 {
    let mut colours: Vec<Option<usize>> = vec![None; buffers.len()];
    for &buffer in by_size {
        let taken: Vec<usize> = neighbours[buffer].iter().filter_map(|&neighbour| colours[neighbour]).collect();
        colours[buffer] = (0..).find(|colour| !taken.contains(colour));
    }
    let mut total = 0;
    for &buffer in by_size {
        if colours[buffer] != Some(0) {
            let end = |&neighbour: &usize| offsets[neighbour].saturating_add(buffers[neighbour].size);
            let above = neighbours[buffer].iter().map(end).max().unwrap_or(0);
            offsets[buffer] = buffers[buffer].aligned(above);
        }
        total = total.max(offsets[buffer].saturating_add(buffers[buffer].size));
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(size: u64, alignment: u64, live: (u32, u32)) -> Buffer {
        Buffer { size, alignment, live: LiveRange { start: live.0, end: live.1 }, task: None }
    }

    fn check(buffers: &[Buffer], offsets: &[u64], total: u64) {
        assert_eq!(allocate(buffers), Allocation { offsets: offsets.to_vec(), total });
    }

    #[test]
    fn nothing_takes_nothing() {
        check(&[], &[], 0);
    }

    #[test]
    fn the_largest_lies_at_0_and_equal_sizes_in_their_order() {
        check(&[buffer(8, 16, (0, 3)), buffer(64, 128, (0, 3)), buffer(64, 128, (0, 3))], &[192, 0, 128], 200);
    }

    #[test]
    fn buffers_that_are_not_live_together_share_memory() {
        check(&[buffer(64, 16, (0, 1)), buffer(48, 16, (1, 2))], &[0, 0], 64);
    }

    #[test]
    fn alignment_leaves_a_gap() {
        check(&[buffer(48, 16, (0, 2)), buffer(32, 1024, (0, 2))], &[0, 1024], 1056);
    }

    #[test]
    fn what_runs_in_two_tasks_shares_nothing() {
        let in_task = |region| Buffer { task: Some(Task { group: 0, region }), ..buffer(64, 16, (region, region + 1)) };
        check(&[in_task(0), in_task(1)], &[0, 64], 128);
    }
}

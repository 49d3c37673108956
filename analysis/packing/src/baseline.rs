//! What planners do that do not pack: the heights to be no worse than.

use super::conflicts::Conflicts;
use super::first_fit::{Placement, lowest_gap};
use super::problem::{BufferIx, Problem};

/// One address range for every buffer, nothing shared: in the order of the problem, around what is reserved or fixed.
pub fn bump(problem: &Problem) -> Placement {
    let mut stack = Stack::new(problem);
    for (ix, buffer) in problem.indices().zip(problem.buffers()).filter(|(_, buffer)| buffer.fixed.is_none()) {
        stack.push(&[ix], buffer.size, buffer.align);
    }
    stack.placement()
}

/// Largest buffer first, each joins the first group without a conflict; the groups are stacked, each as high as its
/// largest member. Holes in a group are not used, which is why packing beats it.
pub fn share_then_bump(problem: &Problem, conflicts: &Conflicts) -> Placement {
    let mut order: Vec<BufferIx> = problem.indices().filter(|&ix| problem.buffer(ix).fixed.is_none()).collect();
    order.sort_by_key(|&ix| std::cmp::Reverse(problem.buffer(ix).size));
    let mut groups: Vec<Group> = Vec::new();
    let mut group_of: Vec<Option<usize>> = vec![None; problem.buffers().len()];
    let mut hostile_to: Vec<Option<BufferIx>> = Vec::new(); // per group, the last buffer found in conflict with a member
    for ix in order {
        for other in conflicts.neighbours(ix) {
            if let Some(group) = group_of[other.index()] {
                hostile_to[group] = Some(ix);
            }
        }
        let alone = Group::of(problem, ix);
        let joins = |group: usize| hostile_to[group] != Some(ix) && groups[group].align.is_multiple_of(alone.align);
        let joined = (0..groups.len()).find(|&group| joins(group));
        group_of[ix.index()] = Some(joined.unwrap_or(groups.len()));
        match joined {
            Some(group) => groups[group].members.push(ix),
            None => {
                groups.push(alone);
                hostile_to.push(None);
            }
        }
    }
    let mut stack = Stack::new(problem);
    for Group { members, size, align } in groups {
        stack.push(&members, size, align);
    }
    stack.placement()
}

/// Buffers at one address.
struct Group {
    members: Vec<BufferIx>,
    size: u64,
    align: u64,
}

impl Group {
    fn of(problem: &Problem, ix: BufferIx) -> Self {
        let buffer = problem.buffer(ix);
        Self { members: vec![ix], size: buffer.size, align: buffer.align }
    }
}

/// Address ranges, every one above the one before it, past what is reserved or fixed.
struct Stack<'a> {
    problem: &'a Problem,
    taken: Vec<(u64, u64)>,
    offsets: Vec<u64>,
    top: u64,
}

impl<'a> Stack<'a> {
    fn new(problem: &'a Problem) -> Self {
        let mut taken: Vec<(u64, u64)> = problem.reserved().iter().map(|range| (range.start, range.end)).collect();
        let mut offsets = vec![0; problem.buffers().len()];
        for (offset, buffer) in offsets.iter_mut().zip(problem.buffers()) {
            if let Some(fixed) = buffer.fixed {
                *offset = fixed;
                taken.push((fixed, fixed + buffer.size));
            }
        }
        taken.sort_unstable();
        Self { problem, taken, offsets, top: 0 }
    }

    fn push(&mut self, members: &[BufferIx], size: u64, align: u64) {
        let offset = lowest_gap(self.top, self.taken.iter().copied(), size, align);
        for ix in members {
            self.offsets[ix.index()] = offset;
        }
        self.top = offset + size;
    }

    fn placement(self) -> Placement {
        Placement::new(self.problem, self.offsets)
    }
}

//! What planners do that do not pack: the heights to be no worse than.

use super::conflicts::Conflicts;
use super::first_fit::{Placement, lowest_gap};
use super::problem::{BufferIx, Problem};

/// One address range for every buffer, nothing shared: in the order of the problem, around what is reserved or fixed.
pub fn bump(problem: &Problem) -> Placement {
    let free = problem.indices().filter(|&ix| problem.buffer(ix).fixed.is_none());
    stack(problem, free.map(|ix| Group::of(problem, ix)).collect())
}

/// Largest buffer first, each joins the first group with nobody in conflict; the groups are stacked, each as high as its
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
    stack(problem, groups)
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

/// Every group above the one before it, past what is reserved or fixed.
fn stack(problem: &Problem, groups: Vec<Group>) -> Placement {
    let mut taken: Vec<(u64, u64)> = problem.reserved().iter().map(|range| (range.start, range.end)).collect();
    let mut offsets = vec![0; problem.buffers().len()];
    for (offset, buffer) in offsets.iter_mut().zip(problem.buffers()) {
        if let Some(fixed) = buffer.fixed {
            *offset = fixed;
            taken.push((fixed, fixed + buffer.size));
        }
    }
    taken.sort_unstable();
    let mut top = 0;
    for Group { members, size, align } in groups {
        let offset = lowest_gap(top, &taken, size, align);
        for ix in members {
            offsets[ix.index()] = offset;
        }
        top = offset + size;
    }
    Placement::new(problem, offsets)
}

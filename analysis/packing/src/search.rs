//! The exact search: whether there is a packing of a given height, in the manner of MiniMalloc (M. D. Moffitt, "MiniMalloc: A
//! Lightweight Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS 2023).
//!
//! Buffers are placed by ascending offset, each as low as those below it allow. Every packing can be pushed down into that form,
//! so a search over it that finds nothing is a proof. Where buffers that do not meet any more are left, their parts of the
//! program are searched one by one.

mod instance;
mod tree;

use instance::Instance;
use tree::{Tree, Walk};

use super::conflicts::Conflicts;
use super::problem::{BufferIx, Problem};

/// Buffers in one part of the program above which the search is not begun: it goes as deep as there are buffers.
pub(super) const MOST_BUFFERS: usize = 1_000;

/// What buffers at the same offset are ordered by, largest first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Preorder {
    keys: Keys,
    width: Width,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Keys {
    /// Width, area, most bytes live beside it.
    WidthAreaTotal,
    TotalAreaWidth,
    TotalWidthArea,
}

/// How long a buffer is alive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Width {
    /// As the lifetime counts it.
    Time,
    /// In sections: the same however finely time is counted, such as by the statements of a kernel.
    Sections,
    /// In buffers that it is alive with.
    Neighbours,
}

/// No one order is good for every problem, so that all of them take turns, each with as many nodes as all turns before.
const PREORDERS: [Preorder; 5] = [
    Preorder { keys: Keys::TotalWidthArea, width: Width::Time },
    Preorder { keys: Keys::TotalAreaWidth, width: Width::Sections },
    Preorder { keys: Keys::WidthAreaTotal, width: Width::Sections },
    Preorder { keys: Keys::TotalWidthArea, width: Width::Sections },
    Preorder { keys: Keys::TotalAreaWidth, width: Width::Neighbours },
];

/// Whether there is a packing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Feasibility {
    Packed(Vec<u64>),
    /// There is none.
    Impossible,
    /// The nodes ran out, or it was cancelled.
    Stopped,
}

pub(super) struct Answer {
    pub(super) found: Feasibility,
    pub(super) nodes: u64,
}

pub(super) type Cancel<'a> = Option<&'a dyn Fn() -> bool>;

/// Searches for a packing no higher than `height` with at most `nodes` placements tried, each costing about a microsecond.
pub(super) fn search(problem: &Problem, conflicts: &Conflicts, height: u64, nodes: u64, cancel: Cancel) -> Answer {
    let mut offsets = vec![0; problem.buffers().len()];
    let mut spent = 0;
    let mut stopped = false;
    for part in instance::parts(problem) {
        let (found, nodes) = search_part(problem, conflicts, &part, height, nodes - spent, cancel);
        spent += nodes;
        match found {
            Feasibility::Impossible => return Answer { found, nodes: spent },
            // A later part may still be impossible, cheaply.
            Feasibility::Stopped => stopped = true,
            Feasibility::Packed(part_offsets) => {
                for (ix, offset) in part.iter().zip(part_offsets) {
                    offsets[ix.index()] = offset;
                }
            }
        }
    }
    Answer { found: if stopped { Feasibility::Stopped } else { Feasibility::Packed(offsets) }, nodes: spent }
}

/// Offsets in the order of `part`.
fn search_part(
    problem: &Problem,
    conflicts: &Conflicts,
    part: &[BufferIx],
    height: u64,
    nodes: u64,
    cancel: Cancel,
) -> (Feasibility, u64) {
    if part.len() > MOST_BUFFERS {
        return (Feasibility::Stopped, 0);
    }
    let Some(instance) = Instance::new(problem, conflicts, part, height.min(i64::MAX as u64)) else {
        return (Feasibility::Impossible, 0);
    };
    let mut spent = 0;
    let mut turn = 4 * part.len() as u64;
    loop {
        for preorder in PREORDERS {
            let mut tree = Tree::new(&instance, preorder, turn.min(nodes - spent), cancel);
            let walk = tree.walk();
            spent += tree.nodes();
            match walk {
                Walk::Packed => return (Feasibility::Packed(instance.offsets(&tree.placed())), spent),
                Walk::Failed => return (Feasibility::Impossible, spent),
                Walk::Stopped if spent >= nodes || cancel.is_some_and(|cancel| cancel()) => {
                    return (Feasibility::Stopped, spent);
                }
                Walk::Stopped => {}
            }
        }
        turn *= 2;
    }
}

/// The lowest height above `height` that a packing can have.
pub(super) fn next_height(problem: &Problem, height: u64) -> u64 {
    let all: Vec<BufferIx> = problem.indices().collect();
    let granule = instance::granule(problem, &all);
    (height / granule + 1) * granule
}

#[cfg(test)]
mod tests {
    use super::super::{Buffer, MOST_PAIRS, Spec};
    use super::*;

    fn problem(buffers: Vec<Buffer>) -> (Problem, Conflicts) {
        let problem = Problem::new(Spec { buffers, ..Spec::default() }).unwrap();
        let conflicts = Conflicts::of(&problem, MOST_PAIRS).unwrap();
        (problem, conflicts)
    }

    /// The search is as deep as there are buffers; test threads have the 2 MB of stack that a server's have.
    #[test]
    fn the_largest_part_does_not_overflow_the_stack() {
        let count = MOST_BUFFERS as u64;
        let (problem, conflicts) =
            problem((0..count).map(|at| Buffer::new(at.to_string(), 1 + at % 7, 0, 1)).collect());
        let height = problem.buffers().iter().map(|buffer| buffer.size).sum();
        assert!(matches!(search(&problem, &conflicts, height, 10_000, None).found, Feasibility::Packed(_)));
        assert_eq!(search(&problem, &conflicts, height - 1, 10_000, None).found, Feasibility::Impossible);
    }

    #[test]
    fn more_buffers_in_one_part_are_not_searched() {
        let count = MOST_BUFFERS as u64 + 1;
        let (problem, conflicts) = problem((0..count).map(|at| Buffer::new(at.to_string(), 1, 0, 1)).collect());
        let answer = search(&problem, &conflicts, count, 10_000, None);
        assert_eq!((answer.found, answer.nodes), (Feasibility::Stopped, 0));
    }

    #[test]
    fn stops_where_the_budget_ends_and_when_told_to() {
        let text = include_str!("../../../tests/benchmarks/minimalloc/B.1048576.csv");
        let problem = super::super::csv::read(text, 1_048_576).unwrap();
        let conflicts = Conflicts::of(&problem, MOST_PAIRS).unwrap();
        let answer = search(&problem, &conflicts, 1_048_576, 5_000, None);
        assert_eq!((answer.found, answer.nodes), (Feasibility::Stopped, 5_000));
        let looks = std::cell::Cell::new(0);
        let cancel = || {
            looks.set(looks.get() + 1);
            looks.get() > 3
        };
        let answer = search(&problem, &conflicts, 1_048_576, 5_000_000, Some(&cancel));
        assert_eq!(answer.found, Feasibility::Stopped);
        assert!(answer.nodes <= 4 * 256 + 256, "{}", answer.nodes);
    }
}

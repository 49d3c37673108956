//! The completed program.

use rustc_hash::FxHashMap;
use tilefit_python::finding::Origin;

use super::blocks::BlockId;
use super::ordering::{Barrier, Pair};
use crate::codegen::sequence::{By, Step, Sync};

/// Flags and barriers by list and place.
pub(super) struct Placed {
    after: FxHashMap<(BlockId, usize), Vec<(Sync, Origin)>>,
    before: FxHashMap<(BlockId, usize), Vec<(Sync, Origin)>>,
    next_block: BlockId,
}

impl Placed {
    /// `origins`: those of the instructions, by number.
    pub(super) fn new(pairs: &[Pair], barriers: &[Barrier], origins: &[Origin]) -> Placed {
        let mut placed = Placed { after: FxHashMap::default(), before: FxHashMap::default(), next_block: 0 };
        for barrier in barriers {
            let place = placed.before.entry((barrier.block, barrier.gap)).or_default();
            place.push((Sync::Barrier(Some(barrier.pipe)), origins[barrier.later as usize]));
        }
        for pair in pairs {
            let Pair { src, dst, event, .. } = *pair;
            let (set, wait) = (Sync::Set { src, dst, event }, Sync::Wait { src, dst, event });
            placed.after.entry((pair.block, pair.item)).or_default().push((set, origins[pair.earlier as usize]));
            placed.before.entry((pair.block, pair.gap)).or_default().push((wait, origins[pair.later as usize]));
        }
        placed
    }
}

/// Visits the lists in the order of [`super::blocks::flatten`].
pub(super) fn insert(steps: &mut Vec<Step>, placed: &mut Placed) {
    let block = placed.next_block;
    placed.next_block += 1;
    let count = steps.len();
    let mut complete = Vec::with_capacity(count * 2);
    for (index, mut step) in std::mem::take(steps).into_iter().enumerate() {
        let before = placed.before.remove(&(block, index)).unwrap_or_default();
        complete.extend(before.into_iter().map(added));
        match &mut step {
            Step::Loop(node) => insert(&mut node.body, placed),
            Step::If(node) => {
                insert(&mut node.then, placed);
                if let Some(otherwise) = &mut node.otherwise {
                    insert(otherwise, placed);
                }
            }
            _ => {}
        }
        complete.push(step);
        let after = placed.after.remove(&(block, index)).unwrap_or_default();
        complete.extend(after.into_iter().map(added));
    }
    let end = placed.before.remove(&(block, count)).unwrap_or_default();
    complete.extend(end.into_iter().map(added));
    *steps = complete;
}

fn added((sync, origin): (Sync, Origin)) -> Step {
    Step::Sync(sync, By::Stage(origin))
}

//! Two kernels side by side, of which every count is known.
//!
//! A push waits until its queue has a free slot, a pop until it has a full one, and the kernel waits with it (`wait_flag_dev` of 910B, where
//! a pop copies the tile and so frees its slot). Slots that become free are told in groups, half of them at a time.

use rustc_hash::FxHashMap;
use tilefit_python::finding::Origin;

use crate::codegen::sequence::Action;

use super::transfers::{End, Ring, Times, TransferStep, Transfers};

/// Transfers of both kernels that are followed.
const MOST: u64 = 50_000;

/// Where a kernel waits for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stuck {
    pub(super) end: End,
    pub at: Origin,
    /// How many such transfers it has made before.
    pub(super) number: u64,
}

/// Where the kernels of the cube and the vector core wait for each other; `None` if they do not, or if that is not known.
pub(super) fn stuck(cube: &Transfers, vector: &Transfers) -> Option<[Stuck; 2]> {
    let slots = slots(cube, vector)?;
    let traces = [trace(cube)?, trace(vector)?];
    let mut run = Run { slots, done: FxHashMap::default() };
    let mut at = [0; 2];
    loop {
        let before = at;
        for (kernel, trace) in traces.iter().enumerate() {
            while trace.get(at[kernel]).is_some_and(|(end, _)| run.goes_on(*end)) {
                at[kernel] += 1;
            }
        }
        if at == before {
            break;
        }
    }
    let waits = |kernel: usize| {
        let &(end, origin) = traces[kernel].get(at[kernel])?;
        Some(Stuck { end, at: origin, number: run.done.get(&end).copied().unwrap_or(0) })
    };
    Some([waits(0)?, waits(1)?])
}

struct Run {
    slots: FxHashMap<i64, u64>,
    done: FxHashMap<End, u64>,
}

impl Run {
    fn goes_on(&mut self, end: End) -> bool {
        let done = |run: &Run, action| run.done.get(&End { action, ..end }).copied().unwrap_or(0);
        let (pushed, popped) = (done(self, Action::Push), done(self, Action::Pop));
        let can = match end.action {
            Action::Pop => popped < pushed,
            _ => self.has_room(end.ring, pushed, popped),
        };
        if can {
            *self.done.entry(end).or_default() += 1;
        }
        can
    }

    /// Whether what was told of free slots is enough for one more push.
    fn has_room(&self, ring: Ring, pushed: u64, popped: u64) -> bool {
        let slots = self.slots.get(&ring.id).copied().unwrap_or(1);
        let period = if slots <= 2 { slots } else { slots / 2 };
        if pushed < slots || !pushed.is_multiple_of(period) {
            return true;
        }
        // It waits at every such number from the first that is not below the slots on.
        let awaited = pushed / period - slots.div_ceil(period);
        popped / period > awaited
    }
}

/// By id; both kernels have to agree.
fn slots(cube: &Transfers, vector: &Transfers) -> Option<FxHashMap<i64, u64>> {
    let mut all = FxHashMap::default();
    for &(id, slots) in cube.slots.iter().chain(&vector.slots) {
        let slots = slots?;
        if *all.entry(id).or_insert(slots) != slots {
            return None;
        }
    }
    let is_known = |end: &End| all.contains_key(&end.ring.id);
    cube.ends().iter().chain(&vector.ends()).all(is_known).then_some(all)
}

fn trace(kernel: &Transfers) -> Option<Vec<(End, Origin)>> {
    let mut events = Vec::new();
    follow(&kernel.steps, &mut events)?;
    Some(events)
}

fn follow(steps: &[TransferStep], events: &mut Vec<(End, Origin)>) -> Option<()> {
    for step in steps {
        match step {
            TransferStep::Transfer { .. } if events.len() as u64 >= MOST => return None,
            TransferStep::Transfer { end, at } => events.push((*end, *at)),
            TransferStep::Repeat { times: Times { least, most }, steps } if Some(*least) == *most => {
                let before = events.len();
                for _ in 0..*least {
                    follow(steps, events)?;
                    if events.len() == before {
                        break;
                    }
                }
            }
            TransferStep::Repeat { .. } | TransferStep::Either(..) => return None,
        }
    }
    Some(())
}

//! Where operations stand, and whether global memory is written between two of them. What is loaded, and brought to shared memory only where a product
//! takes it, is brought there right behind the load, but not past such a write (`ReorderInstructions.cpp`).

use rustc_hash::FxHashMap;

use super::super::program::{Block, Kind, Op, ValueId};
use super::super::simplify::{Space, Written, written};

#[derive(Default)]
pub(super) struct Places {
    /// Which operation gives a value.
    nth: FxHashMap<ValueId, usize>,
    /// All operations, each in front of those in it.
    ops: Vec<Place>,
    /// Those that write global memory, in order.
    writes: Vec<usize>,
}

struct Place {
    /// The operation around it.
    around: Option<usize>,
    is_loop: bool,
    /// The first one behind it and all that is in it.
    end: usize,
}

impl Places {
    pub(super) fn of(body: &Block) -> Places {
        let mut places = Places::default();
        places.read(body, None);
        places
    }

    fn read(&mut self, block: &Block, around: Option<usize>) {
        for op in &block.ops {
            let nth = self.ops.len();
            self.nth.extend(op.results.iter().map(|&result| (result, nth)));
            let is_loop = matches!(op.kind, Kind::For { .. } | Kind::While { .. });
            self.ops.push(Place { around, is_loop, end: 0 });
            if writes_global(op) {
                self.writes.push(nth);
            }
            op.kind.blocks().into_iter().for_each(|inner| self.read(inner, Some(nth)));
            self.ops[nth].end = self.ops.len();
        }
    }

    /// Whether global memory is written behind what gives one value and up to what gives another, or anywhere in an operation around that.
    pub(super) fn is_written_between(&self, from: ValueId, to: ValueId) -> bool {
        let (Some(&from), Some(&to)) = (self.nth.get(&from), self.nth.get(&to)) else { return false };
        let (mut at, mut end, mut leaves_loops) = (to, to, true);
        while self.ops[at].around != self.ops[from].around {
            let Some(around) = self.ops[at].around else { return false };
            leaves_loops &= self.ops[around].is_loop;
            // What is the same in all rounds of a loop is done in front of it.
            end = if leaves_loops { around } else { self.ops[around].end };
            at = around;
        }
        let first = self.writes.partition_point(|&write| write <= from);
        self.writes.get(first).is_some_and(|&write| write < end)
    }
}

fn writes_global(op: &Op) -> bool {
    op.name != "debug_barrier" && matches!(written(op), Written::Only(Space::Global) | Written::All)
}

//! Where operations stand, and whether something is between two of them that nothing is moved past: what writes global memory, products of tensor
//! memory, and loops that load for later rounds. What is loaded, and brought to shared memory only where a product takes it, is brought there right
//! behind the load, but not past one of those (`ReorderInstructions.cpp`). Before Triton 3.9 it was, past anything.

use rustc_hash::FxHashMap;

use super::super::device::Compiler;
use super::super::program::{Block, Kind, Op, Type, ValueId};
use super::super::simplify::{Space, Written, written};
use super::{Holds, surest};

#[derive(Default)]
pub(super) struct Places {
    /// Which operation gives a value.
    nth: FxHashMap<ValueId, usize>,
    /// All operations, each before those in it.
    ops: Vec<Place>,
    /// Those that write global memory, in order.
    writes: Vec<usize>,
    /// The others, in order.
    others: Vec<(usize, Holds)>,
    /// Whether the compiler moves past them all the same.
    are_passed: bool,
    /// The pointer among the kernel's arguments that an address is computed from.
    bases: FxHashMap<ValueId, ValueId>,
}

struct Place {
    /// The operation around it.
    around: Option<usize>,
    is_loop: bool,
    /// The first one behind it and all that is in it.
    end: usize,
}

impl Places {
    /// `of_tensor_memory`: products that are in tensor memory.
    pub(super) fn of(
        body: &Block,
        types: &[Type],
        compiler: Compiler,
        of_tensor_memory: &dyn Fn(&Op) -> bool,
    ) -> Places {
        let mut places = Places { are_passed: compiler < Compiler::V3_9, ..Places::default() };
        places.read(body, None, types, of_tensor_memory);
        places
    }

    fn read(&mut self, block: &Block, around: Option<usize>, types: &[Type], of_tensor_memory: &dyn Fn(&Op) -> bool) {
        for op in &block.ops {
            let nth = self.ops.len();
            self.nth.extend(op.results.iter().map(|&result| (result, nth)));
            self.read_base(op, types);
            let is_loop = matches!(op.kind, Kind::For { .. } | Kind::While { .. });
            self.ops.push(Place { around, is_loop, end: 0 });
            if writes_global(op) {
                self.writes.push(nth);
            }
            if of_tensor_memory(op) {
                self.others.push((nth, Holds::Surely));
            }
            op.kind.blocks().into_iter().for_each(|inner| self.read(inner, Some(nth), types, of_tensor_memory));
            self.ops[nth].end = self.ops.len();
        }
    }

    fn read_base(&mut self, op: &Op, types: &[Type]) {
        let [result] = op.results[..] else { return };
        let is_pointer = op.name == "argument" && types.get(result.0 as usize) == Some(&Type::Pointer);
        let of_operands = || op.operands.iter().find_map(|operand| self.bases.get(operand).copied());
        if let Some(base) = if is_pointer { Some(result) } else { of_operands() } {
            self.bases.insert(result, base);
        }
    }

    /// Whether two loads are through one pointer of the kernel's arguments, as far as their addresses can be followed.
    pub(super) fn are_of_one_pointer(&self, one: ValueId, other: ValueId) -> bool {
        self.bases.get(&one).is_some_and(|base| self.bases.get(&other) == Some(base))
    }

    /// Whether one value is computed before another.
    pub(super) fn is_before(&self, one: ValueId, other: ValueId) -> bool {
        self.nth.get(&one) < self.nth.get(&other)
    }

    /// A loop that loads for later rounds, by one of its results.
    pub(super) fn loads_ahead(&mut self, result: ValueId, holds: Holds) {
        let Some(&nth) = self.nth.get(&result) else { return };
        let at = self.others.partition_point(|&(other, _)| other < nth);
        self.others.insert(at, (nth, holds));
    }

    /// Whether global memory is written behind what gives one value and up to what gives another, or anywhere in an operation around that.
    pub(super) fn is_written_between(&self, from: ValueId, to: ValueId) -> bool {
        let Some((from, end)) = self.between(from, to) else { return false };
        let first = self.writes.partition_point(|&write| write <= from);
        self.writes.get(first).is_some_and(|&write| write < end)
    }

    /// Whether anything is there that what a product takes from registers is not moved past.
    pub(super) fn are_apart(&self, from: ValueId, to: ValueId) -> Holds {
        if self.are_passed {
            return Holds::Not;
        }
        if self.is_written_between(from, to) {
            return Holds::Surely;
        }
        let Some((from, end)) = self.between(from, to) else { return Holds::Not };
        let first = self.others.partition_point(|&(other, _)| other <= from);
        surest(self.others[first..].iter().take_while(|&&(other, _)| other < end).map(|&(_, holds)| holds))
    }

    /// From what gives one value to the end of what gives another, with the operations around that.
    fn between(&self, from: ValueId, to: ValueId) -> Option<(usize, usize)> {
        let (&from, &to) = (self.nth.get(&from)?, self.nth.get(&to)?);
        let (mut at, mut end, mut leaves_loops) = (to, to, true);
        while self.ops[at].around != self.ops[from].around {
            let around = self.ops[at].around?;
            leaves_loops &= self.ops[around].is_loop;
            // What is the same in all rounds of a loop is done before it.
            end = if leaves_loops { around } else { self.ops[around].end };
            at = around;
        }
        Some((from, end))
    }
}

/// What a fence is for is in shared memory.
const FENCES: [&str; 4] = ["debug_barrier", "async_load_commit_group", "async_load_wait_group", "async_load_wait"];

fn writes_global(op: &Op) -> bool {
    !FENCES.contains(&op.name) && matches!(written(op), Written::Only(Space::Global) | Written::All)
}

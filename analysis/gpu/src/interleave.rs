//! Loads of tensor memory, and what makes it, move down to where they are needed (`lib/Dialect/TritonNvidiaGPU/Transforms/InterleaveTMem.cpp`).

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::work;

use super::program::{Block, Effect, Kind, Memory, Op, Product, Program, Type, ValueId};
use super::simplify::{Space, Written, written};

pub(super) fn interleave(body: &mut Block, program: &Program) {
    let mut places =
        Places { program, of: FxHashMap::default(), constants: FxHashSet::default(), uses: FxHashMap::default() };
    body.each(&mut |op| places.note(op));
    sink_in(body, &places);
}

/// What a product of tensor memory gives is read as late as it can be, with what is computed from it: the copies of a loop behind that may be
/// there before. `None` where there is no such loop.
pub(super) fn copies_before_reads(
    program: &Program,
    is_in_tensor_memory: &dyn Fn(&Product) -> bool,
) -> Option<Program> {
    let is_product =
        |op: &Op| op.results.first().and_then(|result| program.products.get(result)).is_some_and(is_in_tensor_memory);
    let mut early = program.clone();
    lift_copies(&mut early.body, &is_product).then_some(early)
}

/// Moves the buffers that a loop starts with up to the last product of tensor memory before it, where nothing is written between them.
fn lift_copies(block: &mut Block, is_product: &dyn Fn(&Op) -> bool) -> bool {
    let mut has_lifted = false;
    let mut product = None;
    let mut at = 0;
    while at < block.ops.len() {
        work::spend(1);
        let is_loop = matches!(block.ops[at].kind, Kind::For { .. });
        if let Some(product) = product.filter(|_| is_loop) {
            let is_copy = |op: &Op| matches!(op.kind, Kind::Allocation(_)) && op.operands.is_empty();
            let copies = block.ops[..at].iter().rev().take_while(|op| is_copy(op)).count();
            let first = at - copies;
            if copies > 0 && first > product {
                block.ops[product..at].rotate_right(copies);
                has_lifted = true;
            }
        }
        let op = &mut block.ops[at];
        let mut has_product = is_product(op);
        op.kind.blocks().into_iter().for_each(|inner| inner.each(&mut |op| has_product |= is_product(op)));
        for inner in op.kind.blocks_mut() {
            has_lifted |= lift_copies(inner, is_product);
        }
        if has_product {
            product = Some(at + 1);
        } else if !matches!(written(op), Written::Nothing) {
            product = None;
        }
        at += 1;
    }
    has_lifted
}

/// A view of tensor memory: the memory, and which of its buffers it is, where that is a known number.
type Place = (ValueId, Option<ValueId>);

struct Places<'p> {
    program: &'p Program,
    of: FxHashMap<ValueId, Place>,
    constants: FxHashSet<ValueId>,
    /// How often each value is used.
    uses: FxHashMap<ValueId, usize>,
}

impl Places<'_> {
    fn note(&mut self, op: &Op) {
        for &operand in &op.operands {
            *self.uses.entry(operand).or_default() += 1;
        }
        match &op.kind {
            Kind::Constant => self.constants.extend(&op.results),
            Kind::Allocation(_) if self.makes_memory(op) => {
                self.of.extend(op.results.iter().map(|&it| (it, (it, None))))
            }
            Kind::View | Kind::ShortView => {
                let Some(&(root, slot)) = op.operands.first().and_then(|of| self.of.get(of)) else { return };
                let index = op.operands.get(1).filter(|it| op.name == "index" && self.constants.contains(it));
                self.of.extend(op.results.iter().map(|&it| (it, (root, slot.or(index.copied())))));
            }
            Kind::Specialize { tasks, .. } => {
                for task in tasks {
                    for (param, operand) in task.body.params.iter().zip(&op.operands) {
                        if let Some(&place) = self.of.get(operand) {
                            self.of.insert(*param, place);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    fn makes_memory(&self, op: &Op) -> bool {
        match op.kind {
            Kind::Allocation(id) => matches!(self.program.buffers[id.0 as usize].memory, Memory::Tensor { .. }),
            _ => false,
        }
    }

    fn may_be_same(&self, one: ValueId, two: ValueId) -> bool {
        match (self.of.get(&one), self.of.get(&two)) {
            (Some((one, slot)), Some((two, other))) => {
                one == two && !(slot.is_some() && other.is_some() && slot != other)
            }
            _ => true,
        }
    }

    /// The memory that an operation writes, of those that it is given.
    fn written_by(&self, op: &Op) -> Vec<ValueId> {
        if let Kind::TensorProduct(product) = op.kind {
            return op.operands.get(product.accumulator).into_iter().copied().collect();
        }
        let is_memory = |value: &ValueId| self.program.types[value.0 as usize] == Type::TensorMemory;
        op.operands.iter().copied().filter(is_memory).collect()
    }

    /// Whether an operation, or anything in it, may write what is in a memory, or at an unknown place.
    fn may_write(&self, op: &Op, memory: ValueId) -> bool {
        let own = match written(op) {
            Written::Nothing | Written::Only(Space::Global | Space::Shared) => false,
            Written::Only(Space::Tensor) => self.written_by(op).into_iter().any(|to| self.may_be_same(to, memory)),
            Written::All => true,
        };
        own || op.kind.blocks().iter().any(|block| block.ops.iter().any(|inner| self.may_write(inner, memory)))
    }

    /// Whether what gives these values, and reads or makes a memory, stays before an operation.
    fn is_in_the_way(&self, op: &Op, values: &[ValueId], memory: ValueId) -> bool {
        let mut uses = op.operands.iter().any(|operand| values.contains(operand));
        for block in op.kind.blocks() {
            block.each(&mut |inner| uses |= inner.operands.iter().any(|operand| values.contains(operand)));
        }
        // Who is told to go on may write it then.
        uses || op.name == "barrier_arrive" || self.may_write(op, memory)
    }

    fn uses(&self, op: &Op) -> usize {
        op.results.iter().filter_map(|result| self.uses.get(result)).sum()
    }
}

fn sink_in(block: &mut Block, places: &Places) {
    let memory_of = |op: &Op| match op.name {
        "tmem_load" => op.operands.first().copied(),
        _ if places.makes_memory(op) => op.results.first().copied(),
        _ => None,
    };
    let sunk: Vec<(ValueId, ValueId)> =
        block.ops.iter().filter_map(|op| Some((*op.results.first()?, memory_of(op)?))).collect();
    for (value, memory) in sunk {
        while sink(block, places, value, memory) {
            work::spend(1);
        }
    }
    for op in &mut block.ops {
        op.kind.blocks_mut().into_iter().for_each(|inner| sink_in(inner, places));
    }
}

/// Moves an operation, with those behind it that are all that is done with its result, as far down as they may be.
fn sink(block: &mut Block, places: &Places, value: ValueId, memory: ValueId) -> bool {
    let Some(first) = block.ops.iter().position(|op| op.results.first() == Some(&value)) else { return false };
    let is_there = |op: &Op| !matches!(op.kind, Kind::Constant);
    let mut chain = vec![first];
    let mut values = block.ops[first].results.clone();
    let mut at = first;
    while places.uses(&block.ops[at]) == 1 {
        work::spend(1);
        let Some(next) = (at + 1..block.ops.len()).find(|&next| is_there(&block.ops[next])) else { break };
        let op = &block.ops[next];
        let is_pure = op.effect == Effect::None && op.kind.blocks().is_empty() && !matches!(op.kind, Kind::Yield);
        if !is_pure || !op.operands.iter().any(|operand| block.ops[at].results.contains(operand)) {
            break;
        }
        values.extend(&op.results);
        chain.push(next);
        at = next;
    }
    let (mut to, mut passed) = (at + 1, 0);
    while let Some(op) = block.ops.get(to).filter(|op| !matches!(op.kind, Kind::Yield)) {
        work::spend(1);
        if places.is_in_the_way(op, &values, memory) {
            break;
        }
        passed += usize::from(is_there(op));
        to += 1;
    }
    if passed == 0 {
        return false;
    }
    // From behind, so that places stay what they are.
    let mut moved: Vec<Op> = chain.iter().rev().map(|&at| block.ops.remove(at)).collect();
    moved.reverse();
    let to = to - moved.len();
    block.ops.splice(to..to, moved);
    true
}

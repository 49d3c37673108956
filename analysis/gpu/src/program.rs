//! A kernel as the allocators see it: operations in structured control flow, each with the memory that it makes, looks at or needs for itself.
//!
//! Helpers are inlined. What an operation computes does not matter here; what it is given, what becomes of its result, and when it happens do.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use tilefit_syntax::ast::ExprId;

use tilefit_python::finding::{Origin, Reason};

use super::device::Space;

/// The result of an operation, or a parameter of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// Index of a buffer in [`Program::buffers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// Index in [`Program::scratch`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScratchId(pub u32);

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Program {
    /// Of each value.
    pub types: Vec<Type>,
    pub body: Block,
    /// What the author allocates, in program order.
    pub buffers: Vec<Buffer>,
    /// What operations need of shared memory while they run.
    pub scratch: Vec<Scratch>,
    /// Registers of 32 bits that tensors take, over all threads.
    pub registers: FxHashMap<ValueId, u64>,
    /// It calls `tl.dot`, or something like it.
    pub multiplies: bool,
    /// Some of its products are made of operations that are not followed in detail: they take at most what those do.
    pub is_guessed: bool,
    /// Results of `tl.dot`.
    pub products: FxHashMap<ValueId, Product>,
    /// The indices of loops that the author wants to be one with those in them.
    pub flattened: FxHashSet<ValueId>,
    /// Some loop has several rounds in one.
    pub is_unrolled: bool,
    /// Some loop is to run as tasks.
    pub wants_tasks: bool,
    /// The indices of loops whose products are to have one accumulator each.
    pub keeping_accumulators: FxHashSet<ValueId>,
    /// The indices of loops in which what is the same in all rounds stays.
    pub keeping_invariants: FxHashSet<ValueId>,
    /// Of copies that a loop keeps: the index of the loop, and bytes that each Triton from 3.2 on needs for them.
    pub held: FxHashMap<BufferId, (ValueId, u64)>,
    /// Tensors that are loaded from global memory.
    pub loads: FxHashMap<ValueId, Load>,
    /// The names of tensors; what is cast keeps its name until it has another.
    pub assigned: FxHashMap<ValueId, Assigned>,
}

impl Program {
    /// A buffer that the source does not show.
    pub fn insert(
        &mut self,
        (name, at): (&str, Site),
        (shape, dtype): (Vec<u64>, &'static str),
        (size, alignment): (Bytes, u64),
        use_: Use,
    ) -> BufferId {
        let memory = Memory::Shared { fork: size.clone(), size, alignment };
        self.buffers.push(Buffer { name: name.into(), at, name_at: None, shape, dtype, memory, use_, copies: 1 });
        BufferId(self.buffers.len() as u32 - 1)
    }

    /// Calls a buffer for copies of what is loaded as the author calls that, where it has a name. One without a known size has no
    /// place of its own in the text.
    pub fn call(&mut self, id: BufferId, load: ValueId, copies: u64) {
        let Some((name, at)) = self.loads.get(&load).and_then(|load| load.assigned.clone()) else { return };
        let buffer = &mut self.buffers[id.0 as usize];
        buffer.name = name;
        if let Memory::Shared { size: Bytes::Exactly(size), .. } = buffer.memory {
            buffer.name_at = at;
            buffer.copies = if size.is_multiple_of(copies.max(1)) { copies.max(1) } else { 1 };
        }
    }
}

/// Elements of a tensor, which a comment can make as large as it likes.
pub fn elements(shape: &[u64]) -> u64 {
    shape.iter().fold(1, |all, &extent| all.saturating_mul(extent))
}

/// Bytes of a tensor in memory, where no element takes less than one.
pub fn bytes_of(shape: &[u64], bits: u32) -> u64 {
    elements(shape).saturating_mul(u64::from(bits.max(8))) / 8
}

/// A tensor as it is in shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    pub shape: Vec<u64>,
    pub bits: u32,
    /// In Triton's words.
    pub dtype: &'static str,
}

/// `tl.dot`: the first two operands of the operation are multiplied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Product {
    pub operands: [Tile; 2],
    pub result: Tile,
    /// Each thread has the elements of the left side that it multiplies.
    pub is_left_at_hand: bool,
    /// Numbers of 32 bits are not shortened, so that tensor cores do not help.
    pub is_exact: bool,
    /// Parts that each number is split into, whose products are added so that nothing is lost; mostly one.
    pub parts: u32,
    /// Whether a side that is computed has to be exchanged between threads; `None` where their layouts are not known.
    pub needs: [Option<bool>; 2],
    /// Sides whose elements each warp has as they are loaded or computed.
    pub stays: [bool; 2],
    /// Warps along each dimension of the result, where that is known.
    pub warps: Option<Vec<u32>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load {
    pub tile: Tile,
    /// Bits that each thread takes side by side, at least and at most.
    pub width: (u64, u64),
    /// The dimension along which a matrix goes through memory, where that is known.
    pub runs_along: Option<usize>,
    pub assigned: Option<Assigned>,
}

/// The name that a value is assigned to, and that name, where the assignment stands in the kernel's own text.
pub type Assigned = (Arc<str>, Option<Origin>);

/// What a task that captures a value needs to know of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Type {
    Scalar { bits: u32 },
    Pointer,
    Tensor,
    Shared { rank: u32 },
    TensorMemory,
    Descriptor,
}

impl Type {
    /// Bytes that a task takes to be handed a value of this type (`ttg.warp_specialize.partitions`).
    pub fn captured_bytes(self) -> u64 {
        match self {
            Type::Scalar { bits } => u64::from(bits.div_ceil(8)),
            Type::Pointer | Type::Descriptor | Type::TensorMemory => 8,
            Type::Shared { rank } => 8 + 4 * u64::from(rank),
            Type::Tensor => 0,
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Block {
    pub params: Vec<ValueId>,
    pub ops: Vec<Op>,
}

/// Where an operation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Site {
    /// The function whose text it is: 0 is the kernel itself, others are helpers.
    pub function: u32,
    pub expr: ExprId,
    /// In the kernel's own text: the operation, or the call through which it is reached.
    pub call: Origin,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Op {
    pub name: &'static str,
    pub at: Site,
    pub effect: Effect,
    pub operands: Vec<ValueId>,
    pub results: Vec<ValueId>,
    /// A hash of what it computes beside its operands: of two equal ones, the second is not computed.
    pub identity: u64,
    pub kind: Kind,
}

/// What may be done with an operation that is unused, or that was done before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// It goes where its result is not used, and is not done twice.
    None,
    /// The same, as long as nothing is written in between.
    Reads,
    /// It makes memory, and goes where nothing uses that.
    Allocates,
    Writes,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Plain,
    /// A known number, which no task needs to be handed.
    Constant,
    /// Its result is the memory of its first operand, or of one of its operands.
    View,
    /// A view that keeps its base from being given to another, as `slice` of tensor memory does not.
    ShortView,
    Allocation(BufferId),
    /// It needs shared memory while it runs.
    Scratch(ScratchId),
    /// A product whose result is in tensor memory.
    TensorProduct(TensorProduct),
    /// A load that goes through a buffer and a barrier that the source does not show. They are made for it when it is known to be needed.
    StagedLoad {
        staging: BufferId,
        barrier: BufferId,
    },
    /// An operand is the condition; the results are what the blocks yield.
    If {
        then: Block,
        otherwise: Block,
    },
    /// The first operands are the bounds, the others the initial values of what the body carries. The parameters of the body are the index and what it carries.
    For {
        bounds: usize,
        /// It is known that there is a round.
        runs: bool,
        /// How many rounds there are, where that is known.
        rounds: Option<u64>,
        /// Rounds that run at the same time, where the author says so.
        stages: Option<i64>,
        body: Block,
    },
    /// The operands are the initial values of what is carried; `condition` yields whether to go on.
    While {
        condition: Block,
        body: Block,
    },
    /// Tasks that run at the same time; the operands are what they are given.
    Specialize {
        default: Block,
        tasks: Vec<Task>,
    },
    /// A function that is not inlined: the call takes what all of its body takes.
    Call {
        body: Block,
    },
    Yield,
}

/// `tcgen05`: which operands of the operation are what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TensorProduct {
    pub accumulator: usize,
    /// A left side of 64 rows in tensor memory.
    pub half: Option<usize>,
    pub adds: Adds,
    /// Nothing signals that it is done: the compiler waits for it.
    pub is_waited_for: bool,
}

/// Whether a product is added to what is in its accumulator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adds {
    Always,
    Never,
    /// Where an operand of the operation says so.
    If(usize),
    Unknown,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// Its parameters are given the operands of the operation, one by one.
    pub body: Block,
    pub warps: u64,
}

/// Bytes of shared memory that an operation needs while it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Scratch {
    pub size: Bytes,
    /// None of it is needed where the result is not used.
    pub only_if_used: bool,
    /// The compiler puts it wherever it likes between where what it is given is loaded and where it is needed.
    pub moves: bool,
}

/// A size, or what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bytes {
    Exactly(u64),
    Between(u64, u64, Reason),
}

/// Larger than any memory: what would be more is taken for this, so that sums of them are numbers.
const MOST_BYTES: u64 = 1 << 40;

impl Bytes {
    /// As a plan takes it.
    pub fn clamped(self) -> Bytes {
        match self {
            Bytes::Exactly(bytes) => Bytes::Exactly(bytes.min(MOST_BYTES)),
            Bytes::Between(low, high, reason) => Bytes::Between(low.min(MOST_BYTES), high.min(MOST_BYTES), reason),
        }
    }

    pub fn low(&self) -> u64 {
        match *self {
            Bytes::Exactly(bytes) | Bytes::Between(bytes, ..) => bytes,
        }
    }

    pub fn high(&self) -> u64 {
        match *self {
            Bytes::Exactly(bytes) | Bytes::Between(_, bytes, _) => bytes,
        }
    }
}

/// What the author allocates.
#[derive(Debug, Clone, PartialEq)]
pub struct Buffer {
    /// Of the name that it is assigned to, or of the function that makes it.
    pub name: Arc<str>,
    pub at: Site,
    /// The name, where the assignment stands in the kernel's own text.
    pub name_at: Option<Origin>,
    pub shape: Vec<u64>,
    /// In Triton's words: `float16`.
    pub dtype: &'static str,
    pub memory: Memory,
    pub use_: Use,
    /// Of one tile, side by side.
    pub copies: u64,
}

/// What a buffer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Use {
    Data,
    Barrier,
    /// What a store through a descriptor goes through, which the source does not show.
    Staging,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Memory {
    /// Bytes. The fork of Triton rounds extents up to powers of two, and pads what it lays out itself.
    Shared { size: Bytes, alignment: u64, fork: Bytes },
    /// Columns of 32 bits, and 64 or 128 rows.
    Tensor { columns: u64, rows: u32 },
    /// Bytes in a memory of an NPU, where the author puts it.
    OfCore { space: Space, bytes: u64 },
}

impl Memory {
    pub fn space(&self) -> Space {
        match self {
            Memory::Shared { .. } => Space::Shared,
            Memory::Tensor { .. } => Space::Tensor,
            Memory::OfCore { space, .. } => *space,
        }
    }
}

impl Block {
    /// Every operation in it, outer ones before those in them.
    pub fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a Op)) {
        for op in &self.ops {
            visit(op);
            for block in op.kind.blocks() {
                block.each(visit);
            }
        }
    }

    /// Whether threads wait for each other in it, or print: rounds of a loop with such a body do not overlap (`isSafeToPipeline` in `ScheduleLoops.cpp`).
    pub fn is_kept_in_order(&self) -> bool {
        let mut is_kept = false;
        self.each(&mut |op| is_kept |= matches!(op.name, "debug_barrier" | "device_print" | "gdc_wait"));
        is_kept
    }
}

impl Kind {
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Kind::If { then, otherwise } => vec![then, otherwise],
            Kind::For { body, .. } | Kind::Call { body } => vec![body],
            Kind::While { condition, body } => vec![condition, body],
            Kind::Specialize { default, tasks } => {
                std::iter::once(default).chain(tasks.iter().map(|task| &task.body)).collect()
            }
            _ => Vec::new(),
        }
    }

    pub fn blocks_mut(&mut self) -> Vec<&mut Block> {
        match self {
            Kind::If { then, otherwise } => vec![then, otherwise],
            Kind::For { body, .. } | Kind::Call { body } => vec![body],
            Kind::While { condition, body } => vec![condition, body],
            Kind::Specialize { default, tasks } => {
                std::iter::once(default).chain(tasks.iter_mut().map(|task| &mut task.body)).collect()
            }
            _ => Vec::new(),
        }
    }
}

//! A launch of TileLang as its front end hands it to the compiler, before any pass: buffers, and the statements that touch them, in source order.
//!
//! What a statement computes does not matter here; what it touches, and when, do.

use std::sync::Arc;

use tilefit_python::finding::{Origin, Reason};

/// One `with T.Kernel(…)`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Launch {
    /// The primitive function.
    pub function: Arc<str>,
    /// Of a block, over all dimensions; `None` where it is not known.
    pub threads: Option<u64>,
    /// Those of global memory, too.
    pub buffers: Vec<Buffer>,
    pub body: Vec<Statement>,
    pub options: Options,
    /// Why the statements may not be those of the compiler.
    pub unknown: Vec<Reason>,
}

impl Launch {
    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.0 as usize]
    }
}

/// What the author asks of the compiler's passes (`pass_configs`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// `tl.disable_warp_specialized`.
    pub is_warp_specialization_off: bool,
    /// `tl.disable_tma_lower`.
    pub is_tma_off: bool,
    /// `tl.enable_aggressive_shared_memory_merge`.
    pub is_merge_aggressive: bool,
    /// `T.ws`, `T.annotate_ws_schedule`: the kernel itself gives warps roles.
    pub has_roles: bool,
    /// `tl.disable_shared_memory_reuse`.
    pub is_reuse_off: bool,
    /// `tl.ascend_memory_planning`.
    pub memory_planning: Planning,
    /// `target="pto"`.
    pub is_for_pto: bool,
}

/// Whether something is asked of the compiler.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Planning {
    #[default]
    Off,
    On,
    /// Another file may ask for it.
    Unknown,
}

/// Index in [`Launch::buffers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

#[derive(Debug, Clone, PartialEq)]
pub struct Buffer {
    /// As the author calls it. Several may have one name: those of macros.
    pub name: Arc<str>,
    pub scope: Scope,
    pub dtype: Dtype,
    pub shape: Vec<Extent>,
    /// `T.annotate_layout` gives it a swizzled layout.
    pub is_swizzled: bool,
    /// `T.annotate_address` gives it this place.
    pub address: Option<Extent>,
    /// A statement touches it that is there whatever is not known.
    pub is_used: bool,
    pub at: Origin,
}

impl Buffer {
    /// Of one copy; `None` where an extent is not known.
    pub fn bytes(&self) -> Option<u64> {
        let elements =
            self.shape.iter().try_fold(1_u64, |product, extent| Some(product.saturating_mul(extent.known()?)))?;
        Some(elements.saturating_mul(self.dtype.bits).div_ceil(8))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    Global,
    /// `shared.dyn`: placed by the compiler, and what a plan is about.
    Shared,
    /// `shared`: beyond the plan.
    StaticShared,
    Barrier,
    TensorMemory,
    /// `local.fragment`: registers of all threads together.
    Fragment,
    /// `local` and `local.var`: of each thread.
    Local,
    /// A memory of a core of an NPU.
    OfCore(Memory),
}

/// A memory of a core of an NPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Memory {
    Ub,
    L1,
    L0a,
    L0b,
    L0c,
}

impl Memory {
    pub const ALL: [Memory; 5] = [Memory::Ub, Memory::L1, Memory::L0a, Memory::L0b, Memory::L0c];

    /// Of `T.alloc_ub` and the like, as either compiler names them.
    pub fn of_allocation(name: &str) -> Option<Memory> {
        Some(match name {
            "alloc_ub" => Memory::Ub,
            "alloc_L1" | "alloc_l1" => Memory::L1,
            "alloc_L0A" | "alloc_l0a" => Memory::L0a,
            "alloc_L0B" | "alloc_l0b" => Memory::L0b,
            "alloc_L0C" | "alloc_l0c" => Memory::L0c,
            _ => return None,
        })
    }
}

/// A type of elements, in TVM's words: `float16`, `bfloat16`, `float8_e4m3fn`, `int4`, `bool`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Dtype {
    pub name: Arc<str>,
    /// That one element takes; 8 of `bool`.
    pub bits: u64,
}

/// Of a buffer or a region along one dimension.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Extent {
    Known(u64),
    /// An expression of the kernel, or of a symbolic size, as it is shown.
    Symbolic(Arc<str>),
    /// A value of the host that is not known.
    Unknown(Reason),
}

impl Extent {
    pub fn known(&self) -> Option<u64> {
        match self {
            Extent::Known(extent) => Some(*extent),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    Op(Op),
    Loop(Loop),
    Branch(Branch),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Op {
    pub kind: Kind,
    /// Source first, and the left side of a product before the right one.
    pub reads: Vec<Region>,
    pub writes: Vec<Region>,
    /// That come where it stands.
    pub threads: Threads,
    pub at: Origin,
}

/// Threads of a block that run a statement.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Threads {
    #[default]
    All,
    /// So many: those that a condition on the thread lets in.
    Some(u64),
    Unknown(Reason),
}

impl Threads {
    pub fn unknown(&self) -> Option<&Reason> {
        match self {
            Threads::Unknown(reason) => Some(reason),
            _ => None,
        }
    }
}

impl Launch {
    /// How many threads run a statement; `None` where that is not known.
    pub fn threads_of(&self, op: &Op) -> Option<u64> {
        match op.threads {
            Threads::All => self.threads,
            Threads::Some(count) => Some(count),
            Threads::Unknown(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `T.copy`.
    Copy,
    AsyncCopy,
    TmaCopy,
    Gemm(Gemm),
    Reduce(Reduce),
    /// `T.fill`, `T.clear`.
    Fill,
    CumulativeSum,
    /// A whole nest of `T.Parallel`. `is_copy`: it loads from global memory and stores to shared or registers, and does nothing else but cast.
    Parallel {
        is_copy: bool,
    },
    /// Of one element, outside any `T.Parallel`; `is_copy` as above.
    Store {
        is_copy: bool,
    },
    /// Any other, by its name in TIR: `atomicadd`, `tl.mbarrier_wait_parity`, `bind` for a name that is given a loaded value.
    Other(Arc<str>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gemm {
    /// `T.tcgen05_gemm`.
    pub is_tcgen05: bool,
    pub transposes: [bool; 2],
    pub m: u64,
    pub n: u64,
    pub k: u64,
    pub policy: WarpPolicy,
}

/// How the warps of a block share a product.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WarpPolicy {
    #[default]
    Square,
    FullRow,
    FullColumn,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reduce {
    pub dim: usize,
    pub clears: bool,
}

/// What a statement touches of a buffer.
#[derive(Debug, Clone, PartialEq)]
pub struct Region {
    pub buffer: BufferId,
    /// `None`: single elements, by index.
    pub extents: Option<Vec<Extent>>,
    /// Whether the bounds of its indices, over all blocks and iterations, show that it lies within the buffer; `None` where that is not known. Of
    /// interest for regions of global memory only: a bulk copy of one stretch is another instruction where the compiler can prove it.
    pub is_inside: Option<bool>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Loop {
    /// Of iterations.
    pub extent: Extent,
    /// That run for sure, where the extent is not a number.
    pub least: u64,
    /// `num_stages` of `T.Pipelined`; 0 of all others.
    pub stages: u64,
    /// `order=` and `stage=` of `T.Pipelined`.
    pub written: Option<WrittenPipeline>,
    /// `T.unroll(n, explicit=True)`: n copies of the body.
    pub is_explicitly_unrolled: bool,
    pub body: Vec<Statement>,
    pub at: Origin,
}

/// For each statement of the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenPipeline {
    pub order: Vec<u64>,
    pub stage: Vec<u64>,
}

/// An `if` on a value of the kernel. One on a value of Python is gone.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// What its condition looks at.
    pub reads: Vec<Region>,
    /// Whether it holds in the first and in the last rounds of the pipelined loop around it, where their number says so.
    pub in_rounds: Vec<(u64, bool)>,
    pub then: Vec<Statement>,
    pub otherwise: Vec<Statement>,
    pub at: Origin,
}

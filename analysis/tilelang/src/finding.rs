//! What is wrong with a launch, or costs more than its author may think. Facts only: the words are for those who show them.

use tilefit_python::finding::Origin;

use crate::program::BufferId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// A loop that is not the first pipelined one has `num_stages` copies of a buffer for warp specialisation, and that many again for the
    /// planner (docs/reference/tilelang.md, "3. Versions (number of copies of a buffer)").
    SquaredVersions { at: Origin, buffer: BufferId, stages: u64, versions: u64 },
    /// Two pipelined loops fill one buffer: the compiler crashes where it specialises warps.
    FilledByTwoLoops { buffer: BufferId, first: Origin, second: Origin },
    /// A buffer has several copies in a pipelined loop, and fewer where it is used elsewhere. Where the compiler does not crash, it may allocate
    /// the fewer: what the loop does then is wrong.
    MixedVersions { buffer: BufferId, versions: u64, fewer: u64, at: Origin, elsewhere: Origin, is_refused: bool },
    /// In one body, a statement writes what a copy fills: the planner refuses it.
    WrittenTwice { at: Origin, buffer: BufferId, first: Origin, second: Origin },
    /// No statement of the body uses what its copies fill but copies: the planner refuses it.
    NoConsumer { at: Origin },
    /// `order=` and `stage=` are of another number of statements than the body has.
    OrderOfOtherStatements { at: Origin },
    /// A product's tile cannot be shared by so many warps: each takes a multiple of 16 rows and 8 columns.
    NoWarpPartition { at: Origin, m: u64, n: u64, warps: u64 },
    /// What a product sums over is no multiple of what one instruction does.
    NoSuchDepth { at: Origin, k: u64, multiple: u64 },
    /// More columns than the 512 that a block has.
    TooManyColumns { columns: u64, allocations: usize },
    /// Barriers need sm_90.
    NoBarriers { buffer: BufferId },
    /// Tensor memory needs sm_100.
    NoTensorMemory { buffer: BufferId },
    /// `T.tma_copy` needs sm_90.
    NoBulkCopies { at: Origin },
    /// The Tensor Memory Accelerator has no such elements, and the compiler does not look.
    NoBulkCopiesOfElements { at: Origin, buffer: BufferId },
}

impl Finding {
    /// The compiler gives no plan.
    pub fn is_refusal(&self) -> bool {
        !matches!(self, Finding::SquaredVersions { .. } | Finding::MixedVersions { is_refused: false, .. })
    }
}

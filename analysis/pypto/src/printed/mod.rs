//! IR that says itself where its tiles lie: the compiler's dumps (`passes_dump/NN_after_*.py`, `as_python()`) and the sketches of
//! design documents (`block.alloc(Vec, -1, 16384, 0)`). Printed addresses are shown and checked, not computed again.

mod compare;
mod memref;
mod plan;
mod reader;
#[cfg(test)]
mod tests;

pub use compare::{Match, compare};
pub use plan::plan;
pub use reader::{is_printed, kernels};
use tilefit_python::element::Dtype;
use tilefit_python::finding::{Note, Origin};

use tilefit_syntax::ast::ExprId;

use crate::memory::Order;
use crate::target::Space;

/// One function of a dump, or one sketch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrintedKernel {
    pub(crate) name: String,
    pub origin: Origin,
    pub(crate) name_origin: Origin,
    pub allocations: Vec<Allocation>,
    pub tiles: Vec<Tile>,
    /// Source node of each order number.
    pub statements: Vec<Origin>,
    pub(crate) notes: Vec<Note>,
}

/// `mem_vec_3: pl.Ptr = pl.tile.alloc(pl.Mem.Vec, 32768)`, `m: MemRefType = block.alloc(Vec, -1, 16384, 0)`, or the memory that tiles
/// name without an allocation of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    pub(crate) name: String,
    pub(crate) space: Option<Space>,
    /// Bytes; `None` where only its tiles tell.
    pub(crate) size: Option<u64>,
    /// Bytes from the start of the space; `None` before addresses are assigned (`-1`).
    pub(crate) address: Option<u64>,
    /// The number that older forms order allocations by.
    pub id: Option<u64>,
    pub(crate) pinned: bool,
    /// Where the address stands in the allocation's own statement; `None` for forms without one.
    pub address_at: Option<ExprId>,
    /// Has a statement of its own.
    pub declared: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tile {
    pub(crate) name: String,
    pub origin: Origin,
    pub(crate) shape: Vec<u64>,
    pub(crate) dtype: Dtype,
    pub(crate) space: Option<Space>,
    /// Index of its allocation; a tile received from the other core has none.
    pub allocation: Option<usize>,
    /// As printed: from the allocation's start, or from the space's start once addresses are assigned. `None`: chosen at run time.
    pub(crate) offset: Option<u64>,
    pub(crate) first: Order,
    pub(crate) last: Order,
    /// The branches around its definition: number of the `if`, and which side.
    pub(crate) branches: Vec<(u32, bool)>,
    /// Where its type names its memory.
    pub memref_at: Option<ExprId>,
}

/// What printed offsets count from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offsets {
    /// The start of the allocation: dumps before AllocateMemoryAddr.
    Relative,
    /// The start of the memory space.
    Absolute,
}

impl Offsets {
    /// By the pass that a dump is named after (`NN_after_PassName.py`); a text without such a name is judged by its numbers.
    pub fn of(path: &str, kernel: &PrintedKernel) -> Offsets {
        let pass = path.rsplit_once("_after_").map(|(_, pass)| pass.trim_end_matches(".py"));
        match pass {
            Some("InitMemRef" | "MaterializeSemanticAliases" | "MemoryReuse") => Offsets::Relative,
            Some(_) => Offsets::Absolute,
            None if kernel.starts_differ() => Offsets::Absolute,
            None => Offsets::Relative,
        }
    }
}

impl PrintedKernel {
    /// True where allocations of one space start at different offsets, which relative offsets never do.
    fn starts_differ(&self) -> bool {
        let mut starts: Vec<(Option<Space>, usize, u64)> = Vec::new();
        for tile in &self.tiles {
            let (Some(allocation), Some(offset)) = (tile.allocation, tile.offset) else { continue };
            match starts.iter_mut().find(|(_, known, _)| *known == allocation) {
                Some((_, _, start)) => *start = offset.min(*start),
                None => starts.push((tile.space, allocation, offset)),
            }
        }
        starts.iter().any(|&(_, _, start)| start > 0)
    }
}

//! TLX: storage alias specs, reuse groups and the buffers under them, by the compiler's own steps.
//!
//! What a kernel says of its memory is written down while it is followed (`trace/tlx`): a [`Kernel`]. Then comes one module a step:
//! [`spec_size`] sizes its specs, [`tree`] and [`offsets`] lay out their overlap definitions, [`rewriting`] maps indices to slots, [`footprint`] is
//! what is allocated in the end, [`checks`] and [`advice`] what to tell the author. [`planning`] calls them in order, and [`storage_alias`] gives
//! the specs of the program their memory.

pub mod advice;
pub mod checks;
pub mod footprint;
pub mod kernel;
pub mod language;
mod mentions;
pub mod mlir;
pub mod offsets;
mod params;
pub mod placed;
pub mod plan;
mod planning;
mod relevance;
pub mod rewriting;
pub mod sizes;
pub mod spec_size;
pub mod storage_alias;
pub mod tree;

pub use kernel::{Backing, BufferId, Kernel, SpecId};
pub use mentions::{mentions_allocation, mentions_tlx};
pub use params::params;
pub use plan::Plan;
pub use planning::plan;
pub use relevance::relevant_params;

/// Which description of the passes is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rules {
    /// The compiler as it is (facebookexperimental/triton, 2026-08).
    #[default]
    Compiler,
    /// The design document of 2026-02 (`docs/reference/tlx.md`): bytes everywhere, no alignment, explicit sizes that widen
    /// the stride.
    Seed,
}

impl Rules {
    pub fn name(self) -> &'static str {
        match self {
            Rules::Compiler => "compiler",
            Rules::Seed => "seed",
        }
    }

    pub fn from_name(name: &str) -> Option<Rules> {
        [Rules::Compiler, Rules::Seed].into_iter().find(|rules| rules.name() == name)
    }
}

/// The smallest multiple of `align` that is not below `value`.
fn align_up(value: u64, align: u64) -> u64 {
    value.checked_next_multiple_of(align.max(1)).unwrap_or(u64::MAX)
}

//! Specs and buffers of known size, and where they lie.

use super::kernel::{BufferId, Known, SpecId};
use super::offsets::{NotEnoughSpace, Placement};
use super::rewriting::{NotRewritable, Rewriting};
use super::sizes::Sized;
use super::spec_size::SpecSize;
use super::tree::Tree;

/// A spec after the compiler's steps 1 to 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecPlan {
    pub spec: SpecId,
    /// Step 1; why it is not known.
    pub size: Known<SpecSize>,
    pub tree: Option<Known<Tree>>,
    /// From one buffer of the tree to the next, in bytes or columns.
    pub stride: Option<u64>,
    /// Bytes or columns that are allocated in the end.
    pub extent: Known<u64>,
    pub trouble: Vec<Trouble>,
}

/// What keeps the compiler from finishing a spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    NotEnoughSpace(NotEnoughSpace),
    NotRewritable(BufferId, NotRewritable, Placement),
}

/// A buffer of known size, and where its buffers lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedBuffer {
    pub sized: Sized,
    /// Set for members of an overlap tree.
    pub placement: Option<Placement>,
    pub rewriting: Rewriting,
}

/// Buffers of one allocation whose ranges are listed; more are not looked at one by one.
pub const MOST_RANGES: u64 = 1024;

impl PlacedBuffer {
    /// Bytes or columns of buffer `index`, from the start of its allocation.
    pub fn range(&self, index: u64) -> (u64, u64) {
        let start = self.rewriting.slot(index).saturating_mul(self.sized.unit);
        (start, start.saturating_add(self.sized.unit))
    }

    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (0..self.sized.num.min(MOST_RANGES)).map(|index| self.range(index))
    }

    /// Bytes or columns of the array that replaces the buffer in step 3.
    pub fn span(&self) -> u64 {
        self.rewriting.new_num.saturating_mul(self.sized.unit)
    }
}

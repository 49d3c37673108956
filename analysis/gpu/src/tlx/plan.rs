//! What is known of the memory of a TLX kernel.

use tilefit_python::finding::{Finding, Reason};

use crate::device::Arch;

use super::Rules;
use super::footprint::{self, Footprint, Owner};
use super::kernel::{Backing, BufferId, Kernel, Known, SpecId};
use super::language::Storage;
use super::placed::{PlacedBuffer, SpecPlan};
use super::sizes::BYTES_OF_A_COLUMN;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub arch: Arch,
    pub rules: Rules,
    pub specs: Vec<SpecPlan>,
    /// In the order of the kernel's buffers.
    pub places: Vec<Known<PlacedBuffer>>,
    pub footprints: Vec<Footprint>,
    /// Bytes of all allocations of known size.
    pub smem: u64,
    /// Columns of them.
    pub tmem: u64,
    pub findings: Vec<Finding>,
    /// Why parts of the totals are missing.
    pub unknown: Vec<Reason>,
}

impl Plan {
    pub fn spec(&self, id: SpecId) -> Option<&SpecPlan> {
        self.specs.get(id.0 as usize)
    }

    pub fn place(&self, id: BufferId) -> Option<&PlacedBuffer> {
        self.places.get(id.0 as usize)?.as_ref().ok()
    }

    /// What offsets and sizes of a memory are counted in: the seed knows no columns.
    pub fn units(&self, storage: Storage) -> &'static str {
        match self.rules {
            Rules::Compiler => storage.units(),
            Rules::Seed => "bytes",
        }
    }

    /// What is left of a memory, in those units.
    pub fn free(&self, storage: Storage) -> u64 {
        match (storage, self.rules) {
            (Storage::Tmem, Rules::Compiler) => self.arch.tmem().saturating_sub(self.tmem),
            (Storage::Tmem, Rules::Seed) => self.arch.tmem().saturating_sub(self.tmem) * BYTES_OF_A_COLUMN,
            _ => self.arch.smem().saturating_sub(self.smem),
        }
    }

    /// What owns the memory that a buffer is in.
    pub fn owner(&self, kernel: &Kernel, mut id: BufferId) -> Option<Owner> {
        loop {
            match kernel.buffer(id).backing {
                Backing::Own => return Some(Owner::Buffer(id)),
                Backing::Spec(spec) => return Some(Owner::Spec(spec)),
                Backing::Alias(base) if base < id => id = base,
                Backing::Alias(_) | Backing::Unknown(_) => return None,
            }
        }
    }

    /// Sizes of buffers that have a layout of their own were counted elsewhere, other than those of specs.
    pub fn count_layouts(&mut self, kernel: &Kernel) {
        let others = kernel.buffers.iter().filter(|buffer| !matches!(buffer.backing, Backing::Spec(_)));
        let counted: Vec<Reason> = others.filter_map(footprint::unread).collect();
        self.unknown.retain(|reason| !counted.contains(reason));
    }

    /// Everything that the totals count is known.
    pub fn is_exact(&self, kernel: &Kernel) -> bool {
        self.unknown.is_empty() && kernel.notes.is_empty() && self.footprints.iter().all(|footprint| footprint.certain)
    }
}

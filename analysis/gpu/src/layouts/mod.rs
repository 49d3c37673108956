//! Register layouts of tensors, and the scratch in shared memory that follows from them: of conversions, reductions, scans, gathers, histograms and
//! atomics (`lib/Analysis/Allocation.cpp`, `lib/Analysis/Utility.cpp` of Triton; checked with 3.8 and 3.9).
//!
//! [`linear`] writes any layout as bits, functions such as [`conversion_bytes`] count, [`inference`] says which layouts results have,
//! [`tensor_memory`] with which one a buffer of tensor memory is loaded. All of it is for one CTA and shapes of powers of two; other shapes are an error.

use std::sync::Arc;

use tilefit_python::finding::Reason;

use super::device::Compiler;

mod atomic;
mod coalesced;
mod conversion;
mod gather;
pub mod inference;
pub mod linear;
mod product;
mod reduction;
mod scan;
pub mod tensor_memory;

pub use atomic::{atomic_bytes, scalar_atomic_bytes};
pub use coalesced::access_layout;
pub use conversion::conversion_bytes;
pub use gather::{gather_between_bytes, gather_bytes};
pub use inference::equivalent;
pub use linear::LinearLayout;
pub use product::{mma_v2_layout, mma_v2_layouts, mma_v3_layout};
pub use reduction::reduction_bytes;
pub use scan::scan_bytes;
pub use tensor_memory::tensor_memory_register_layout;

/// A register layout as its author writes it. Entries of lists stand for dimensions, if nothing else is said.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Layout {
    Blocked {
        size_per_thread: Vec<u32>,
        threads_per_warp: Vec<u32>,
        warps_per_cta: Vec<u32>,
        /// Dimensions, the fastest one first.
        order: Vec<u32>,
    },
    /// The layout of `parent` without one dimension.
    Slice { dim: u32, parent: Arc<Layout> },
    /// `DistributedLinearLayout`; also what inference makes of reshapes and the like. A basis for each bit of the index: the element that the bit moves to.
    Linear { register: Vec<Vec<u32>>, lane: Vec<Vec<u32>>, warp: Vec<Vec<u32>> },
    /// `NVMMADistributedLayout`: an accumulator.
    Mma { version: (u32, u32), warps_per_cta: Vec<u32>, instr_shape: Vec<u32> },
    /// An operand of a product whose accumulator has the layout `parent`: 0 or 1.
    DotOperand { operand: u32, parent: Arc<Layout>, k_width: u32 },
    /// `AMDMFMALayout`: an accumulator of CDNA.
    Mfma {
        version: u32,
        instr_shape: Vec<u32>,
        transposed: bool,
        warps_per_cta: Vec<u32>,
        tiles_per_warp: Vec<u32>,
        element_bits: u32,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vendor {
    Nvidia,
    Amd,
}

/// What scratch depends on beside layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hardware {
    pub vendor: Vendor,
    /// 80 of sm_80, 942 of gfx942.
    pub capability: u32,
    pub compiler: Compiler,
}

impl Hardware {
    /// Threads of a warp.
    pub fn lanes(&self) -> u32 {
        match self.vendor {
            Vendor::Nvidia => 32,
            Vendor::Amd => 64,
        }
    }

    /// Banks of shared memory, of 32 bits each.
    pub fn banks(&self) -> u32 {
        match (self.vendor, self.capability) {
            (Vendor::Amd, 950) => 64,
            _ => 32,
        }
    }

    /// Does it store matrices from registers (`stmatrix`)?
    fn stores_matrices(&self) -> bool {
        self.vendor == Vendor::Nvidia && self.capability >= 90
    }

    fn check(&self) -> Result<(), Reason> {
        match (self.vendor, self.capability) {
            (Vendor::Nvidia, 75..130) | (Vendor::Amd, 942 | 950) => Ok(()),
            (vendor, capability) => Err(format!("scratch of {vendor:?} {capability} is not known").into()),
        }
    }
}

/// Bytes of the scratch of a histogram of `bins` of `bits` each: one for each thread of a warp at least.
/// From 3.9 on one warp counts two bins by votes, without any.
pub fn histogram_bytes(bins: u32, bits: u32, num_warps: u32, hardware: &Hardware) -> u64 {
    if hardware.compiler >= Compiler::V3_9 && num_warps == 1 && bins <= 2 {
        return 0;
    }
    u64::from(bins.max(hardware.lanes())) * u64::from(bits.max(8)) / 8
}

/// Bits that an element takes in shared memory: a byte at least.
fn stored_bits(bits: u32) -> Result<u32, Reason> {
    match bits {
        1 | 8 => Ok(8),
        16 | 32 | 64 => Ok(bits),
        _ => Err(format!("scratch of elements of {bits} bits is not known").into()),
    }
}

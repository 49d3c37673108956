//! Scratch of an atomic operation whose result is used (`getRepShapeForAtomic` in `lib/Analysis/Allocation.cpp`): one thread does it and tells those that
//! repeat its element.

use super::linear::List;
use super::{Compiler, Hardware, Layout, Reason, stored_bits};

/// Bytes of shared memory that an atomic on a tensor takes, if its result is used.
pub fn atomic_bytes(shape: &[u32], bits: u32, layout: &Layout, hardware: &Hardware) -> Result<u64, Reason> {
    let bits = stored_bits(bits)?;
    let linear = layout.linear(shape, hardware)?;
    let repeats = |list| linear.list(list).iter().any(|basis| basis.iter().all(|&step| step == 0));
    let is_repeated = match hardware.compiler {
        // Threads of one warp, and registers of one thread, do so through shared memory, too.
        Compiler::Triton38 => repeats(List::Register) || repeats(List::Lane) || repeats(List::Warp),
        Compiler::Triton39 => repeats(List::Warp),
    };
    let elements: u64 = shape.iter().map(|&extent| u64::from(extent)).product();
    Ok(if is_repeated { elements * u64::from(bits) / 8 } else { 0 })
}

/// The same for a scalar: an element.
pub fn scalar_atomic_bytes(bits: u32, num_warps: u32, hardware: &Hardware) -> Result<u64, Reason> {
    let bytes = u64::from(stored_bits(bits)?) / 8;
    Ok(if hardware.compiler == Compiler::Triton39 && num_warps == 1 { 0 } else { bytes })
}

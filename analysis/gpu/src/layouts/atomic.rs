//! Scratch of an atomic operation whose result is used (`getRepShapeForAtomic` in `lib/Analysis/Allocation.cpp`): one thread does it and tells those that
//! repeat its element.

use super::super::device::Compiler;
use super::linear::List;
use super::{Hardware, Layout, Reason, stored_bits};

/// Bytes of shared memory that an atomic on a tensor takes, if its result is used.
pub fn atomic_bytes(shape: &[u32], bits: u32, layout: &Layout, hardware: &Hardware) -> Result<u64, Reason> {
    let bits = stored_bits(bits)?;
    let linear = layout.linear(shape, hardware)?;
    let repeats = |list| linear.list(list).iter().any(|basis| basis.iter().all(|&step| step == 0));
    // Before 3.9 threads of one warp, and registers of one thread, do so through shared memory, too.
    let within_warps = || repeats(List::Register) || repeats(List::Lane);
    let is_repeated = repeats(List::Warp) || hardware.compiler < Compiler::V3_9 && within_warps();
    let elements: u64 = shape.iter().map(|&extent| u64::from(extent)).product();
    Ok(if is_repeated { elements * u64::from(bits) / 8 } else { 0 })
}

/// The same for a scalar: an element. A warp that is alone tells its threads without memory, if no other CTA waits for the result.
pub fn scalar_atomic_bytes(bits: u32, num_warps: u32, num_ctas: u32, hardware: &Hardware) -> Result<u64, Reason> {
    let bytes = u64::from(stored_bits(bits)?) / 8;
    Ok(if hardware.compiler >= Compiler::V3_9 && num_warps == 1 && num_ctas == 1 { 0 } else { bytes })
}

#[cfg(test)]
mod tests {
    use super::super::Vendor;
    use super::*;

    #[test]
    fn a_warp_that_is_alone_in_a_cluster_needs_nothing() {
        let hardware = Hardware { vendor: Vendor::Nvidia, capability: 100, compiler: Compiler::V3_9 };
        let bytes = |warps, ctas| scalar_atomic_bytes(32, warps, ctas, &hardware);
        assert_eq!([bytes(1, 1), bytes(1, 2), bytes(4, 1)], [Ok(0), Ok(4), Ok(4)]);
    }
}

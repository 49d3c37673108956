//! Scratch of a scan (`ScanLoweringHelper` in `lib/Analysis/Utility.cpp`): what each warp ends with, where several share the axis.

use super::linear::List;
use super::{Hardware, Layout, Reason, stored_bits};

/// Bytes of shared memory that scanning tensors along an axis takes. `element_bits`: one for each of the tensors that are scanned together.
pub fn scan_bytes(
    shape: &[u32],
    axis: usize,
    element_bits: &[u32],
    layout: &Layout,
    hardware: &Hardware,
) -> Result<u64, Reason> {
    let Layout::Blocked { size_per_thread, .. } = layout else {
        return Err("a scan of a layout that is not blocked: the compiler has none".into());
    };
    let linear = layout.linear(shape, hardware)?;
    if axis >= shape.len() {
        return Err(format!("a scan along axis {axis} of {} dimensions", shape.len()).into());
    }
    // Lanes or warps with different data along a dimension.
    let parts = |list, dim: usize| {
        let bases = linear.list(list).iter();
        1_u64 << bases.filter(|basis| basis[dim] != 0).count()
    };
    if parts(List::Warp, axis) == 1 {
        return Ok(0);
    }
    let elements: u64 = (0..shape.len())
        .map(|dim| {
            let (thread, lanes, warps) =
                (u64::from(size_per_thread[dim].min(shape[dim])), parts(List::Lane, dim), parts(List::Warp, dim));
            let blocks = u64::from(shape[dim]).div_ceil(thread * lanes * warps);
            warps * blocks * if dim == axis { 1 } else { lanes * thread }
        })
        .product();
    let bits = element_bits.iter().map(|&bits| stored_bits(bits).map(u64::from)).sum::<Result<u64, Reason>>()?;
    Ok(elements * bits / 8)
}

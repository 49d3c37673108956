//! Layouts that the compiler gives accesses to global memory (`lib/Dialect/TritonGPU/Transforms/Coalesce.cpp`): blocked ones, in which a thread takes
//! up to 16 bytes side by side.

use super::linear::MOST_WARP_BITS;
use super::{Hardware, Layout};

/// Bits that the widest access of a thread takes.
const WIDEST_ACCESS: u64 = 128;

/// The layout of an access to `width` aligned elements of `bits` each, side by side along the first dimension of `order`.
pub fn access_layout(
    shape: &[u32],
    bits: u32,
    width: u64,
    order: &[u32],
    num_warps: u32,
    hardware: &Hardware,
) -> Option<Layout> {
    let is_whole = |extent: &u32| extent.is_power_of_two();
    let are_warps = num_warps.is_power_of_two() && num_warps <= 1 << MOST_WARP_BITS;
    if shape.is_empty() || order.len() != shape.len() || !shape.iter().all(is_whole) || !are_warps {
        return None;
    }
    let elements: u64 = shape.iter().map(|&extent| u64::from(extent)).product();
    let threads = u64::from(hardware.lanes() * num_warps);
    let width = width.min(WIDEST_ACCESS / u64::from(bits.max(8))).min((elements / threads).max(1)).max(1);
    Some(blocked(shape, width as u32, order, num_warps, hardware))
}

/// Threads along the fastest dimension first, each with `width` elements of it.
fn blocked(shape: &[u32], width: u32, order: &[u32], num_warps: u32, hardware: &Hardware) -> Layout {
    let rank = shape.len();
    let (mut size_per_thread, mut threads_per_warp, mut warps_per_cta) = (vec![1; rank], vec![1; rank], vec![1; rank]);
    let (mut lanes, mut warps) = (hardware.lanes(), num_warps);
    for (nth, &dim) in order.iter().enumerate() {
        let dim = dim as usize;
        size_per_thread[dim] = if nth == 0 { width.min(shape[dim]) } else { 1 };
        let threads = if nth + 1 == rank { lanes * warps } else { (shape[dim] / size_per_thread[dim]).max(1) };
        threads_per_warp[dim] = threads.min(lanes);
        warps_per_cta[dim] = (threads / threads_per_warp[dim]).clamp(1, warps);
        lanes /= threads_per_warp[dim];
        warps /= warps_per_cta[dim];
    }
    Layout::Blocked { size_per_thread, threads_per_warp, warps_per_cta, order: order.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::super::Vendor;
    use super::*;
    use crate::device::Compiler;

    const SM_100: Hardware = Hardware { vendor: Vendor::Nvidia, capability: 100, compiler: Compiler::V3_8 };

    #[test]
    fn warps_go_where_lanes_leave_off() {
        let layout = blocked(&[128, 64], 4, &[1, 0], 4, &SM_100);
        let Layout::Blocked { size_per_thread, threads_per_warp, warps_per_cta, .. } = layout else { panic!() };
        assert_eq!((size_per_thread, threads_per_warp, warps_per_cta), (vec![1, 4], vec![2, 16], vec![4, 1]));
    }

    #[test]
    fn a_thread_takes_what_is_aligned_but_leaves_something_to_others() {
        let width = |shape: [u32; 2], bits, width| {
            let layout = access_layout(&shape, bits, width, &[1, 0], 4, &SM_100);
            let Some(Layout::Blocked { size_per_thread, .. }) = layout else { panic!() };
            size_per_thread[1]
        };
        assert_eq!(width([128, 64], 32, 16), 4);
        assert_eq!(width([128, 64], 16, 16), 8);
        assert_eq!(width([128, 64], 32, 1), 1);
        assert_eq!(width([16, 16], 16, 8), 2);
        assert_eq!(access_layout(&[96], 32, 4, &[0], 4, &SM_100), None);
    }
}

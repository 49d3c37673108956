//! Scratch of a reduction (`ReduceOpHelper` in `lib/Analysis/Utility.cpp`). Each thread reduces its registers, each warp its lanes; what is left lies in
//! different warps and moves to lanes of one warp through shared memory, where it is reduced again.

use super::conversion::plain_bytes;
use super::{Hardware, Layout, LinearLayout, Reason, stored_bits};

/// Bytes of shared memory that reducing tensors along an axis takes. `element_bits`: one for each of the tensors that are reduced together.
pub fn reduction_bytes(
    shape: &[u32],
    axis: usize,
    element_bits: &[u32],
    layout: &Layout,
    hardware: &Hardware,
) -> Result<u64, Reason> {
    if axis >= shape.len() {
        return Err(format!("a reduction along axis {axis} of {} dimensions", shape.len()).into());
    }
    let element_bits = element_bits.iter().map(|&bits| stored_bits(bits)).collect::<Result<Vec<u32>, Reason>>()?;
    let mut rest = layout.linear(shape, hardware)?;
    rest.register.retain(|basis| basis[axis] == 0 && !is_zero(basis));
    reduce_lanes(&mut rest, axis);
    let mut largest = 0;
    while rest.warp.iter().any(|basis| basis[axis] != 0) {
        let mut gathered = rest.clone();
        gather_in_lanes(&mut gathered, axis);
        let extents = rest.extents(shape.len());
        let (source, target) = (rest.flat(&extents), gathered.flat(&extents));
        let bytes = element_bits.iter().map(|&bits| plain_bytes(&source, &target, bits, hardware)).sum();
        largest = largest.max(bytes);
        rest = gathered;
        reduce_lanes(&mut rest, axis);
    }
    Ok(largest)
}

fn is_zero(basis: &[u32]) -> bool {
    basis.iter().all(|&step| step == 0)
}

/// Lanes along the axis hold the same afterwards; what is left of the axis is numbered anew.
fn reduce_lanes(layout: &mut LinearLayout, axis: usize) {
    layout.lane.iter_mut().for_each(|basis| basis[axis] = 0);
    let mut left: Vec<u32> = layout.bases().map(|basis| basis[axis]).filter(|&step| step != 0).collect();
    left.sort_unstable();
    for basis in layout.bases_mut() {
        basis[axis] = left.iter().position(|&step| step == basis[axis]).map_or(0, |at| 1 << at);
    }
}

/// Moves what different warps have of the axis to lanes of one warp: to those that repeat data, if they are enough, else to the first ones.
fn gather_in_lanes(layout: &mut LinearLayout, axis: usize) {
    let warps: Vec<usize> = (0..layout.warp.len()).filter(|&warp| layout.warp[warp][axis] != 0).collect();
    let mut lanes: Vec<usize> = (0..layout.lane.len()).filter(|&lane| is_zero(&layout.lane[lane])).collect();
    if lanes.len() < warps.len() {
        lanes = (0..layout.lane.len()).collect();
    }
    for (warp, lane) in warps.into_iter().zip(lanes) {
        std::mem::swap(&mut layout.lane[lane], &mut layout.warp[warp]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Vendor;
    use super::*;
    use crate::device::Compiler;

    fn check(warps_per_cta: u32, element_bits: &[u32], bytes: u64) {
        let layout = Layout::Blocked {
            size_per_thread: vec![4],
            threads_per_warp: vec![32],
            warps_per_cta: vec![warps_per_cta],
            order: vec![0],
        };
        let hardware = Hardware { vendor: Vendor::Nvidia, capability: 90, compiler: Compiler::V3_9 };
        assert_eq!(reduction_bytes(&[1024], 0, element_bits, &layout, &hardware), Ok(bytes));
        assert!(reduction_bytes(&[1024], 1, element_bits, &layout, &hardware).is_err());
    }

    #[test]
    fn each_warp_leaves_an_element_of_each_tensor() {
        check(1, &[32], 0);
        check(4, &[32], 16);
        check(4, &[32, 8], 20);
    }
}

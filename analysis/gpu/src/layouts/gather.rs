//! Scratch of a gather (`GatherLoweringHelper` in `lib/Analysis/Utility.cpp`): none where all that an index can name is in its own warp; else the source.

use super::{Hardware, Layout, Reason, stored_bits};

/// Bytes of shared memory that a gather along an axis takes, where source and indices have one layout. `bits`: of an element of the source.
pub fn gather_bytes(
    source_shape: &[u32],
    index_shape: &[u32],
    axis: usize,
    bits: u32,
    layout: &Layout,
    hardware: &Hardware,
) -> Result<u64, Reason> {
    gather_between_bytes((source_shape, layout), (index_shape, layout), axis, bits, hardware)
}

/// The same for a source and indices of different layouts.
pub fn gather_between_bytes(
    (source_shape, source): (&[u32], &Layout),
    (index_shape, index): (&[u32], &Layout),
    axis: usize,
    bits: u32,
    hardware: &Hardware,
) -> Result<u64, Reason> {
    let bits = stored_bits(bits)?;
    let (source, index) = (source.linear(source_shape, hardware)?, index.linear(index_shape, hardware)?);
    if axis >= source_shape.len() || source_shape.len() != index_shape.len() {
        return Err("a gather along an axis that source or indices do not have".into());
    }
    let other_extents = |shape: &[u32]| [&shape[..axis], &shape[axis + 1..]].concat();
    if other_extents(source_shape) != other_extents(index_shape) {
        return Err("a gather whose indices differ from the source in an axis other than the gathered one".into());
    }
    let shares_axis = |warps: &[Vec<u32>]| warps.iter().any(|basis| basis[axis] != 0);
    let beside_axis = |list: &[Vec<u32>]| -> Vec<Vec<u32>> {
        let without = |basis: &Vec<u32>| [&basis[..axis], &basis[axis + 1..]].concat();
        list.iter().map(without).collect()
    };
    let alike = |one: &[Vec<u32>], other: &[Vec<u32>]| beside_axis(one) == beside_axis(other);
    let within_warps = !shares_axis(&source.warp)
        && !shares_axis(&index.warp)
        && alike(&source.warp, &index.warp)
        && alike(&source.lane, &index.lane);
    let elements: u64 = source_shape.iter().map(|&extent| u64::from(extent)).product();
    Ok(if within_warps { 0 } else { elements * u64::from(bits) / 8 })
}

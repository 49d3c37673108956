//! How many bytes a tile takes (`docs/reference/memory.md`, "Element types", "Size of a tile").

use tilefit_python::element::Dtype;

use crate::ir::TileType;
use crate::target::{Space, Target};

/// The allocator of the compiler gives every buffer an address that is a multiple of this, in bytes, whatever the space.
pub(crate) const ALIGNMENT: u64 = 32;

/// Bytes of `elements` packed without gaps; two 4-bit elements share a byte.
pub(super) fn packed_bytes(elements: u64, dtype: Dtype) -> Option<u64> {
    elements.checked_mul(dtype.storage_bits())?.checked_add(7).map(|bits| bits / 8)
}

/// Bytes that a tile takes by itself in `space`; `None` where its shape is empty, has no rows in `Acc`, or overflows.
///
/// Rows, boxes and fractals are not padded, but for the rows of an accumulator.
pub(crate) fn tile_bytes(tile: &TileType, space: Space, target: Target) -> Option<u64> {
    if tile.shape.contains(&0) {
        return None;
    }
    match space {
        Space::Acc => accumulator_bytes(&tile.shape, tile.dtype, target),
        _ => packed_bytes(elements(&tile.shape)?, tile.dtype),
    }
}

fn elements(shape: &[u64]) -> Option<u64> {
    shape.iter().try_fold(1u64, |product, extent| product.checked_mul(*extent))
}

fn accumulator_bytes(shape: &[u64], dtype: Dtype, target: Target) -> Option<u64> {
    let [leading @ .., rows, columns] = shape else { return None };
    let rows = rows.checked_next_multiple_of(accumulator_rows(dtype, target))?;
    elements(leading)?.checked_mul(rows)?.checked_mul(*columns)?.checked_mul(dtype.get_byte())
}

/// The cube unit writes accumulators in blocks of this many rows.
fn accumulator_rows(dtype: Dtype, target: Target) -> u64 {
    match (target, dtype) {
        (Target::Ascend910b, Dtype::Int32) => 32,
        _ => 16,
    }
}

/// The next multiple of [`ALIGNMENT`]; saturates.
pub(crate) fn aligned(bytes: u64) -> u64 {
    bytes.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX - u64::MAX % ALIGNMENT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::TileView;

    fn bytes(shape: &[u64], dtype: Dtype, space: Space, target: Target) -> Option<u64> {
        let tile =
            TileType { shape: shape.to_vec(), dtype, space: Some(space), view: TileView::default(), binding: None };
        tile_bytes(&tile, space, target)
    }

    #[test]
    fn rows_are_padded_in_accumulators_only() {
        use Target::*;
        assert_eq!(bytes(&[16, 5], Dtype::Fp32, Space::Vec, Ascend910b), Some(320));
        assert_eq!(bytes(&[16, 1], Dtype::Fp32, Space::Vec, Ascend910b), Some(64));
        assert_eq!(bytes(&[1, 64], Dtype::Fp16, Space::Left, Ascend910b), Some(128));
        assert_eq!(bytes(&[1, 64], Dtype::Fp32, Space::Acc, Ascend910b), Some(4096));
        assert_eq!(bytes(&[1, 64], Dtype::Int32, Space::Acc, Ascend910b), Some(8192));
        assert_eq!(bytes(&[1, 64], Dtype::Int32, Space::Acc, Ascend950), Some(4096));
        assert_eq!(bytes(&[2, 17, 8], Dtype::Fp32, Space::Acc, Ascend950), Some(2 * 32 * 8 * 4));
    }

    #[test]
    fn two_small_elements_share_a_byte() {
        assert_eq!(bytes(&[3, 5], Dtype::Fp4, Space::Vec, Target::Ascend950), Some(8));
        assert_eq!(bytes(&[3, 5], Dtype::Bool, Space::Vec, Target::Ascend950), Some(15));
    }

    #[test]
    fn shapes_without_a_size_have_none() {
        assert_eq!(bytes(&[16, 0], Dtype::Fp32, Space::Vec, Target::Ascend910b), None);
        assert_eq!(bytes(&[16], Dtype::Fp32, Space::Acc, Target::Ascend910b), None);
        assert_eq!(bytes(&[u64::MAX, 2], Dtype::Fp32, Space::Vec, Target::Ascend910b), None);
        assert_eq!(bytes(&[u64::MAX, 2], Dtype::Fp32, Space::Acc, Target::Ascend910b), None);
    }
}

//! Layouts that tensor cores give the results of products whose author chooses none (`lib/Dialect/TritonGPU/Transforms/AccelerateMatmul.cpp`).

use super::Layout;
use super::linear::MOST_WARP_BITS;

/// Of warps that each compute tiles of 16 by 8 (`mma.sync`). `is_one_of_several`: there are other products beside it, one of which may be made of
/// another, so that all warps go along one dimension.
pub fn mma_v2_layout(shape: &[u32], num_warps: u32, is_one_of_several: bool) -> Option<Layout> {
    let (rows, columns) = sides(shape, num_warps)?;
    let warps_per_cta = match is_one_of_several {
        true if rows >= columns => vec![num_warps, 1],
        true => vec![1, num_warps],
        false => shared_out(rows.div_ceil(16), columns.div_ceil(8), num_warps),
    };
    Some(mma_v2(warps_per_cta))
}

/// The layouts that [`mma_v2_layout`] chooses from, whatever products are beside it.
pub fn mma_v2_layouts(shape: &[u32], num_warps: u32) -> impl Iterator<Item = Layout> {
    let ways = sides(shape, num_warps).map(|(rows, columns)| {
        [vec![num_warps, 1], vec![1, num_warps], shared_out(rows.div_ceil(16), columns.div_ceil(8), num_warps)]
    });
    ways.into_iter().flatten().map(mma_v2)
}

fn mma_v2(warps_per_cta: Vec<u32>) -> Layout {
    Layout::Mma { version: (2, 0), warps_per_cta, instr_shape: vec![16, 8] }
}

/// Rows and columns of what so many warps compute, where there are devices with as many.
fn sides(shape: &[u32], num_warps: u32) -> Option<(u32, u32)> {
    let &[rows, columns] = shape else { return None };
    (num_warps <= 1 << MOST_WARP_BITS).then_some((rows, columns))
}

/// Warps go where the most tiles are left for each, rows first.
fn shared_out(mut rows: u32, mut columns: u32, num_warps: u32) -> Vec<u32> {
    let mut warps = vec![1, 1];
    while warps[0] * warps[1] < num_warps {
        let (dim, left) = if rows >= columns { (0, &mut rows) } else { (1, &mut columns) };
        warps[dim] *= 2;
        *left = (*left / 2).max(1);
    }
    warps
}

/// Of groups of four warps that compute 64 rows at once (`wgmma`). `is_leading`: another product is computed from this one.
pub fn mma_v3_layout(shape: &[u32], operand_bits: u32, num_warps: u32, is_leading: bool) -> Option<Layout> {
    let (rows, columns) = sides(shape, num_warps)?;
    let beside = (num_warps / (rows / 16).max(1)).max(1);
    let widest = (columns / beside).clamp(8, 256);
    let width = (1..=widest / 8).rev().map(|eighths| eighths * 8).find(|width| columns % width == 0)?;
    let mut warps_per_cta = vec![4, 1];
    if is_leading {
        warps_per_cta = vec![num_warps, 1];
    }
    while warps_per_cta[0] * warps_per_cta[1] < num_warps {
        let dim = usize::from(rows <= 16 * warps_per_cta[0]);
        warps_per_cta[dim] *= 2;
    }
    Some(Layout::Mma { version: (3, 0), warps_per_cta, instr_shape: vec![16, width, 256 / operand_bits.max(1)] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warps(layout: Option<Layout>) -> Vec<u32> {
        match layout {
            Some(Layout::Mma { warps_per_cta, .. }) => warps_per_cta,
            _ => panic!("no layout of tensor cores"),
        }
    }

    #[test]
    fn warps_are_shared_out_by_tiles() {
        assert_eq!(warps(mma_v2_layout(&[128, 128], 4, false)), [2, 2]);
        assert_eq!(warps(mma_v2_layout(&[16, 128], 4, false)), [1, 4]);
        assert_eq!(warps(mma_v2_layout(&[128, 64], 4, true)), [4, 1]);
        assert_eq!(warps(mma_v3_layout(&[128, 128], 16, 8, false)), [8, 1]);
        assert_eq!(warps(mma_v3_layout(&[64, 256], 16, 8, false)), [4, 2]);
        assert_eq!(mma_v3_layout(&[64, 256], 16, 1 << 31, false), None);
    }
}

//! Layouts of buffers: how many bytes or columns they come to, and how they are aligned (`lib/Dialect/TritonGPU/IR/Dialect.cpp`, `Types.cpp`;
//! `lib/Dialect/TritonNvidiaGPU/IR/TensorMemoryUtils.cpp` of Triton 3.9).

use tilefit_python::finding::Reason;

/// The layout of a buffer in shared memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SharedLayout {
    Nvmma(Nvmma),
    Swizzled {
        order: Vec<u64>,
        cga: Cga,
    },
    /// `MBarrierLayout`
    Barrier {
        cga: Cga,
    },
    /// Pads `pad` elements after each `interval` of them.
    Padded {
        pairs: Vec<(u64, u64)>,
        rank: usize,
        cga: Cga,
    },
    /// `offset` has a basis for each bit of the offset.
    Linear {
        offset: Vec<Vec<u64>>,
        cga: Cga,
        alignment: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Nvmma {
    /// Bytes: 0, 32, 64 or 128.
    pub swizzle: u64,
    pub element_bits: u64,
    pub rank: usize,
    pub transposed: bool,
    pub fp4_padded: bool,
    pub cga: Cga,
}

/// How CTAs divide a buffer: a basis for each bit of the CTA's number.
pub type Cga = Vec<Vec<u64>>;

/// The part of a shape that one CTA holds; the bases speak of the last dimensions.
pub fn shape_of_cta(shape: &[u64], cga: &Cga) -> Vec<u64> {
    let mut shape = shape.to_vec();
    for basis in cga {
        let leading = shape.len().saturating_sub(basis.len());
        for (extent, &entry) in shape[leading..].iter_mut().zip(basis) {
            if entry > 0 {
                *extent = (*extent / 2).max(1);
            }
        }
    }
    shape
}

fn product(extents: &[u64]) -> Result<u64, Reason> {
    let product = extents.iter().try_fold(1u64, |all, &extent| all.checked_mul(extent));
    product.filter(|&product| product < 1 << 40).ok_or_else(|| Reason::new("a buffer is too large to count its bytes"))
}

impl Nvmma {
    /// The swizzle of `NVMMASharedLayout.get_default_for`, bytes.
    pub fn default_swizzle(shape: &[u64], element_bits: u64, transposed: bool, fp4_padded: bool, cga: &Cga) -> u64 {
        let mut shape = shape_of_cta(shape, cga);
        if transposed && !shape.is_empty() {
            shape.rotate_left(1);
        }
        let Some((&contiguous, others)) = shape.split_last() else { return 0 };
        let rows = others.iter().fold(1u64, |rows, &extent| rows.saturating_mul(extent));
        if others.is_empty() || rows < 8 {
            return 0;
        }
        let bytes = contiguous.saturating_mul(if fp4_padded { 2 } else { 1 }).saturating_mul(element_bits) / 8;
        [128, 64, 32].into_iter().find(|&width| bytes >= width && bytes % width == 0).unwrap_or(0)
    }
}

impl SharedLayout {
    pub fn rank(&self) -> usize {
        match self {
            SharedLayout::Nvmma(layout) => layout.rank,
            SharedLayout::Swizzled { order, .. } => order.len(),
            SharedLayout::Barrier { .. } => 1,
            SharedLayout::Padded { rank, .. } => *rank,
            SharedLayout::Linear { offset, cga, .. } => offset.first().or(cga.first()).map_or(0, Vec::len),
        }
    }

    pub fn cga(&self) -> &Cga {
        match self {
            SharedLayout::Nvmma(Nvmma { cga, .. })
            | SharedLayout::Swizzled { cga, .. }
            | SharedLayout::Barrier { cga }
            | SharedLayout::Padded { cga, .. }
            | SharedLayout::Linear { cga, .. } => cga,
        }
    }

    /// Bytes that one CTA gives a buffer.
    pub fn size(&self, shape: &[u64], element_bits: u64) -> Result<u64, Reason> {
        let mut extents = shape_of_cta(shape, self.cga());
        if let SharedLayout::Nvmma(Nvmma { fp4_padded: true, transposed, rank, .. }) = self {
            let leading = extents.len().saturating_sub(*rank);
            let contiguous = if *transposed { extents.get_mut(leading) } else { extents.last_mut() };
            if let Some(extent) = contiguous {
                *extent = extent.saturating_mul(2);
            }
        }
        let elements = product(&extents)?;
        let padding = match self {
            SharedLayout::Padded { pairs, .. } => {
                let pads = pairs.iter().filter(|(interval, _)| *interval > 0);
                pads.map(|(interval, pad)| pad.saturating_mul(elements.saturating_sub(1) / interval)).sum()
            }
            _ => 0,
        };
        Ok((elements + padding).saturating_mul(element_bits).div_ceil(8))
    }

    /// Bytes.
    pub fn alignment(&self) -> u64 {
        match self {
            SharedLayout::Nvmma(layout) => match layout.swizzle {
                128 => 1024,
                64 => 512,
                32 => 256,
                _ => 128,
            },
            SharedLayout::Linear { alignment, .. } => (*alignment).max(1),
            SharedLayout::Swizzled { .. } | SharedLayout::Barrier { .. } | SharedLayout::Padded { .. } => 16,
        }
    }
}

/// The layout of a buffer in tensor memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TensorMemoryLayout {
    Blocks { block: [u64; 2], column_stride: u64, two_ctas: bool, fp4_padded: bool, cga: Cga },
    Scales { cga: Cga },
}

impl TensorMemoryLayout {
    /// Columns of 32 bits, and the rows that it takes: 64 or 128.
    pub fn extent(&self, shape: &[u64], element_bits: u64) -> Result<(u64, u32), Reason> {
        let (leading, inner) = shape.split_at(shape.len().saturating_sub(2));
        let (TensorMemoryLayout::Blocks { cga, .. } | TensorMemoryLayout::Scales { cga }) = self;
        let [m, n] = shape_of_cta(inner, cga)[..] else {
            return Err(Reason::new("tensor memory has rows and columns"));
        };
        let count = product(leading)?;
        let (columns, rows) = match *self {
            TensorMemoryLayout::Scales { .. } => (2 * m.div_ceil(64).max(1) * n.div_ceil(4), 128),
            TensorMemoryLayout::Blocks { block: [block_m, block_n], column_stride, two_ctas, fp4_padded, .. } => {
                let block_n = block_n.min(n);
                if block_n == 0 || !matches!(block_m, 64 | 128) {
                    return Err(Reason::new(format!("a tensor memory block of {block_m} × {block_n} is not modelled")));
                }
                let stride = column_stride * if fp4_padded { 2 } else { 1 };
                let words = |blocks: u64| stride.saturating_mul(blocks).saturating_mul(element_bits).div_ceil(32);
                let along_n = n / block_n;
                match block_m {
                    128 => (words(block_n * (m / 128).max(1) * along_n), 128),
                    _ if two_ctas => (words(block_n / 2 * (m / 64).max(1) * along_n), 128),
                    _ if m == 64 && n <= block_n => (words(block_n), 64),
                    _ => (words(block_n * (m / 64).max(1) * along_n / 2), 128),
                }
            }
        };
        Ok((columns.saturating_mul(count), rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nvmma(shape: &[u64], bits: u64) -> SharedLayout {
        let swizzle = Nvmma::default_swizzle(shape, bits, false, false, &Vec::new());
        SharedLayout::Nvmma(Nvmma {
            swizzle,
            element_bits: bits,
            rank: shape.len(),
            transposed: false,
            fp4_padded: false,
            cga: Vec::new(),
        })
    }

    #[test]
    fn a_wide_tile_is_swizzled_and_aligned() {
        let layout = nvmma(&[128, 64], 16);
        assert_eq!((layout.size(&[3, 128, 64], 16), layout.alignment()), (Ok(49152), 1024));
        let layout = nvmma(&[4, 64], 16);
        assert_eq!((layout.size(&[4, 64], 16), layout.alignment()), (Ok(512), 128));
    }

    #[test]
    fn ctas_divide_a_buffer() {
        let layout = SharedLayout::Swizzled { order: vec![1, 0], cga: vec![vec![1, 0], vec![0, 0]] };
        assert_eq!(layout.size(&[2, 64, 32], 32), Ok(2 * 32 * 32 * 4));
    }

    #[test]
    fn padding_is_between_intervals() {
        let layout = SharedLayout::Padded { pairs: vec![(128, 4)], rank: 1, cga: Vec::new() };
        assert_eq!(layout.size(&[512], 16), Ok((512 + 3 * 4) * 2));
    }

    #[test]
    fn tensor_memory_counts_columns() {
        let blocks = |block| TensorMemoryLayout::Blocks {
            block,
            column_stride: 1,
            two_ctas: false,
            fp4_padded: false,
            cga: Vec::new(),
        };
        assert_eq!(blocks([128, 128]).extent(&[2, 128, 128], 32), Ok((256, 128)));
        assert_eq!(blocks([64, 128]).extent(&[64, 128], 32), Ok((128, 64)));
        assert_eq!(blocks([64, 64]).extent(&[64, 128], 32), Ok((64, 128)));
        assert_eq!(TensorMemoryLayout::Scales { cga: Vec::new() }.extent(&[128, 8], 8), Ok((8, 128)));
    }
}

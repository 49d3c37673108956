//! Types of values: tiles, tensors, scalars.

use std::fmt;

use super::{Binding, Reason, Scalar};
use crate::target::Space;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    Tile(TileType),
    Tensor(TensorType),
    Scalar(Dtype),
    Tuple(Vec<Type>),
    Unknown(Reason),
}

/// A tile: a block of on-chip memory with a constant shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileType {
    /// Extents in elements; physical, always constant.
    pub shape: Vec<u64>,
    pub dtype: Dtype,
    /// `None` until memory-space inference.
    pub space: Option<Space>,
    pub view: TileView,
    /// The declared allocation that the author bound this tile to.
    pub binding: Option<Binding>,
}

/// How the elements lie; a field that is `None` has the implicit value of (shape, space), `reference/memory.md` §3.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TileView {
    /// The part that holds data, where narrower than the shape.
    pub valid_shape: Option<Vec<Scalar>>,
    pub blayout: Option<BLayout>,
    pub slayout: Option<SLayout>,
    /// Bytes of an inner box.
    pub fractal: Option<u32>,
    pub pad: Option<Pad>,
}

/// Order of the blocks of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BLayout {
    RowMajor,
    ColMajor,
}

/// Order inside of a box of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SLayout {
    NoneBox,
    RowMajor,
    ColMajor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pad {
    Null,
    Zero,
    Max,
    Min,
}

/// A tensor in global memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorType {
    /// Extents; constants, or expressions over dynamic dimensions. Empty with `rank_known == false` for a bare `pl.Tensor`.
    pub shape: Vec<Scalar>,
    pub dtype: Option<Dtype>,
    pub layout: TensorLayout,
    pub is_output: bool,
    pub rank_known: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TensorLayout {
    #[default]
    Nd,
    Dn,
    Nz,
}

macro_rules! dtypes {
    ($($variant:ident $name:literal $logical:literal $storage:literal $byte:literal;)*) => {
        /// Element types (`reference/memory.md` §1).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Dtype { $($variant),* }

        impl Dtype {
            pub const ALL: &'static [Dtype] = &[$(Dtype::$variant),*];

            pub fn name(self) -> &'static str {
                match self { $(Dtype::$variant => $name),* }
            }

            /// Bits that carry information.
            pub fn logical_bits(self) -> u64 {
                match self { $(Dtype::$variant => $logical),* }
            }

            /// Bits that one element takes in memory.
            pub fn storage_bits(self) -> u64 {
                match self { $(Dtype::$variant => $storage),* }
            }

            /// What `pl.X.get_byte()` gives.
            pub fn get_byte(self) -> u64 {
                match self { $(Dtype::$variant => $byte),* }
            }
        }
    };
}

dtypes! {
    Bool "BOOL" 1 8 1;
    Int4 "INT4" 4 4 1;
    Int8 "INT8" 8 8 1;
    Int16 "INT16" 16 16 2;
    Int32 "INT32" 32 32 4;
    Int64 "INT64" 64 64 8;
    Uint4 "UINT4" 4 4 1;
    Uint8 "UINT8" 8 8 1;
    Uint16 "UINT16" 16 16 2;
    Uint32 "UINT32" 32 32 4;
    Uint64 "UINT64" 64 64 8;
    Fp4 "FP4" 4 4 1;
    Fp8E4M3Fn "FP8E4M3FN" 8 8 1;
    Fp8E5M2 "FP8E5M2" 8 8 1;
    Fp8E8M0 "FP8E8M0" 8 8 1;
    Fp16 "FP16" 16 16 2;
    Fp32 "FP32" 32 32 4;
    Bf16 "BF16" 16 16 2;
    Hf4 "HF4" 4 4 1;
    Hf8 "HF8" 8 8 1;
    Index "INDEX" 64 64 8;
    TaskId "TASK_ID" 64 64 8;
}

impl Dtype {
    pub fn from_name(name: &str) -> Option<Dtype> {
        Dtype::ALL.iter().copied().find(|dtype| dtype.name() == name)
    }

    pub fn is_float(self) -> bool {
        use Dtype::*;
        matches!(self, Fp4 | Fp8E4M3Fn | Fp8E5M2 | Fp8E8M0 | Fp16 | Fp32 | Bf16 | Hf4 | Hf8)
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

//! Types of values: tiles, tensors, scalars.

use tilefit_python::element::{Dtype, Pad};
use tilefit_python::finding::Reason;

use super::{Binding, Scalar};
use crate::target::Space;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    Tile(TileType),
    Tensor(TensorType),
    Scalar(Dtype),
    /// Scalars in memory of the scalar unit.
    Array {
        dtype: Dtype,
        extent: u64,
    },
    Tuple(Vec<Type>),
    Unknown(Reason),
}

/// A tile: a block of on-chip memory with a constant shape.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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

/// How the elements lie; a field that is `None` has the implicit value of (shape, space): `docs/reference/memory.md`, "Layout".
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct TileView {
    /// The part that holds data, where narrower than the shape.
    pub valid_shape: Option<Vec<Scalar>>,
    pub blayout: Option<BLayout>,
    pub slayout: Option<SLayout>,
    /// Bytes of an inner box.
    pub fractal: Option<u32>,
    pub pad: Option<Pad>,
}

/// The layout of a tile's elements: order of its boxes, order inside of a box, bytes of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layout {
    pub blayout: BLayout,
    pub slayout: SLayout,
    pub fractal: u32,
}

impl Layout {
    /// The layout of a tile that states none (`docs/reference/memory.md`, "Layout").
    pub fn implicit(shape: &[u64], space: Option<Space>) -> Layout {
        let flat = match shape {
            [rows, 1] if *rows > 1 => BLayout::ColMajor,
            _ => BLayout::RowMajor,
        };
        let (blayout, slayout, fractal) = match space {
            Some(Space::Mat | Space::Left) => (BLayout::ColMajor, SLayout::RowMajor, 512),
            Some(Space::Right) => (flat, SLayout::ColMajor, 512),
            Some(Space::Acc) => (BLayout::ColMajor, SLayout::RowMajor, 1024),
            Some(Space::LeftScale) => (BLayout::RowMajor, SLayout::RowMajor, 32),
            Some(Space::RightScale) => (BLayout::ColMajor, SLayout::ColMajor, 32),
            None | Some(Space::Vec | Space::Bias | Space::Ddr | Space::ScalarLocal) => (flat, SLayout::NoneBox, 512),
        };
        Layout { blayout, slayout, fractal }
    }
}

impl TileType {
    /// The layout that is stated, or implied by shape and space.
    pub fn layout(&self) -> Layout {
        let implicit = Layout::implicit(&self.shape, self.space);
        Layout {
            blayout: self.view.blayout.unwrap_or(implicit.blayout),
            slayout: self.view.slayout.unwrap_or(implicit.slayout),
            fractal: self.view.fractal.unwrap_or(implicit.fractal),
        }
    }

    /// The part that holds data.
    pub fn valid_shape(&self) -> Vec<Scalar> {
        match &self.view.valid_shape {
            Some(valid) => valid.clone(),
            None => self.shape.iter().map(|&extent| Scalar::Int(extent as i64)).collect(),
        }
    }

    /// Forgets a view that says no more than shape and space do, as the compiler does; a view that says more states all of
    /// its layout.
    pub fn canonicalize(&mut self) {
        let full =
            self.valid_shape().iter().zip(&self.shape).all(|(valid, &extent)| valid.as_int() == Some(extent as i64));
        if full {
            self.view.valid_shape = None;
        }
        let pad = self.view.pad.filter(|&pad| pad != Pad::Null);
        let layout = self.layout();
        self.view.pad = pad;
        if full && pad.is_none() && layout == Layout::implicit(&self.shape, self.space) {
            self.view = TileView::default();
            return;
        }
        self.view.blayout = Some(layout.blayout);
        self.view.slayout = Some(layout.slayout);
        self.view.fractal = Some(layout.fractal);
    }
}

/// Order of the blocks of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BLayout {
    RowMajor,
    ColMajor,
}

impl BLayout {
    const ALL: [BLayout; 2] = [BLayout::RowMajor, BLayout::ColMajor];

    /// The name after `pl.TileLayout.`
    pub fn name(self) -> &'static str {
        match self {
            BLayout::RowMajor => "row_major",
            BLayout::ColMajor => "col_major",
        }
    }

    pub fn from_name(name: &str) -> Option<BLayout> {
        BLayout::ALL.into_iter().find(|layout| layout.name() == name)
    }
}

/// Order inside of a box of a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SLayout {
    NoneBox,
    RowMajor,
    ColMajor,
}

impl SLayout {
    const ALL: [SLayout; 3] = [SLayout::NoneBox, SLayout::RowMajor, SLayout::ColMajor];

    /// The name after `pl.TileLayout.`
    pub fn name(self) -> &'static str {
        match self {
            SLayout::NoneBox => "none_box",
            SLayout::RowMajor => "row_major",
            SLayout::ColMajor => "col_major",
        }
    }

    pub fn from_name(name: &str) -> Option<SLayout> {
        SLayout::ALL.into_iter().find(|layout| layout.name() == name)
    }
}

/// A tensor in global memory.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
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
    /// Row by row.
    #[default]
    Nd,
    /// Column by column.
    Dn,
    /// In boxes of 16 rows and 32 bytes, boxes column by column.
    Nz,
    /// Scales of a left operand: in boxes of 16 rows and 2 columns, boxes row by row.
    MxAZz,
    /// Scales of a right operand: in boxes of 2 rows and 16 columns, both column by column.
    MxBNn,
}

impl TensorLayout {
    pub const ALL: [TensorLayout; 5] =
        [TensorLayout::Nd, TensorLayout::Dn, TensorLayout::Nz, TensorLayout::MxAZz, TensorLayout::MxBNn];

    /// The name after `pl.`, which is that of the instruction library too.
    pub fn name(self) -> &'static str {
        match self {
            TensorLayout::Nd => "ND",
            TensorLayout::Dn => "DN",
            TensorLayout::Nz => "NZ",
            TensorLayout::MxAZz => "MX_A_ZZ",
            TensorLayout::MxBNn => "MX_B_NN",
        }
    }

    pub fn from_name(name: &str) -> Option<TensorLayout> {
        TensorLayout::ALL.into_iter().find(|layout| layout.name() == name)
    }

    /// How a tile of scales lies that was loaded from such a tensor.
    pub fn of_scales(self) -> Option<Layout> {
        match self {
            TensorLayout::MxAZz => Some(Layout { blayout: BLayout::RowMajor, slayout: SLayout::RowMajor, fractal: 32 }),
            TensorLayout::MxBNn => Some(Layout { blayout: BLayout::ColMajor, slayout: SLayout::ColMajor, fractal: 32 }),
            TensorLayout::Nd | TensorLayout::Dn | TensorLayout::Nz => None,
        }
    }
}

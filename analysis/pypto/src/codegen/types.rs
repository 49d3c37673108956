//! Spellings of types in C++ (`docs/reference/codegen.md`, "Tensors", "Element types", "Tiles").

use std::fmt::Write;

use tilefit_python::element::{Dtype, Pad};

use crate::ir::{BLayout, Layout, SLayout, TensorLayout, TileType};
use crate::isa_rules;
use crate::target::Space;

/// The element type; `None` for types that the instruction library has no C++ type for.
pub(super) fn dtype(dtype: Dtype) -> Option<&'static str> {
    Some(match dtype {
        Dtype::Bool => "bool",
        Dtype::Int8 => "int8_t",
        Dtype::Int16 => "int16_t",
        Dtype::Int32 => "int32_t",
        Dtype::Int64 | Dtype::Index => "int64_t",
        Dtype::Uint8 => "uint8_t",
        Dtype::Uint16 => "uint16_t",
        Dtype::Uint32 => "uint32_t",
        Dtype::Uint64 => "uint64_t",
        Dtype::Fp16 => "half",
        Dtype::Fp32 => "float",
        Dtype::Bf16 => "bfloat16",
        Dtype::Fp8E4M3Fn => "float8_e4m3_t",
        Dtype::Fp8E5M2 => "float8_e5m2_t",
        Dtype::Fp8E8M0 => "float8_e8m0_t",
        Dtype::Hf8 => "hifloat8_t",
        Dtype::Int4 | Dtype::Uint4 | Dtype::Fp4 | Dtype::Hf4 | Dtype::TaskId => return None,
    })
}

/// Element types that 910B has no unit for.
pub(super) fn is_of_950(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::Fp8E4M3Fn | Dtype::Fp8E5M2 | Dtype::Fp8E8M0 | Dtype::Hf8)
}

/// Why a type has no C++ form, for one that [`dtype`] does not know.
pub(super) fn without_form(dtype: Dtype) -> Refusal {
    match dtype.storage_bits() {
        4 => format!("two {dtype} elements share a byte, but the instruction library addresses bytes"),
        _ => format!("the instruction library has no C++ type for {dtype}"),
    }
}

/// Rows and columns of the boxes that a tensor lies in.
pub(super) fn boxes(layout: TensorLayout, dtype: Dtype) -> Option<[u64; 2]> {
    match layout {
        TensorLayout::Nd | TensorLayout::Dn => None,
        TensorLayout::Nz => Some([16, 32u64.checked_div(dtype.storage_bits() / 8)?]),
        TensorLayout::MxAZz => Some([16, 2]),
        TensorLayout::MxBNn => Some([2, 16]),
    }
}

/// Elements from a row to the next and from a column to the next, where both begin boxes, of a tensor in boxes.
pub(super) fn strides_of_boxes(layout: TensorLayout, [rows, cols]: [u64; 2], unit: [u64; 2]) -> [u64; 2] {
    match layout {
        // The boxes of one column of them lie one after the other.
        TensorLayout::Nz => [unit[1], rows],
        TensorLayout::MxAZz => [cols, 16],
        TensorLayout::MxBNn | TensorLayout::Nd | TensorLayout::Dn => [16, rows],
    }
}

/// A tile type of the instruction library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TileForm {
    pub space: Space,
    pub dtype: Dtype,
    pub rows: u64,
    pub cols: u64,
    pub blayout: BLayout,
    pub slayout: SLayout,
    /// Bytes of an inner box.
    pub fractal: u32,
    pub pad: Pad,
}

/// Why a tile has no C++ type.
pub(super) type Refusal = String;

impl TileForm {
    pub(super) fn new(tile: &TileType) -> Result<TileForm, Refusal> {
        let space = tile.space.ok_or("its memory space is unknown")?;
        let (rows, cols) = match *tile.shape {
            [cols] => (1, cols),
            [rows, cols] => (rows, cols),
            _ => return Err(format!("a tile has one or two dimensions in C++, but this one has {}", tile.shape.len())),
        };
        if dtype(tile.dtype).is_none() {
            return Err(without_form(tile.dtype));
        }
        let (blayout, slayout, fractal) = implicit_layout(space, rows, cols);
        Ok(TileForm {
            space,
            dtype: tile.dtype,
            rows,
            cols,
            blayout: tile.view.blayout.unwrap_or(blayout),
            slayout: tile.view.slayout.unwrap_or(slayout),
            fractal: tile.view.fractal.unwrap_or(fractal),
            pad: tile.view.pad.unwrap_or(Pad::Null),
        })
    }

    /// The same bytes as one row, for instructions that refuse column-major tiles.
    pub(super) fn as_row(self) -> TileForm {
        TileForm { rows: 1, cols: self.rows, blayout: BLayout::RowMajor, ..self }
    }

    pub(super) fn is_column(self) -> bool {
        self.space == Space::Vec && self.cols == 1 && self.blayout == BLayout::ColMajor && self.rows > 1
    }

    /// The C++ type. Valid rows and columns are always `-1`: the constructor has them.
    pub(super) fn spelling(self) -> String {
        let mut text = format!(
            "Tile<TileType::{}, {}, {}, {}, BLayout::{}, -1, -1",
            location(self.space),
            dtype(self.dtype).unwrap_or("void"),
            self.rows,
            self.cols,
            blayout(self.blayout),
        );
        let plain = self.slayout == SLayout::NoneBox && self.fractal == 512 && self.pad == Pad::Null;
        if !plain {
            let _ = write!(text, ", SLayout::{}, {}", slayout(self.slayout), self.fractal);
        }
        if self.pad != Pad::Null {
            let _ = write!(text, ", PadValue::{}", pad(self.pad));
        }
        text.push('>');
        text
    }

    /// Rows and columns of an inner box; `None` for tiles without.
    pub(super) fn box_shape(self) -> Option<(u64, u64)> {
        if self.slayout == SLayout::NoneBox { None } else { isa_rules::unit(self.dtype, self.layout()) }
    }

    fn layout(self) -> Layout {
        Layout { blayout: self.blayout, slayout: self.slayout, fractal: self.fractal }
    }

    /// What the instruction library's static assertions would refuse.
    pub(super) fn refusal(self) -> Option<Refusal> {
        let Self { rows, cols, dtype, space, .. } = self;
        isa_rules::refused(rows, cols, dtype, space, self.layout()).map(|refused| refused.problem)
    }
}

/// Layout of a tile whose author gave none (`docs/reference/memory.md`, "Layout").
fn implicit_layout(space: Space, rows: u64, cols: u64) -> (BLayout, SLayout, u32) {
    let column = cols == 1 && rows > 1;
    match space {
        Space::Mat | Space::Left => (BLayout::ColMajor, SLayout::RowMajor, 512),
        Space::Right => (if column { BLayout::ColMajor } else { BLayout::RowMajor }, SLayout::ColMajor, 512),
        Space::Acc => (BLayout::ColMajor, SLayout::RowMajor, 1024),
        Space::LeftScale => (BLayout::RowMajor, SLayout::RowMajor, 32),
        Space::RightScale => (BLayout::ColMajor, SLayout::ColMajor, 32),
        Space::Vec | Space::Bias | Space::Ddr | Space::ScalarLocal => {
            (if column { BLayout::ColMajor } else { BLayout::RowMajor }, SLayout::NoneBox, 512)
        }
    }
}

fn location(space: Space) -> &'static str {
    match space {
        Space::Mat => "Mat",
        Space::Left => "Left",
        Space::Right => "Right",
        Space::Acc => "Acc",
        Space::Bias => "Bias",
        Space::LeftScale => "ScaleLeft",
        Space::RightScale => "ScaleRight",
        Space::Vec | Space::Ddr | Space::ScalarLocal => "Vec",
    }
}

pub(super) fn blayout(layout: BLayout) -> &'static str {
    match layout {
        BLayout::RowMajor => "RowMajor",
        BLayout::ColMajor => "ColMajor",
    }
}

pub(super) fn slayout(layout: SLayout) -> &'static str {
    match layout {
        SLayout::NoneBox => "NoneBox",
        SLayout::RowMajor => "RowMajor",
        SLayout::ColMajor => "ColMajor",
    }
}

fn pad(pad: Pad) -> &'static str {
    match pad {
        Pad::Null => "Null",
        Pad::Zero => "Zero",
        Pad::Max => "Max",
        Pad::Min => "Min",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::TileView;

    fn tile(space: Space, shape: &[u64], dtype: Dtype) -> TileType {
        TileType { shape: shape.to_vec(), dtype, space: Some(space), view: TileView::default(), binding: None }
    }

    #[test]
    fn spells_a_tile_of_every_space() {
        let mut text = String::new();
        let mut add = |tile: TileType| {
            let form = TileForm::new(&tile).unwrap();
            text.push_str(&format!("{}\n", form.spelling()));
        };
        add(tile(Space::Vec, &[128, 64], Dtype::Fp32));
        add(tile(Space::Vec, &[64, 1], Dtype::Fp32));
        add(tile(Space::Vec, &[64], Dtype::Bf16));
        add(tile(Space::Mat, &[64, 128], Dtype::Fp16));
        add(tile(Space::Left, &[64, 128], Dtype::Fp16));
        add(tile(Space::Right, &[128, 64], Dtype::Fp16));
        add(tile(Space::Acc, &[64, 64], Dtype::Fp32));
        add(tile(Space::Bias, &[1, 64], Dtype::Fp32));
        let mut padded = tile(Space::Vec, &[64, 64], Dtype::Fp32);
        padded.view.pad = Some(Pad::Min);
        add(padded);
        expect_test::expect![[r#"
            Tile<TileType::Vec, float, 128, 64, BLayout::RowMajor, -1, -1>
            Tile<TileType::Vec, float, 64, 1, BLayout::ColMajor, -1, -1>
            Tile<TileType::Vec, bfloat16, 1, 64, BLayout::RowMajor, -1, -1>
            Tile<TileType::Mat, half, 64, 128, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 512>
            Tile<TileType::Left, half, 64, 128, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 512>
            Tile<TileType::Right, half, 128, 64, BLayout::RowMajor, -1, -1, SLayout::ColMajor, 512>
            Tile<TileType::Acc, float, 64, 64, BLayout::ColMajor, -1, -1, SLayout::RowMajor, 1024>
            Tile<TileType::Bias, float, 1, 64, BLayout::RowMajor, -1, -1>
            Tile<TileType::Vec, float, 64, 64, BLayout::RowMajor, -1, -1, SLayout::NoneBox, 512, PadValue::Min>
        "#]]
        .assert_eq(&text);
    }

    #[test]
    fn says_what_the_library_refuses() {
        let refusal = |tile: TileType| TileForm::new(&tile).and_then(|form| form.refusal().map_or(Ok(()), Err));
        assert_eq!(refusal(tile(Space::Vec, &[16, 64], Dtype::Fp32)), Ok(()));
        assert_eq!(
            refusal(tile(Space::Vec, &[16, 5], Dtype::Fp32)).unwrap_err(),
            "rows of 20 bytes (5 FP32); the instruction library takes multiples of 32 bytes"
        );
        assert_eq!(
            refusal(tile(Space::Left, &[24, 64], Dtype::Fp16)).unwrap_err(),
            "24 x 64 elements, but FP16 is stored in Left in boxes of 16 x 16; the instruction library takes whole boxes"
        );
        assert_eq!(
            refusal(tile(Space::Vec, &[16, 64], Dtype::Int4)).unwrap_err(),
            "two INT4 elements share a byte, but the instruction library addresses bytes"
        );
    }
}

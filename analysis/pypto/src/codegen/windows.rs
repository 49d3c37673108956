//! Shapes and strides of windows of tensors in C++ (`docs/reference/codegen.md`, "Tensors").

use std::fmt::Write;

use tilefit_python::element::Dtype;

use super::sequence::{Elements, Wrapper};
use super::types::boxes;
use crate::ir::TensorLayout;

/// The five extents and strides of a window of a tensor in boxes: boxes along both axes, and what is in one
/// (`docs/reference/codegen.md`, "Tensors"; `TileShape2D` in the header). `None` for others.
pub(super) fn in_boxes(wrapper: &Wrapper, dtype: Dtype) -> Option<(Vec<i64>, Vec<Elements>)> {
    let unit = boxes(wrapper.layout, dtype)?;
    let (&[rows, cols], [Elements::Known(row), Elements::Known(col)]) =
        (wrapper.window.as_slice(), wrapper.strides.as_slice())
    else {
        return None;
    };
    let along = [rows / unit[0], cols / unit[1]];
    let (extents, strides) = match wrapper.layout {
        TensorLayout::Nz => {
            ([along[1], along[0], unit[0], unit[1]], [col.saturating_mul(unit[1]), unit[0] * unit[1], unit[1], 1])
        }
        TensorLayout::MxAZz => ([along[0], along[1], 16, 2], [row.saturating_mul(16), 32, 2, 1]),
        TensorLayout::MxBNn => ([along[1], along[0], 16, 2], [col.saturating_mul(16), 32, 2, 1]),
        TensorLayout::Nd | TensorLayout::Dn => return None,
    };
    let extents = extents.into_iter().map(|extent| extent as i64).collect();
    Some((extents, strides.into_iter().map(Elements::Known).collect()))
}

/// `Shape<1, 1, 1, 128, 64>`: five extents, with leading ones. `-1`: the constructor has it.
pub(super) fn shape(extents: &[i64]) -> String {
    five("Shape", extents)
}

/// `Stride<1, 1, 1, 64, 1>` in elements.
pub(super) fn stride(strides: &[Elements]) -> String {
    let known = strides.iter().map(|stride| match stride {
        Elements::Known(stride) => *stride as i64,
        Elements::RunTime(_) => -1,
    });
    five("Stride", &known.collect::<Vec<_>>())
}

fn five(template: &str, values: &[i64]) -> String {
    let mut text = format!("{template}<");
    for index in 0..5 {
        let value = (index + values.len()).checked_sub(5).map_or(1, |at| values[at]);
        let _ = write!(text, "{}{value}", if index == 0 { "" } else { ", " });
    }
    text.push('>');
    text
}

/// Strides of a row-major tensor.
pub(super) fn row_major_strides(extents: &[Elements]) -> Vec<Elements> {
    use Elements::{Known, RunTime};
    let mut strides = vec![Known(1); extents.len()];
    for axis in (1..extents.len()).rev() {
        strides[axis - 1] = match (&extents[axis], &strides[axis]) {
            (Known(extent), Known(stride)) => Known(extent.saturating_mul(*stride)),
            (RunTime(one), Known(1)) | (Known(1), RunTime(one)) => RunTime(one.clone()),
            (RunTime(extent), Known(stride)) => RunTime(format!("({extent} * {stride})")),
            (Known(extent), RunTime(stride)) => RunTime(format!("({extent} * {stride})")),
            (RunTime(extent), RunTime(stride)) => RunTime(format!("({extent} * {stride})")),
        };
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::super::types::strides_of_boxes;
    use super::*;

    #[test]
    fn pads_shapes_and_strides_to_five() {
        assert_eq!(shape(&[128, 64]), "Shape<1, 1, 1, 128, 64>");
        assert_eq!(shape(&[1, -1, 64]), "Shape<1, 1, 1, -1, 64>");
        let strides = |extents: &[Elements]| stride(&row_major_strides(extents));
        let of = |extents: &[u64]| strides(&extents.iter().copied().map(Elements::Known).collect::<Vec<_>>());
        assert_eq!(of(&[128, 64]), "Stride<1, 1, 1, 64, 1>");
        assert_eq!(of(&[16, 128, 64]), "Stride<1, 1, 8192, 64, 1>");
        assert_eq!(shape(&[256]), "Shape<1, 1, 1, 1, 256>");
        let open = Elements::RunTime("N".to_string());
        assert_eq!(strides(std::slice::from_ref(&open)), "Stride<1, 1, 1, 1, 1>");
        let extents = [Elements::Known(4), open, Elements::Known(8)];
        assert_eq!(strides(&extents), "Stride<1, 1, -1, 8, 1>");
        assert_eq!(row_major_strides(&extents)[0], Elements::RunTime("(N * 8)".to_string()));
    }

    #[test]
    fn tensors_in_boxes_may_be_of_any_size() {
        for layout in TensorLayout::ALL {
            let (name, window, strides) = (String::new(), vec![u64::MAX; 2], vec![Elements::Known(u64::MAX); 2]);
            let wrapper =
                Wrapper { arg: 0, name, number: 0, window, run_time: Vec::new(), strides, layout, element: false };
            for dtype in Dtype::ALL {
                assert_eq!(in_boxes(&wrapper, *dtype).is_some(), boxes(layout, *dtype).is_some());
            }
        }
    }

    /// Against the layouts element by element: where a box begins, and the distance of its rows and columns.
    #[test]
    fn tensors_in_boxes_have_five_axes() {
        let (rows, cols) = (64, 96);
        let place = |layout: TensorLayout, row: u64, col: u64| match layout {
            TensorLayout::Nz => col / 16 * (rows * 16) + row * 16 + col % 16,
            TensorLayout::MxAZz => row / 16 * (cols * 16) + col / 2 * 32 + row % 16 * 2 + col % 2,
            _ => col / 16 * (rows * 16) + row / 2 * 32 + col % 16 * 2 + row % 2,
        };
        for layout in [TensorLayout::Nz, TensorLayout::MxAZz, TensorLayout::MxBNn] {
            let dtype = if layout == TensorLayout::Nz { Dtype::Fp16 } else { Dtype::Fp8E8M0 };
            let unit = boxes(layout, dtype).unwrap();
            let strides = strides_of_boxes(layout, [rows, cols], unit);
            for (row, col) in [(0, 0), (16, 0), (0, 32), (48, 80)] {
                assert_eq!(row * strides[0] + col * strides[1], place(layout, row, col), "{layout:?} {row} {col}");
            }
            let window = vec![32, 32];
            let (name, strides) = (String::new(), strides.map(Elements::Known).to_vec());
            let wrapper =
                Wrapper { arg: 0, name, number: 0, window, run_time: Vec::new(), strides, layout, element: false };
            let (extents, strides) = in_boxes(&wrapper, dtype).unwrap();
            let [Elements::Known(a), Elements::Known(b), Elements::Known(c), Elements::Known(1)] = strides[..] else {
                panic!("{strides:?}");
            };
            for row in 0..32 {
                for col in 0..32 {
                    let [of_row, of_col] = [row / unit[0], col / unit[1]];
                    let [in_row, in_col] = [row % unit[0], col % unit[1]];
                    let index = match layout {
                        TensorLayout::Nz => [of_col, of_row, in_row, in_col],
                        TensorLayout::MxAZz => [of_row, of_col, in_row, in_col],
                        _ => [of_col, of_row, in_col, in_row],
                    };
                    assert!(index.iter().zip(&extents).all(|(at, extent)| (*at as i64) < *extent), "{layout:?}");
                    let at = index[0] * a + index[1] * b + index[2] * c + index[3];
                    assert_eq!(at, place(layout, row, col), "{layout:?} {row} {col}");
                }
            }
        }
    }
}

//! The layout and the valid part of an operation's result.

use super::{Deduction, Result, known, reshape};
use crate::ir::{Attr, BLayout, Layout, Operand, Pad, Reason, SLayout, Scalar, TensorLayout, TileView};
use crate::ops::View;
use crate::target::Space;

impl Deduction<'_> {
    /// The space that the view is stated for, and the view with every field given.
    pub(super) fn view(&self, shape: &[u64]) -> Result<(Option<Space>, TileView)> {
        let flat = Layout::implicit(shape, None);
        let row_major = Layout { blayout: BLayout::RowMajor, ..flat };
        let accumulator = Layout::implicit(shape, Some(Space::Acc));
        let full = || constant_extents(shape);
        let of = |layout: Layout, valid: Vec<Scalar>| (None, stated(layout, valid, None));
        Ok(match self.op.view {
            View::Same(arg) => {
                let source = self.tile(arg)?;
                let valid = if source.shape == shape { source.valid_shape() } else { full() };
                of(source.layout(), valid)
            }
            View::Full(arg) => of(self.tile(arg)?.layout(), full()),
            View::RowMajor => of(row_major, full()),
            View::Literal(arg) => {
                let valid = self.list(arg).ok().filter(|valid| valid.len() == shape.len()).map(<[Scalar]>::to_vec);
                of(row_major, valid.unwrap_or_else(full))
            }
            View::RowReduced => {
                let mut valid = self.tile(0)?.valid_shape();
                if let Some(last) = valid.last_mut() {
                    *last = Scalar::Int(1);
                }
                of(Layout { blayout: BLayout::ColMajor, slayout: SLayout::NoneBox, fractal: 512 }, valid)
            }
            View::ColReduced => {
                let mut valid = self.tile(0)?.valid_shape();
                if let Some(first) = valid.first_mut() {
                    *first = Scalar::Int(1);
                }
                of(row_major, valid)
            }
            View::CompareBits => of(self.tile(0)?.layout(), full()),
            View::Padded => {
                let pad = match self.call.attr("pad_value") {
                    Some(Attr::Pad(pad)) => Some(*pad),
                    _ => None,
                };
                (None, stated(self.tile(0)?.layout(), full(), pad))
            }
            View::Accumulator => of(accumulator, full()),
            View::Matmul => {
                let (left, right) = (self.tile(0)?.valid_shape(), self.tile(1)?.valid_shape());
                match (left.first(), right.last()) {
                    (Some(rows), Some(cols)) => of(accumulator, vec![rows.clone(), cols.clone()]),
                    _ => of(accumulator, full()),
                }
            }
            View::Gemv => {
                let mut valid = full();
                if let Some(first) = valid.first_mut() {
                    *first = Scalar::Int(1);
                }
                of(accumulator, valid)
            }
            View::Assemble => {
                let target = self.tile(0)?;
                (None, stated(target.layout(), target.valid_shape(), target.view.pad))
            }
            View::Create => {
                if self.call.attr("flat_layout") == Some(&Attr::Bool(true)) {
                    return Ok((Some(Space::Mat), stated(row_major, full(), None)));
                }
                if self.attr_space() == Some(Space::Acc) {
                    return Ok((Some(Space::Acc), stated(accumulator, full(), None)));
                }
                if self.call.attr("transpose") == Some(&Attr::Bool(true)) {
                    return Ok(of(Layout { slayout: SLayout::ColMajor, ..row_major }, full()));
                }
                of(flat, full())
            }
            View::Extract => {
                let space = self.attr_space().unwrap_or(Space::Vec);
                let implicit = Layout::implicit(shape, Some(space));
                let layout = match space {
                    Space::Left => Layout { blayout: BLayout::RowMajor, slayout: SLayout::RowMajor, ..implicit },
                    Space::Right => Layout { blayout: BLayout::RowMajor, ..implicit },
                    _ => implicit,
                };
                (Some(space), stated(layout, full(), None))
            }
            View::Load => self.load_view(shape)?,
            View::Move => self.move_view(shape)?,
            View::Reshape => {
                let source = self.tile(0)?;
                let is_row_major = source.layout().blayout == BLayout::RowMajor;
                let valid = reshape::valid(&source.shape, &source.valid_shape(), shape, is_row_major);
                let unknown = || Scalar::Unknown(Reason("the valid part of a reshaped tile".to_owned()));
                let valid = valid.unwrap_or_else(|| vec![unknown(); shape.len()]);
                (None, stated(flat, valid, source.view.pad))
            }
            View::Slice => {
                let source = self.tile(0)?;
                let (_, valid) = self.slice()?;
                let layout = if source.view == TileView::default() { flat } else { source.layout() };
                let pad = match self.call.attr("pad_value") {
                    Some(Attr::Pad(pad)) => Some(*pad),
                    _ => source.view.pad,
                };
                (None, stated(layout, valid, pad))
            }
            View::ValidShape => {
                let source = self.tile(0)?;
                let extents = (1..self.call.args.len() as u8).map(|arg| match self.operand(arg) {
                    Some(Operand::Scalar(extent)) => extent.clone(),
                    Some(Operand::Var(var)) => Scalar::Var(*var),
                    _ => Scalar::Unknown(Reason("a valid extent".to_owned())),
                });
                let valid: Vec<Scalar> = extents.collect();
                let valid = if valid.len() == shape.len() { valid } else { source.valid_shape() };
                (None, stated(source.layout(), valid, source.view.pad))
            }
            View::LayoutsSwapped => {
                let source = self.tile(0)?;
                let layout = source.layout();
                let mut valid = source.valid_shape();
                let rank = valid.len();
                if rank >= 2 {
                    valid.swap(rank - 2, rank - 1);
                }
                let flipped = Layout {
                    blayout: match layout.blayout {
                        BLayout::RowMajor => BLayout::ColMajor,
                        BLayout::ColMajor => BLayout::RowMajor,
                    },
                    slayout: match layout.slayout {
                        SLayout::RowMajor => SLayout::ColMajor,
                        SLayout::ColMajor => SLayout::RowMajor,
                        SLayout::NoneBox => SLayout::NoneBox,
                    },
                    fractal: layout.fractal,
                };
                (source.space, stated(flipped, valid, source.view.pad))
            }
            View::Reinterpret => {
                let source = self.tile(0)?;
                (source.space, stated(source.layout(), full(), source.view.pad))
            }
            View::GatherRows => of(row_major, full()),
            View::SplitDoubled => {
                let implicit = Layout::implicit(shape, Some(Space::Mat));
                (Some(Space::Mat), stated(implicit, full(), None))
            }
            View::SplitHalved | View::Annotation | View::Nothing => of(flat, full()),
        })
    }

    fn load_view(&self, shape: &[u64]) -> Result<(Option<Space>, TileView)> {
        let tensor = self.tensor(0)?;
        let space = self.attr_space();
        let is_dn = tensor.layout == TensorLayout::Dn || self.call.attr("transpose") == Some(&Attr::Bool(true));
        let flat = Layout { blayout: BLayout::RowMajor, slayout: SLayout::NoneBox, fractal: 512 };
        let layout = match (space, shape) {
            (Some(Space::Mat), _) if tensor.layout.of_scales().is_some() => tensor.layout.of_scales().unwrap_or(flat),
            (Some(Space::Mat), [rows, cols]) if (if is_dn { *cols } else { *rows }) == 1 => flat,
            (Some(Space::Mat), _) if is_dn => {
                Layout { blayout: BLayout::RowMajor, slayout: SLayout::ColMajor, fractal: 512 }
            }
            (Some(Space::Mat), _) => Layout { blayout: BLayout::ColMajor, slayout: SLayout::RowMajor, fractal: 512 },
            (Some(_), [.., 1]) => Layout { blayout: BLayout::ColMajor, ..flat },
            _ => flat,
        };
        let valid = match self.list(3) {
            Ok(valid) if valid.len() == shape.len() => {
                valid.iter().map(|extent| known(extent, self.constants)).collect()
            }
            _ => constant_extents(shape),
        };
        let clamp = self.call.attr("clamp") == Some(&Attr::Bool(true));
        let valid = if clamp && tensor.shape.len() == shape.len() {
            let offsets = self.list(1)?;
            let edges = tensor.shape.iter().zip(offsets).zip(valid);
            let clamped =
                edges.map(|((extent, offset), valid)| match (extent.as_int(), offset.as_int(), valid.as_int()) {
                    (Some(extent), Some(offset), Some(valid)) => Scalar::Int(valid.min(extent.saturating_sub(offset))),
                    _ => valid,
                });
            clamped.collect()
        } else {
            valid
        };
        Ok((space, stated(layout, valid, None)))
    }

    fn move_view(&self, shape: &[u64]) -> Result<(Option<Space>, TileView)> {
        let source = self.tile(0)?;
        let Some(space) = self.attr_space() else {
            return Err(self.invalid("`target_memory` must be a memory space such as `pl.Mem.Left`".to_owned()));
        };
        let mut layout = Layout::implicit(shape, Some(space));
        if layout == Layout::implicit(shape, None) {
            layout.blayout = source.layout().blayout;
            layout.slayout = source.layout().slayout;
        }
        if space == Space::Right {
            layout.blayout = BLayout::RowMajor;
        }
        if let Some(Attr::BLayout(blayout)) = self.call.attr("blayout") {
            layout.blayout = *blayout;
        }
        if let Some(Attr::SLayout(slayout)) = self.call.attr("slayout") {
            layout.slayout = *slayout;
        }
        Ok((Some(space), stated(layout, source.valid_shape(), source.view.pad)))
    }
}

fn constant_extents(shape: &[u64]) -> Vec<Scalar> {
    shape.iter().map(|&extent| Scalar::Int(extent as i64)).collect()
}

fn stated(layout: Layout, valid: Vec<Scalar>, pad: Option<Pad>) -> TileView {
    TileView {
        valid_shape: Some(valid),
        blayout: Some(layout.blayout),
        slayout: Some(layout.slayout),
        fractal: Some(layout.fractal),
        pad,
    }
}

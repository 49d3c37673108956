//! The layout and the valid part of an operation's result.

use tilefit_python::element::{Dtype, Pad};
use tilefit_python::finding::Reason;

use super::proof::{Proof, Prover};
use super::region::{Read, Write};
use super::reshape::Reshaped;
use super::{Deduction, Result, known, notation, reshape, scalar};
use crate::ir::{
    Attr, AttrName, BLayout, Layout, Operand, SLayout, Scalar, ScalarBinary, TensorLayout, TensorType, TileType,
    TileView, Type,
};
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
                let layout = Layout { fractal: flat.fractal, ..source.layout() };
                // Valid where the operand is, be it that another one makes the result wider.
                let valid = if source.shape.len() == shape.len() { source.valid_shape() } else { full() };
                (None, stated(layout, valid, source.view.pad))
            }
            View::Full(arg) => {
                let source = self.tile(arg)?;
                let layout = Layout { fractal: flat.fractal, ..source.layout() };
                (None, stated(layout, full(), source.view.pad))
            }
            View::RowMajor => of(row_major, full()),
            View::Literal(arg) => {
                let valid = self.list(arg).ok().filter(|valid| valid.len() == shape.len()).map(<[Scalar]>::to_vec);
                of(row_major, valid.unwrap_or_else(full))
            }
            View::RowReduced => {
                self.check_not_empty()?;
                let mut valid = self.tile(0)?.valid_shape();
                if let Some(last) = valid.last_mut() {
                    *last = Scalar::Int(1);
                }
                of(Layout { blayout: BLayout::ColMajor, slayout: SLayout::NoneBox, fractal: 512 }, valid)
            }
            View::ColReduced => {
                self.check_not_empty()?;
                let mut valid = self.tile(0)?.valid_shape();
                if let Some(first) = valid.first_mut() {
                    *first = Scalar::Int(1);
                }
                of(row_major, valid)
            }
            View::CompareBits => {
                let source = self.tile(0)?;
                let mut valid = source.valid_shape();
                if let Some(last) = valid.last_mut() {
                    *last = bytes_of_bits(last);
                }
                let valid = if valid.len() == shape.len() { valid } else { full() };
                let layout = Layout { fractal: flat.fractal, ..source.layout() };
                (None, stated(layout, valid, source.view.pad))
            }
            View::Padded => {
                let pad = match self.call.attr(AttrName::PadValue) {
                    Some(Attr::Pad(pad)) => Some(*pad),
                    _ => None,
                };
                (None, stated(self.tile(0)?.layout(), full(), pad))
            }
            View::Accumulator => of(accumulator, full()),
            View::Accumulated => {
                self.check_product_fits()?;
                of(accumulator, self.tile(0)?.valid_shape())
            }
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
                let (target, source) = (self.tile(0)?, self.tile(1)?);
                let valid = self.written(&constant_extents(shape), target.valid_shape(), source, true)?;
                (target.space, stated(target.layout(), valid, target.view.pad))
            }
            View::Create => {
                if self.call.flag(AttrName::FlatLayout) {
                    return Ok((Some(Space::Mat), stated(row_major, full(), None)));
                }
                if self.call.target_memory() == Some(Space::Acc) {
                    return Ok((Some(Space::Acc), stated(accumulator, full(), None)));
                }
                if self.call.flag(AttrName::Transpose) {
                    return Ok(of(Layout { slayout: SLayout::ColMajor, ..row_major }, full()));
                }
                of(flat, full())
            }
            View::Extract => {
                let space = self.call.target_memory().unwrap_or(Space::Vec);
                let implicit = Layout::implicit(shape, Some(space));
                let layout = match space {
                    Space::Left => Layout { blayout: BLayout::RowMajor, slayout: SLayout::RowMajor, ..implicit },
                    Space::Right => Layout { blayout: BLayout::RowMajor, ..implicit },
                    _ => implicit,
                };
                (Some(space), stated(layout, self.extracted(shape)?, None))
            }
            View::Load => self.load_view(shape)?,
            View::LoadRemote => (None, stated(flat, self.loaded_from_remote(shape)?, None)),
            View::Move => self.move_view(shape)?,
            View::Reshape => (None, stated(flat, self.reshaped(shape)?, self.tile(0)?.view.pad)),
            View::Slice => {
                let source = self.tile(0)?;
                let (_, valid) = self.slice()?;
                let layout = if source.view == TileView::default() { flat } else { source.layout() };
                let pad = match self.call.attr(AttrName::PadValue) {
                    Some(Attr::Pad(pad)) => Some(*pad),
                    _ => source.view.pad,
                };
                (None, stated(layout, valid, pad))
            }
            View::ValidShape => {
                let source = self.tile(0)?;
                self.check_valid_extents(source)?;
                let extents = (1..self.call.args.len() as u8).map(|arg| match self.operand(arg) {
                    Some(Operand::Scalar(extent)) => extent.clone(),
                    Some(Operand::Var(var)) => Scalar::Var(*var),
                    _ => Scalar::Unknown(Reason::new("a valid extent")),
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

    pub(super) fn prover(&self) -> Prover<'_> {
        Prover { vars: self.vars }
    }

    /// What is added to an accumulator lies where the accumulator holds data.
    fn check_product_fits(&self) -> Result<()> {
        let (held, left, right) =
            (self.tile(0)?.valid_shape(), self.tile(1)?.valid_shape(), self.tile(2)?.valid_shape());
        let sides = [("rows", held.first(), left.first()), ("columns", held.last(), right.last())];
        for (what, held, needed) in sides {
            if let (Some(held), Some(needed)) = (held, needed)
                && self.prover().less_equal(needed, held) == Proof::No
            {
                return Err(self.invalid(format!(
                    "the product is valid in {} {what}, and the accumulator only in {}",
                    notation::scalar(needed, self.vars),
                    notation::scalar(held, self.vars)
                )));
            }
        }
        Ok(())
    }

    /// A reduction needs something to reduce.
    fn check_not_empty(&self) -> Result<()> {
        match self.tile(0)?.valid_shape().iter().position(|extent| extent.as_int() == Some(0)) {
            Some(axis) => Err(self.invalid(format!("the operand holds no data: its valid extent on axis {axis} is 0"))),
            None => Ok(()),
        }
    }

    /// Operands of `set_validshape`: integers of 64 bits, between nothing and the extent of the tile.
    fn check_valid_extents(&self, source: &TileType) -> Result<()> {
        if source.shape.len() != 2 {
            return Err(self.invalid(format!("a tile of {:?}; it takes tiles with two axes", source.shape)));
        }
        for (arg, &bound) in (1..).zip(&source.shape) {
            let dtype = self.dtype_of(arg)?;
            if !matches!(dtype, Dtype::Index | Dtype::Int64 | Dtype::Uint64) {
                return Err(self.invalid(format!(
                    "`{}` must have dtype INT64, UINT64 or INDEX, but it is {dtype}; write `pl.cast(..., pl.INDEX)`",
                    self.arg_name(arg)
                )));
            }
            if let Some(Operand::Scalar(valid)) = self.operand(arg)
                && let Some(valid) = valid.as_literal()
                && !(0..=bound as i64).contains(&valid)
            {
                return Err(self.invalid(format!(
                    "`{}` is {valid}, but must be from 0 to {bound}, the extent of the tile there",
                    self.arg_name(arg)
                )));
            }
        }
        Ok(())
    }

    fn load_view(&self, shape: &[u64]) -> Result<(Option<Space>, TileView)> {
        let tensor = self.tensor(0)?;
        let space = self.call.target_memory();
        let is_dn = tensor.layout == TensorLayout::Dn || self.call.flag(AttrName::Transpose);
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
        let valid = self.loaded(tensor, shape)?.iter().map(|extent| known(extent, self.constants)).collect();
        Ok((space, stated(layout, valid, None)))
    }

    /// The part of a loaded window that holds data.
    fn loaded(&self, tensor: &TensorType, shape: &[u64]) -> Result<Vec<Scalar>> {
        let (offsets, window) = (self.list(1)?, constant_extents(shape));
        let requested = self.list(3).ok().filter(|valid| valid.len() == shape.len()).unwrap_or(&window);
        // Other axes than those of the tensor: no window of it, but its memory read in another way.
        let is_transposed = self.call.flag(AttrName::Transpose);
        if is_transposed || !tensor.rank_known || tensor.shape.len() != shape.len() || offsets.len() != shape.len() {
            return Ok(requested.to_vec());
        }
        let read = Read {
            source: &tensor.shape,
            valid: &tensor.shape,
            offsets,
            window: &window,
            requested: Some(requested),
            exact: false,
            clamp: self.call.flag(AttrName::Clamp),
            remedy: "pass the available extent as `valid_shape`, or `clamp=True` to stop at the edge",
            vars: self.vars,
        };
        read.valid().map_err(|refused| self.out_of_bounds(refused))
    }

    fn loaded_from_remote(&self, shape: &[u64]) -> Result<Vec<Scalar>> {
        let (tensor, offsets, window) = (self.tensor(0)?, self.list(2)?, constant_extents(shape));
        let requested = self.list(4).ok().filter(|valid| valid.len() == shape.len());
        if !tensor.rank_known || tensor.shape.len() != shape.len() || offsets.len() != shape.len() {
            return Ok(requested.map_or(window, <[Scalar]>::to_vec));
        }
        let read = Read {
            source: &tensor.shape,
            valid: &tensor.shape,
            offsets,
            window: &window,
            requested,
            exact: false,
            clamp: false,
            remedy: "pass the available extent as `valid_shape`",
            vars: self.vars,
        };
        read.valid().map_err(|refused| self.out_of_bounds(refused))
    }

    /// The part of a reshaped tile that holds data.
    fn reshaped(&self, shape: &[u64]) -> Result<Vec<Scalar>> {
        let source = self.tile(0)?;
        let (valid, is_row_major) = (source.valid_shape(), source.layout().blayout == BLayout::RowMajor);
        match reshape::valid(self.prover(), &source.shape, &valid, shape, is_row_major) {
            Reshaped::Valid(valid) => Ok(valid),
            Reshaped::Unsure => {
                Ok(vec![Scalar::Unknown(Reason::new("the valid part of a reshaped tile")); shape.len()])
            }
            Reshaped::Refused(why) => {
                let (from, valid) = (&source.shape, notation::extents(&valid, self.vars));
                let only = format!("only part of it holds data (valid shape {valid}) and {why}");
                Err(self.out_of_bounds(format!(
                    "cannot reshape {from:?} to {shape:?} because {only}; reshape all of it and narrow the result, or copy the data out first"
                )))
            }
        }
    }

    fn extracted(&self, shape: &[u64]) -> Result<Vec<Scalar>> {
        let (source, window) = (self.tile(0)?, constant_extents(shape));
        let [row, column] = [1, 2].map(|arg| match self.operand(arg) {
            Some(Operand::Scalar(offset)) => offset.clone(),
            Some(Operand::Var(var)) => Scalar::Var(*var),
            _ => Scalar::Unknown(Reason::new("an index")),
        });
        if source.shape.len() != 2 || shape.len() != 2 {
            return Ok(window);
        }
        let read = Read {
            source: &constant_extents(&source.shape),
            valid: &source.valid_shape(),
            offsets: &[row, column],
            window: &window,
            requested: None,
            exact: true,
            clamp: false,
            remedy: "keep offset + shape inside it",
            vars: self.vars,
        };
        read.valid().map_err(|refused| self.out_of_bounds(refused))
    }

    /// The part of a target that holds data once a tile is written to it at the offsets that are operand 2 or 1.
    fn written(
        &self,
        target: &[Scalar],
        target_valid: Vec<Scalar>,
        source: &TileType,
        exact: bool,
    ) -> Result<Vec<Scalar>> {
        let offsets = self.list(if exact { 2 } else { 1 })?;
        if source.shape.len() != target.len() || offsets.len() != target.len() {
            return Ok(if exact { target.to_vec() } else { target_valid });
        }
        let write = Write {
            target,
            target_valid: &target_valid,
            source: &constant_extents(&source.shape),
            source_valid: &source.valid_shape(),
            offsets,
            exact,
            vars: self.vars,
        };
        write.valid().map_err(|refused| self.out_of_bounds(refused))
    }

    /// A store writes what the tile holds into the tensor.
    pub(super) fn check_store(&self, tensor: &TensorType) -> Result<()> {
        let has_partition = matches!(self.operand(3), Some(Operand::List(shapes)) if !shapes.is_empty());
        if !has_partition
            && tensor.rank_known
            && let Some(Type::Tile(source)) = self.operand_type(0)
        {
            self.written(&tensor.shape, tensor.shape.clone(), source, false)?;
        }
        Ok(())
    }

    fn move_view(&self, shape: &[u64]) -> Result<(Option<Space>, TileView)> {
        let source = self.tile(0)?;
        let Some(space) = self.call.target_memory() else {
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
        if let Some(Attr::BLayout(blayout)) = self.call.attr(AttrName::BLayout) {
            layout.blayout = *blayout;
        }
        if let Some(Attr::SLayout(slayout)) = self.call.attr(AttrName::SLayout) {
            layout.slayout = *slayout;
        }
        Ok((Some(space), stated(layout, source.valid_shape(), source.view.pad)))
    }
}

/// Bytes that hold one bit for each of so many elements.
fn bytes_of_bits(elements: &Scalar) -> Scalar {
    let int = Scalar::Int;
    let padded = scalar::binary(ScalarBinary::Add, elements.clone(), int(7));
    scalar::binary(ScalarBinary::FloorDiv, padded, int(8))
}

pub(super) fn constant_extents(shape: &[u64]) -> Vec<Scalar> {
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

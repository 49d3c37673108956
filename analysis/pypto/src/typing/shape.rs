//! The extents of an operation's result.

use super::proof::Proof;
use super::region::Read;
use super::view::constant_extents;
use super::{Deduction, Problem, Result, notation};
use crate::ir::{Attr, AttrName, BLayout, Operand, Scalar, Type};
use crate::ops::{Coalesce, OpId, Shape};

impl Deduction<'_> {
    pub(super) fn shape(&self) -> Result<Vec<u64>> {
        match self.op.shape {
            Shape::Same(arg) => Ok(self.tile(arg)?.shape.clone()),
            Shape::Equal(args) => {
                self.check_valid_alike(args)?;
                let shapes = self.shapes(args)?;
                match shapes.split_first() {
                    Some((first, rest)) if rest.iter().all(|shape| shape == first) => Ok(first.to_vec()),
                    Some((first, rest)) => Err(self.invalid(format!(
                        "the operands have the shapes {first:?} and {:?}; they must be equal",
                        rest[0]
                    ))),
                    None => Err(Problem::not_modelled(format!("`{}`", self.op.name))),
                }
            }
            Shape::Broadcast(args) => self.broadcast(args),
            Shape::Literal(arg) => self.literal(arg),
            Shape::Last => {
                let last = self.call.args.len().saturating_sub(1);
                Ok(self.tile(last as u8)?.shape.clone())
            }
            Shape::RowReduced => {
                let mut shape = self.tile(0)?.shape.clone();
                if let Some(last) = shape.last_mut() {
                    *last = 1;
                }
                Ok(shape)
            }
            Shape::ColReduced => {
                let mut shape = self.tile(0)?.shape.clone();
                if let Some(first) = shape.first_mut() {
                    *first = 1;
                }
                Ok(shape)
            }
            Shape::LastDoubled => {
                let mut shape = self.tile(0)?.shape.clone();
                if let Some(last) = shape.last_mut() {
                    *last = last.saturating_mul(2);
                }
                Ok(shape)
            }
            Shape::CompareBits(args) => {
                let mut shape = self.broadcast(args)?;
                if let Some(last) = shape.last_mut() {
                    *last = last.div_ceil(8).div_ceil(32).saturating_mul(32);
                }
                Ok(shape)
            }
            Shape::Concat => {
                let (left, right) = (self.tile(0)?, self.tile(1)?);
                match (left.shape.as_slice(), right.shape.as_slice()) {
                    ([rows, left], [other, right]) if rows == other => Ok(vec![*rows, left.saturating_add(*right)]),
                    (left, right) => Err(self.invalid(format!("{left:?} and {right:?} do not have the same rows"))),
                }
            }
            Shape::Matmul { lhs, rhs } => {
                let (left, right) = (&self.tile(lhs)?.shape, &self.tile(rhs)?.shape);
                match (left.as_slice(), right.as_slice()) {
                    ([rows, inner], [other, cols]) if inner == other => Ok(vec![*rows, *cols]),
                    ([_, inner], [other, _]) => {
                        Err(self
                            .invalid(format!("{left:?} times {right:?}: the inner extents {inner} and {other} differ")))
                    }
                    _ => Err(self.invalid(format!("{left:?} times {right:?}: both must have two axes"))),
                }
            }
            Shape::BatchMatmul => self.batch_matmul(),
            Shape::Gemv { rhs, .. } => match self.tile(rhs)?.shape.as_slice() {
                [_, cols] => Ok(vec![16, *cols]),
                other => Err(self.invalid(format!("{other:?} must have two axes"))),
            },
            Shape::Transpose => {
                let mut shape = self.tile(0)?.shape.clone();
                let (one, other) = (self.axis(1, shape.len())?, self.axis(2, shape.len())?);
                shape.swap(one, other);
                Ok(shape)
            }
            Shape::LastTwoSwapped => {
                let mut shape = self.tile(0)?.shape.clone();
                match shape.len() {
                    0 | 1 => Err(self.invalid("the tile has less than two axes".to_owned())),
                    rank => {
                        shape.swap(rank - 2, rank - 1);
                        Ok(shape)
                    }
                }
            }
            Shape::Slice => self.slice().map(|(shape, _)| shape),
            Shape::Reinterpret => self.reinterpret(),
            Shape::GatherMask => {
                let mut shape = self.tile(0)?.shape.clone();
                let divisor = match self.call.int(AttrName::MaskPattern) {
                    Some(1 | 2) => 2,
                    Some(3..=6) => 4,
                    Some(7) => 1,
                    _ => return Err(Problem::not_modelled("an unknown `mask_pattern`")),
                };
                if let Some(last) = shape.last_mut() {
                    *last /= divisor;
                }
                Ok(shape)
            }
            Shape::GatherBlocks => match self.tile(1)?.shape.as_slice() {
                [rows, cols] => Ok(vec![*rows, cols.saturating_mul(32) / (self.dtype()?.storage_bits() / 8).max(1)]),
                other => Err(self.invalid(format!("{other:?} must have two axes"))),
            },
            Shape::GatherRows => self.gathered_rows(),
            Shape::SplitHalved | Shape::SplitDoubled => {
                let source = self.tile(0)?;
                if source.view.valid_shape.is_some() {
                    return Err(Problem::not_modelled(format!("`{}` of a partly valid tile", self.op.name)));
                }
                let mut shape = source.shape.clone();
                let axis = match self.call.int(AttrName::Split) {
                    Some(0) => return Ok(shape),
                    Some(1) => 0,
                    Some(2) => 1,
                    _ => return Err(Problem::not_modelled(format!("`{}` outside `pl.split_aiv`", self.op.name))),
                };
                match shape.get_mut(axis) {
                    Some(extent) if self.op.shape == Shape::SplitDoubled => *extent = extent.saturating_mul(2),
                    Some(extent) if extent.is_multiple_of(2) => *extent /= 2,
                    _ => {
                        return Err(Problem::not_modelled(format!(
                            "`{}` of {:?}, which has no halves",
                            self.op.name, source.shape
                        )));
                    }
                }
                Ok(shape)
            }
            Shape::GatherCompare
            | Shape::Annotation
            | Shape::Tensor(_)
            | Shape::Scalar
            | Shape::Array
            | Shape::ArrayElement
            | Shape::ArrayWritten
            | Shape::Nothing => Err(Problem::not_modelled(format!("`{}`", self.op.name))),
        }
    }

    /// Operands hold data in the same part.
    fn check_valid_alike(&self, args: &[u8]) -> Result<()> {
        let Some((&first, rest)) = args.split_first() else { return Ok(()) };
        let (shape, valid) = (&self.tile(first)?.shape, self.tile(first)?.valid_shape());
        for &arg in rest {
            let other = self.tile(arg)?.valid_shape();
            let differ = |(one, other)| matches!(self.prover().equal(one, other), Proof::No | Proof::Open);
            if *shape == self.tile(arg)?.shape && valid.iter().zip(&other).any(differ) {
                return Err(self.invalid(format!(
                    "the operands have the valid shapes {} and {}; they must be equal",
                    notation::extents(&valid, self.vars),
                    notation::extents(&other, self.vars)
                )));
            }
        }
        Ok(())
    }

    fn shapes(&self, args: &[u8]) -> Result<Vec<&[u64]>> {
        args.iter().map(|&arg| self.tile(arg).map(|tile| tile.shape.as_slice())).collect()
    }

    fn broadcast(&self, args: &[u8]) -> Result<Vec<u64>> {
        self.shapes(args)?.into_iter().try_fold(Vec::new(), |result, shape| {
            broadcast(&result, shape).ok_or_else(|| {
                self.invalid(format!("the shapes {result:?} and {shape:?} do not fit; extents must be equal or 1"))
            })
        })
    }

    fn literal(&self, arg: u8) -> Result<Vec<u64>> {
        let shape = self.constant_list(arg)?;
        if self.call.op == OpId::RESHAPE {
            let source = &self.tile(0)?.shape;
            let count = |shape: &[u64]| shape.iter().try_fold(1u64, |count, &extent| count.checked_mul(extent));
            if count(source) != count(&shape) {
                return Err(self.invalid(format!("{source:?} and {shape:?} do not have the same number of elements")));
            }
        }
        Ok(shape)
    }

    fn batch_matmul(&self) -> Result<Vec<u64>> {
        let (left, right) = (&self.tile(0)?.shape, &self.tile(1)?.shape);
        let ([left_batch @ .., rows, _], [right_batch @ .., _, cols]) = (left.as_slice(), right.as_slice()) else {
            return Err(self.invalid(format!("{left:?} times {right:?}: both must have two axes or more")));
        };
        let longer = if left_batch.len() >= right_batch.len() { left_batch } else { right_batch };
        let mut shape = longer.to_vec();
        let shorter = if left_batch.len() >= right_batch.len() { right_batch } else { left_batch };
        for (extent, other) in shape.iter_mut().rev().zip(shorter.iter().rev()) {
            *extent = (*extent).max(*other);
        }
        shape.extend([*rows, *cols]);
        Ok(shape)
    }

    fn axis(&self, arg: u8, rank: usize) -> Result<usize> {
        let literal = |operand: &Operand| match operand {
            Operand::Scalar(scalar) => scalar.as_literal(),
            _ => None,
        };
        match self.operand(arg).and_then(literal) {
            Some(axis) => {
                let at = if axis < 0 { axis + rank as i64 } else { axis };
                let at = usize::try_from(at).ok().filter(|&at| at < rank);
                at.ok_or_else(|| self.invalid(format!("axis {axis} of a tile with {rank} axes")))
            }
            _ => Err(Problem::not_modelled("an unknown axis")),
        }
    }

    /// Shape and valid shape of a slice.
    pub(super) fn slice(&self) -> Result<(Vec<u64>, Vec<Scalar>)> {
        let source = self.tile(0)?;
        let shape = self.constant_list(1)?;
        let offsets = self.list(2)?;
        if shape.len() != offsets.len() || shape.len() != source.shape.len() {
            return Err(self.invalid(format!(
                "shape and offset must have one entry for each of the {} axes of the tile",
                source.shape.len()
            )));
        }
        let requested = match self.operand(3) {
            Some(Operand::List(valid)) if valid.len() == shape.len() => Some(valid.as_slice()),
            _ => None,
        };
        let read = Read {
            source: &constant_extents(&source.shape),
            valid: &source.valid_shape(),
            offsets,
            window: &constant_extents(&shape),
            requested,
            exact: true,
            clamp: false,
            remedy: "keep offset + shape inside it",
            vars: self.vars,
        };
        let valid = read.valid().map_err(|refused| self.out_of_bounds(refused))?;
        let dropped: Vec<usize> = match self.operand(4) {
            Some(Operand::List(axes)) => axes.iter().filter_map(|axis| usize::try_from(axis.as_int()?).ok()).collect(),
            _ => Vec::new(),
        };
        let keeps = |axis: &usize| !dropped.contains(axis);
        let mut extents: Vec<u64> = (0..shape.len()).filter(keeps).map(|axis| shape[axis]).collect();
        let mut valid: Vec<Scalar> = (0..valid.len()).filter(keeps).map(|axis| valid[axis].clone()).collect();
        if !dropped.is_empty() {
            while extents.len() < 2 {
                extents.insert(0, 1);
                valid.insert(0, Scalar::Int(1));
            }
        }
        Ok((extents, valid))
    }

    fn reinterpret(&self) -> Result<Vec<u64>> {
        if self.operand(1).is_some() {
            return self.constant_list(1);
        }
        let source = self.tile(0)?;
        let dtype = self.dtype()?;
        let mut shape = source.shape.clone();
        let rank = shape.len();
        let axis = if source.layout().blayout == BLayout::ColMajor { rank.checked_sub(2) } else { rank.checked_sub(1) };
        let Some(extent) = axis.and_then(|axis| shape.get_mut(axis)) else {
            return Err(self.invalid("the tile has too few axes".to_owned()));
        };
        let bits = extent.saturating_mul(source.dtype.storage_bits());
        if bits % dtype.storage_bits() != 0 {
            return Err(
                self.invalid(format!("{extent} elements of {} are not a whole number of {dtype}", source.dtype))
            );
        }
        *extent = bits / dtype.storage_bits();
        Ok(shape)
    }

    /// By row, as many rows of the tensor as there are indices; by element, as many elements.
    fn gathered_rows(&self) -> Result<Vec<u64>> {
        if let Some(Type::Tensor(_)) = self.operand_type(1) {
            return Err(Problem::not_modelled(format!("`{}` by indices in global memory", self.op.name)));
        }
        let indices = self.tile(1)?.shape.clone();
        match self.call.attr(AttrName::Coalesce) {
            Some(Attr::Int(1) | Attr::Coalesce(Coalesce::Element)) => return Ok(indices),
            None | Some(Attr::Int(0) | Attr::Coalesce(Coalesce::Row) | Attr::Str(_)) => {}
            Some(_) => return Err(Problem::not_modelled("`coalesce` is unknown")),
        }
        let cols = self.tensor(0)?.shape.last().and_then(Scalar::as_int).and_then(|cols| u64::try_from(cols).ok());
        let cols = cols.ok_or_else(|| Problem::not_modelled("rows of a tensor of unknown width"))?;
        let rows = indices.iter().fold(1, |rows: u64, &extent| rows.saturating_mul(extent));
        Ok(vec![rows, cols])
    }
}

/// The shape that both are spread to: axes are matched from the last, and extents are equal or 1. `None` where they do not fit.
pub(crate) fn broadcast(one: &[u64], other: &[u64]) -> Option<Vec<u64>> {
    let rank = one.len().max(other.len());
    let extent = |shape: &[u64], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
    (0..rank)
        .map(|axis| match (extent(one, axis), extent(other, axis)) {
            (a, b) if a == b || b == 1 => Some(a),
            (1, b) => Some(b),
            _ => None,
        })
        .collect()
}

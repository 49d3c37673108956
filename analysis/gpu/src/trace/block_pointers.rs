//! Block pointers, which Triton has up to 3.8. The compiler makes pointers and masks of them before anything else (`RewriteTensorPointer.cpp`), and so does this.

use std::rc::Rc;

use tilefit_syntax::ast::{BinaryOp, CompareOp, ExprId};

use super::super::language::Dtype;
use super::calls::Args;
use super::operators::unknown_for;
use super::value::{BlockPointer, Scalar, Tensor, Value, unknown};
use super::{Frame, Tracer};

/// Arguments of a load and of a store that stay as they are.
const KEPT: [&str; 3] = ["cache_modifier", "eviction_policy", "volatile"];

/// Blocks of more are not followed.
const MOST_DIMENSIONS: usize = 8;

impl Tracer<'_> {
    /// `tl.make_block_ptr(base, shape, strides, offsets, block_shape, order)`
    pub(super) fn make_block_pointer(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let told = args.get(0, "base").and_then(|base| self.as_pointer(base));
        let base = match told.as_ref().or(args.get(0, "base")) {
            Some(Value::Scalar(base)) if base.dtype.is_pointer() => *base,
            Some(Value::Unknown(reason)) => return Value::Unknown(reason.clone()),
            _ => return unknown("the base of a block pointer is not a pointer"),
        };
        let Some(block) = args.get(4, "block_shape").and_then(Value::extents) else {
            return self.without_extents(args.get(4, "block_shape"), "the shape of a block is not known");
        };
        if block.len() > MOST_DIMENSIONS {
            return unknown("a block of more dimensions than tilefit looks at");
        }
        self.check_block(frame, expr, &block);
        let listed = |place, name| args.get(place, name).and_then(Value::elements).map(<[Value]>::to_vec);
        let (Some(shape), Some(strides), Some(offsets)) =
            (listed(1, "shape"), listed(2, "strides"), listed(3, "offsets"))
        else {
            return unknown_for(&args.all(), "a block pointer without shape, strides and offsets");
        };
        if [shape.len(), strides.len(), offsets.len()] != [block.len(); 3] {
            return unknown("a block pointer whose shape, strides, offsets and block have different ranks");
        }
        let shape = shape.iter().map(|extent| self.wide(frame, expr, extent)).collect();
        let strides = strides.iter().map(|stride| self.wide(frame, expr, stride)).collect();
        let offsets = offsets.iter().map(|offset| self.offset(frame, expr, offset)).collect();
        Value::BlockPointer(Rc::new(BlockPointer { base, shape, strides, offsets, block: block.into() }))
    }

    /// `tl.advance(base, offsets)`
    pub(super) fn advance(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let pointer = match args.get(0, "base") {
            Some(Value::BlockPointer(pointer)) => pointer.clone(),
            other => return unknown_for(other, "the base of `advance` is not a block pointer"),
        };
        let Some(by) = args.get(1, "offsets").and_then(Value::elements).filter(|by| by.len() == pointer.offsets.len())
        else {
            return unknown_for(args.get(1, "offsets"), "by how much a block pointer is advanced");
        };
        let mut offsets = Vec::new();
        for (offset, by) in pointer.offsets.iter().zip(by) {
            let by = self.wide(frame, expr, by);
            offsets.push(self.binary(frame, expr, BinaryOp::Add, offset, &by));
        }
        Value::BlockPointer(Rc::new(BlockPointer { offsets, ..(*pointer).clone() }))
    }

    /// The arguments of a load or a store through a block pointer as those of one through pointers.
    pub(super) fn through_block(&mut self, frame: &Frame, expr: ExprId, args: &Args, is_load: bool) -> Option<Args> {
        let Some(Value::BlockPointer(block)) = args.get(0, "pointer").cloned() else { return None };
        let checked = args.get(3, "boundary_check").and_then(Value::extents).unwrap_or_default();
        let rank = block.block.len();
        let along: Vec<Value> = (0..rank).map(|dim| self.along(frame, expr, &block, dim)).collect();
        let mut pointer = Value::Scalar(block.base);
        for (offset, stride) in along.iter().zip(&block.strides) {
            let offset = self.binary(frame, expr, BinaryOp::Mul, offset, stride);
            pointer = self.binary(frame, expr, BinaryOp::Add, &pointer, &offset);
        }
        let mut mask = Value::None;
        for dim in checked.into_iter().filter_map(|dim| usize::try_from(dim).ok()).filter(|&dim| dim < rank) {
            let from = self.compared(frame, expr, CompareOp::Ge, &along[dim], &Value::Int(0));
            let to = self.compared(frame, expr, CompareOp::Lt, &along[dim], &block.shape[dim]);
            let inside = self.binary(frame, expr, BinaryOp::BitAnd, &from, &to);
            mask = match mask {
                Value::None => inside,
                mask => self.binary(frame, expr, BinaryOp::BitAnd, &mask, &inside),
            };
        }
        if !matches!(mask, Value::None) {
            mask = self.broadcast_to(frame, expr, &mask, block.block.to_vec());
        }
        let named = args.named.iter().filter(|(name, _)| KEPT.contains(&&**name)).cloned().collect();
        let positional = match is_load {
            true => vec![pointer, mask],
            false => vec![pointer, args.get(1, "value").cloned().unwrap_or(Value::None), mask],
        };
        Some(Args { positional, named })
    }

    /// Where the elements of a block are along a dimension, in the rank of the block.
    fn along(&mut self, frame: &Frame, expr: ExprId, pointer: &BlockPointer, dim: usize) -> Value {
        let extent = pointer.block[dim] as i64;
        let range = self.arange(frame, expr, 0, extent, None);
        let range = self.wide(frame, expr, &range);
        let mut along = self.binary(frame, expr, BinaryOp::Add, &pointer.offsets[dim], &range);
        for axis in (0..pointer.block.len()).filter(|&axis| axis != dim) {
            if let Value::Tensor(tensor) = along {
                along = Value::Tensor(self.expand_dims(frame, expr, &tensor, axis));
            }
        }
        along
    }

    /// Where a block starts, as the kernel carries it.
    fn offset(&mut self, frame: &Frame, expr: ExprId, value: &Value) -> Value {
        let value = self.computed(frame, expr, value, false);
        self.wide(frame, expr, &value)
    }

    /// A number of 64 bits. One of Python's own takes the type of what it is used with.
    fn wide(&mut self, frame: &Frame, expr: ExprId, value: &Value) -> Value {
        let wide = Dtype::named("int64");
        match value {
            Value::Scalar(Scalar { dtype, .. }) | Value::Tensor(Tensor { dtype, .. }) if *dtype != wide => {
                self.elementwise(frame, expr, "cast", std::slice::from_ref(value), Some(wide))
            }
            _ => value.clone(),
        }
    }
}

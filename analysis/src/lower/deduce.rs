//! The type of an operation's result, by the rules of its row in the operation table.

use rustc_hash::FxHashMap;

use crate::ir::{
    Attr, BLayout, Call, Dtype, Layout, Operand, Pad, Reason, SLayout, Scalar, TensorLayout, TensorType, TileType,
    TileView, Type, Var, VarId,
};
use crate::ops::{DtypeRule, Op, OpId, OutputSpace, Shape, View};
use crate::target::Space;

pub(crate) enum Problem {
    /// Follows from something unknown that was said before.
    Unknown(Reason),
    NotModelled(String),
    /// An extent of the result that is known at run time only.
    NotConstant(Scalar),
    /// The compiler refuses the operands.
    Invalid(String),
    /// `pl.` has no element type of this name.
    UnknownDtype(String),
}

type Result<T> = std::result::Result<T, Problem>;

/// `constants` are the values of scalar variables that are assigned once.
pub(crate) fn result(call: &Call, vars: &[Var], constants: &FxHashMap<VarId, i64>) -> Result<Type> {
    let deduction = Deduction { call, op: call.op.op(), vars, constants };
    deduction.result()
}

struct Deduction<'a> {
    call: &'a Call,
    op: &'static Op,
    vars: &'a [Var],
    constants: &'a FxHashMap<VarId, i64>,
}

impl Deduction<'_> {
    fn result(&self) -> Result<Type> {
        match self.op.shape {
            Shape::Nothing => Ok(Type::Tuple(Vec::new())),
            Shape::Scalar => self.dtype().map(Type::Scalar),
            Shape::Tensor(arg) => self.tensor(arg).cloned().map(Type::Tensor),
            Shape::Annotation => self.annotated(),
            Shape::GatherCompare => self.gather_compare(),
            _ => Ok(Type::Tile(self.tile_result()?)),
        }
    }

    fn invalid(&self, what: String) -> Problem {
        Problem::Invalid(format!("`{}`: {what}", self.op.name))
    }

    fn arg_name(&self, arg: u8) -> &'static str {
        self.op.args.get(arg as usize).copied().unwrap_or("operand")
    }

    fn operand(&self, arg: u8) -> Option<&Operand> {
        self.call.args.get(arg as usize)
    }

    fn var_type(&self, var: VarId) -> Option<&Type> {
        self.vars.get(var.0 as usize).map(|var| &var.ty)
    }

    fn operand_type(&self, arg: u8) -> Option<&Type> {
        match self.operand(arg)? {
            Operand::Var(var) | Operand::Scalar(Scalar::Var(var)) => self.var_type(*var),
            _ => None,
        }
    }

    fn tile(&self, arg: u8) -> Result<&TileType> {
        match (self.operand_type(arg), self.operand(arg)) {
            (Some(Type::Tile(tile)), _) => Ok(tile),
            (Some(Type::Unknown(reason)), _) | (_, Some(Operand::Unknown(reason))) => {
                Err(Problem::Unknown(reason.clone()))
            }
            (_, None) => Err(self.invalid(format!("operand `{}` is missing", self.arg_name(arg)))),
            _ => Err(self.invalid(format!("operand `{}` must be a tile", self.arg_name(arg)))),
        }
    }

    fn tensor(&self, arg: u8) -> Result<&TensorType> {
        match (self.operand_type(arg), self.operand(arg)) {
            (Some(Type::Tensor(tensor)), _) => Ok(tensor),
            (Some(Type::Unknown(reason)), _) | (_, Some(Operand::Unknown(reason))) => {
                Err(Problem::Unknown(reason.clone()))
            }
            (Some(Type::Tile(_) | Type::Scalar(_)), _) => {
                Err(self.invalid(format!("operand `{}` must be a tensor", self.arg_name(arg))))
            }
            _ => Err(Problem::Unknown(Reason(format!("operand `{}` is not known", self.arg_name(arg))))),
        }
    }

    fn list(&self, arg: u8) -> Result<&[Scalar]> {
        match self.operand(arg) {
            Some(Operand::List(list)) => Ok(list),
            Some(Operand::Unknown(reason)) => Err(Problem::NotModelled(reason.0.clone())),
            _ => Err(self.invalid(format!("`{}` must be a list", self.arg_name(arg)))),
        }
    }

    /// A list literal that gives a tile's shape.
    fn constant_list(&self, arg: u8) -> Result<Vec<u64>> {
        let list = self.list(arg)?;
        if list.is_empty() {
            return Err(self.invalid(format!("`{}` is empty", self.arg_name(arg))));
        }
        list.iter()
            .map(|extent| match &known(extent, self.constants) {
                Scalar::Int(extent) if *extent > 0 => Ok(*extent as u64),
                Scalar::Int(extent) => {
                    Err(self.invalid(format!("an extent of `{}` is {extent}; it must be positive", self.arg_name(arg))))
                }
                Scalar::Unknown(reason) => Err(Problem::NotModelled(reason.0.clone())),
                runtime => Err(Problem::NotConstant(runtime.clone())),
            })
            .collect()
    }

    fn attr_space(&self) -> Option<Space> {
        match self.call.attr("target_memory") {
            Some(Attr::Space(space)) => Some(*space),
            _ => None,
        }
    }

    fn tile_result(&self) -> Result<TileType> {
        let shape = self.shape()?;
        let dtype = self.dtype()?;
        let space = self.space()?;
        let (built_in, view) = self.view(&shape)?;
        let mut tile = TileType { shape, dtype, space: built_in, view, binding: None };
        tile.canonicalize();
        if tile.space.is_none() && space.is_some() {
            tile.space = space;
            tile.canonicalize();
        }
        Ok(tile)
    }

    fn space(&self) -> Result<Option<Space>> {
        if let Some(Attr::Unknown(reason)) = self.call.attr("target_memory") {
            return Err(Problem::NotModelled(reason.0.clone()));
        }
        Ok(match self.op.output {
            OutputSpace::Fixed(space) => Some(space),
            OutputSpace::TargetMemory => self.attr_space().or(Some(Space::Vec)),
            OutputSpace::TargetMemoryOrDemand => self.attr_space(),
            OutputSpace::InheritFirstTile => {
                let tiles = (0..self.call.args.len() as u8).filter_map(|arg| match self.operand_type(arg) {
                    Some(Type::Tile(tile)) => Some(tile.space),
                    _ => None,
                });
                tiles.flatten().next()
            }
            OutputSpace::None => None,
        })
    }

    fn shape(&self) -> Result<Vec<u64>> {
        match self.op.shape {
            Shape::Same(arg) => Ok(self.tile(arg)?.shape.clone()),
            Shape::Equal(args) => {
                let shapes = self.shapes(args)?;
                match shapes.split_first() {
                    Some((first, rest)) if rest.iter().all(|shape| shape == first) => Ok(first.to_vec()),
                    Some((first, rest)) => Err(self.invalid(format!(
                        "the operands have the shapes {first:?} and {:?}; they must be equal",
                        rest[0]
                    ))),
                    None => Err(Problem::NotModelled(format!("`{}`", self.op.name))),
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
                let divisor = match self.call.attr("mask_pattern") {
                    Some(Attr::Int(1 | 2)) => 2,
                    Some(Attr::Int(3..=6)) => 4,
                    Some(Attr::Int(7)) => 1,
                    _ => return Err(Problem::NotModelled("a `mask_pattern` that is not known".to_owned())),
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
                    return Err(Problem::NotModelled(format!("`{}` of a partly valid tile", self.op.name)));
                }
                let mut shape = source.shape.clone();
                let axis = match self.call.attr("split") {
                    Some(Attr::Int(0)) => return Ok(shape),
                    Some(Attr::Int(1)) => 0,
                    Some(Attr::Int(2)) => 1,
                    _ => return Err(Problem::NotModelled(format!("`{}` outside of `pl.split_aiv`", self.op.name))),
                };
                match shape.get_mut(axis) {
                    Some(extent) if self.op.shape == Shape::SplitDoubled => *extent = extent.saturating_mul(2),
                    Some(extent) if extent.is_multiple_of(2) => *extent /= 2,
                    _ => {
                        return Err(Problem::NotModelled(format!(
                            "`{}` of {:?}, which has no halves",
                            self.op.name, source.shape
                        )));
                    }
                }
                Ok(shape)
            }
            Shape::GatherCompare | Shape::Annotation | Shape::Tensor(_) | Shape::Scalar | Shape::Nothing => {
                Err(Problem::NotModelled(format!("`{}`", self.op.name)))
            }
        }
    }

    fn shapes(&self, args: &[u8]) -> Result<Vec<&[u64]>> {
        args.iter().map(|&arg| self.tile(arg).map(|tile| tile.shape.as_slice())).collect()
    }

    fn broadcast(&self, args: &[u8]) -> Result<Vec<u64>> {
        let mut result: Vec<u64> = Vec::new();
        for shape in self.shapes(args)? {
            let rank = result.len().max(shape.len());
            let extent = |shape: &[u64], axis: usize| {
                let missing = rank - shape.len();
                if axis < missing { 1 } else { shape[axis - missing] }
            };
            let mut merged = Vec::with_capacity(rank);
            for axis in 0..rank {
                match (extent(&result, axis), extent(shape, axis)) {
                    (one, other) if one == other || other == 1 => merged.push(one),
                    (1, other) => merged.push(other),
                    _ => {
                        return Err(self.invalid(format!(
                            "the shapes {result:?} and {shape:?} do not fit; extents must be equal or 1"
                        )));
                    }
                }
            }
            result = merged;
        }
        Ok(result)
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
        match self.operand(arg) {
            Some(Operand::Scalar(Scalar::Int(axis))) => {
                let at = if *axis < 0 { axis + rank as i64 } else { *axis };
                let at = usize::try_from(at).ok().filter(|&at| at < rank);
                at.ok_or_else(|| self.invalid(format!("axis {axis} of a tile with {rank} axes")))
            }
            _ => Err(Problem::NotModelled("an axis that is not known".to_owned())),
        }
    }

    /// Shape and valid shape of a slice.
    fn slice(&self) -> Result<(Vec<u64>, Vec<Scalar>)> {
        let source = self.tile(0)?;
        let shape = self.constant_list(1)?;
        let offsets = self.list(2)?;
        if shape.len() != offsets.len() || shape.len() != source.shape.len() {
            return Err(self.invalid(format!(
                "shape and offset must have one entry for each of the {} axes of the tile",
                source.shape.len()
            )));
        }
        for (axis, (&extent, offset)) in shape.iter().zip(offsets).enumerate() {
            let Some(offset) = offset.as_int() else { continue };
            let limit = source.shape[axis];
            if offset < 0 || (offset as u64).saturating_add(extent) > limit {
                return Err(self.invalid(format!(
                    "the window [{offset}, {}) of axis {axis} leaves the tile, whose extent there is {limit}",
                    offset as i128 + i128::from(extent)
                )));
            }
        }
        let requested = match self.operand(3) {
            Some(Operand::List(valid)) if valid.len() == shape.len() => Some(valid.clone()),
            _ => None,
        };
        let valid = requested.unwrap_or_else(|| window_of(&source.valid_shape(), offsets, &shape));
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
            return Err(self.invalid(format!("{extent} elements of {} are no whole number of {dtype}", source.dtype)));
        }
        *extent = bits / dtype.storage_bits();
        Ok(shape)
    }

    fn annotated(&self) -> Result<Type> {
        let shape = match self.call.attr("shape") {
            Some(Attr::Ints(shape)) => shape.iter().map(|&extent| u64::try_from(extent).ok()).collect(),
            _ => None,
        };
        let dtype = match self.call.attr("dtype") {
            Some(Attr::Dtype(dtype)) => Some(*dtype),
            _ => None,
        };
        match (shape, dtype) {
            (Some(shape), Some(dtype)) => {
                Ok(Type::Tile(TileType { shape, dtype, space: None, view: TileView::default(), binding: None }))
            }
            _ => Ok(Type::Unknown(Reason(format!("the result of `{}` has no annotation", self.op.name)))),
        }
    }

    /// By row, as many rows of the tensor as there are indices; by element, as many elements.
    fn gathered_rows(&self) -> Result<Vec<u64>> {
        if let Some(Type::Tensor(_)) = self.operand_type(1) {
            return Err(Problem::NotModelled(format!("`{}` by indices in global memory", self.op.name)));
        }
        let indices = self.tile(1)?.shape.clone();
        match self.call.attr("coalesce") {
            Some(Attr::Int(1)) => return Ok(indices),
            Some(Attr::Str(mode)) if &**mode == "elem" => return Ok(indices),
            None | Some(Attr::Int(0) | Attr::Str(_)) => {}
            Some(_) => return Err(Problem::NotModelled("`coalesce` is not known".to_owned())),
        }
        let cols = self.tensor(0)?.shape.last().and_then(Scalar::as_int).and_then(|cols| u64::try_from(cols).ok());
        let cols = cols.ok_or_else(|| Problem::NotModelled("rows of a tensor of unknown width".to_owned()))?;
        Ok(vec![indices.iter().product(), cols])
    }

    fn gather_compare(&self) -> Result<Type> {
        let source = self.tile(0)?;
        let [rows, _] = source.shape.as_slice() else {
            return Err(self.invalid("the source must have two axes".to_owned()));
        };
        let Some(Attr::Int(cols)) = self.call.attr("out_cols") else {
            return Err(Problem::NotModelled("`out_cols` is not known".to_owned()));
        };
        let count = match self.call.attr("count_dtype") {
            Some(Attr::Dtype(dtype)) => *dtype,
            _ => Dtype::Int32,
        };
        let tile = |shape: Vec<u64>, dtype| {
            let view = TileView::default();
            Type::Tile(TileType { shape, dtype, space: Some(Space::Vec), view, binding: None })
        };
        let cols = u64::try_from(*cols).unwrap_or(1);
        Ok(Type::Tuple(vec![tile(vec![*rows, cols], Dtype::Int32), tile(vec![1, *rows], count)]))
    }

    fn dtype(&self) -> Result<Dtype> {
        match self.op.dtype {
            DtypeRule::Same(arg) => self.dtype_of(arg),
            DtypeRule::Equal(args) | DtypeRule::Promote(args) => {
                let mut result = None;
                for &arg in args {
                    let dtype = self.dtype_of(arg)?;
                    result = Some(result.map_or(dtype, |known| super::scalar::promoted(known, dtype)));
                }
                result.ok_or_else(|| Problem::NotModelled(format!("`{}`", self.op.name)))
            }
            DtypeRule::Fixed(dtype) => Ok(dtype),
            DtypeRule::Attr(name) => match self.call.attr(name) {
                Some(Attr::Dtype(dtype)) => Ok(*dtype),
                Some(Attr::Unknown(reason)) => Err(Problem::NotModelled(reason.0.clone())),
                Some(Attr::Str(name)) => Err(Problem::UnknownDtype(name.clone())),
                _ => Err(self.invalid(format!("`{name}` must be an element type"))),
            },
            DtypeRule::AttrOr(name, arg) => match self.call.attr(name) {
                Some(Attr::Dtype(dtype)) => Ok(*dtype),
                _ => self.dtype_of(arg),
            },
            DtypeRule::Accumulator => {
                let operands = (0..self.call.args.len() as u8).filter_map(|arg| match self.operand_type(arg) {
                    Some(Type::Tile(tile)) => Some(tile.dtype),
                    _ => None,
                });
                let dtypes: Vec<Dtype> = operands.collect();
                if dtypes.is_empty() {
                    self.tile(0)?;
                }
                Ok(if dtypes.iter().any(|dtype| dtype.is_float()) { Dtype::Fp32 } else { Dtype::Int32 })
            }
            DtypeRule::GatherCompare | DtypeRule::Annotation | DtypeRule::Nothing => {
                Err(Problem::NotModelled(format!("`{}`", self.op.name)))
            }
        }
    }

    fn dtype_of(&self, arg: u8) -> Result<Dtype> {
        match (self.operand_type(arg), self.operand(arg)) {
            (Some(Type::Tile(tile)), _) => Ok(tile.dtype),
            (Some(Type::Tensor(tensor)), _) => tensor
                .dtype
                .ok_or_else(|| Problem::NotModelled("the element type of the tensor is not known".to_owned())),
            (Some(Type::Scalar(dtype)), _) => Ok(*dtype),
            (Some(Type::Unknown(reason)), _) | (_, Some(Operand::Unknown(reason))) => {
                Err(Problem::Unknown(reason.clone()))
            }
            (_, Some(Operand::Scalar(scalar))) => super::scalar::dtype(scalar, self.vars)
                .ok_or_else(|| Problem::NotModelled("the type of a scalar is not known".to_owned())),
            (_, None) => Err(self.invalid(format!("operand `{}` is missing", self.arg_name(arg)))),
            _ => Err(self.invalid(format!("operand `{}` must be a tile", self.arg_name(arg)))),
        }
    }

    /// The space that the view is stated for, and the view with every field given.
    fn view(&self, shape: &[u64]) -> Result<(Option<Space>, TileView)> {
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
                // Which part of the result is valid is not followed; its memory is that of the source.
                let valid = match &source.view.valid_shape {
                    Some(_) => {
                        vec![Scalar::Unknown(Reason("the valid part of a reshaped tile".to_owned())); shape.len()]
                    }
                    None => full(),
                };
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
        let is_dn = tensor.layout == TensorLayout::Dn;
        let flat = Layout { blayout: BLayout::RowMajor, slayout: SLayout::NoneBox, fractal: 512 };
        let layout = match (space, shape) {
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

/// The scalar, or the number that it is known to be.
pub(crate) fn known(scalar: &Scalar, constants: &FxHashMap<VarId, i64>) -> Scalar {
    match scalar {
        Scalar::Var(var) => constants.get(var).map_or_else(|| scalar.clone(), |&value| Scalar::Int(value)),
        Scalar::Binary(op, left, right) => super::scalar::binary(*op, known(left, constants), known(right, constants)),
        _ => scalar.clone(),
    }
}

/// The valid part of a window of a tile.
fn window_of(valid: &[Scalar], offsets: &[Scalar], shape: &[u64]) -> Vec<Scalar> {
    let axes = shape.iter().zip(valid).zip(offsets);
    let extents = axes.map(|((&extent, valid), offset)| match (valid.as_int(), offset.as_int()) {
        (Some(valid), Some(offset)) => Scalar::Int(valid.saturating_sub(offset).clamp(0, extent as i64)),
        _ => Scalar::Int(extent as i64),
    });
    extents.collect()
}

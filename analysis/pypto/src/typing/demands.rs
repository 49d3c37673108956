//! Whether a call is one that the compiler's front end takes, by what the operation table demands of its operands.
//!
//! Nothing is said of what is not known: an operand without a type, an extent that is known at run time only.

use rustc_hash::FxHashMap;
use tilefit_python::element::{Dtype, Pad};

use super::proof::{Proof, Prover};
use super::{known, notation, scalar};
use crate::ir::{
    Attr, AttrName, BLayout, Call, Layout, Operand, Role, SLayout, Scalar, TensorType, TileType, Type, Var, VarId,
    visit,
};
use crate::ops::{Axis, Demand, Dtypes, Literals, Op};

/// What is wrong with a call, in the compiler's words and with a way out.
pub(crate) fn unmet(call: &Call, on_tensors: bool, known: Known) -> Option<String> {
    let op = call.op.op();
    let site = CheckedCall { call, op, known };
    let mut demands = op.demands.iter().flat_map(|demands| demands.of(on_tensors));
    demands.find_map(|&demand| site.unmet(demand)).map(|what| {
        let dialect = if on_tensors { "tensor" } else { "tile" };
        let name = op.name.split_once('.').map_or(op.name, |(_, name)| name);
        format!("`{dialect}.{name}` requires {what}")
    })
}

/// A demand of which it is not decided here whether the compiler proves it, for people.
pub(crate) fn undecided(call: &Call, on_tensors: bool, known: Known) -> Option<String> {
    let op = call.op.op();
    let site = CheckedCall { call, op, known };
    let mut demands = op.demands.iter().flat_map(|demands| demands.of(on_tensors));
    let is_undecided = demands.any(|&demand| site.proof(demand) == Some(Proof::Unsure));
    is_undecided.then(|| format!("whether the operands of `{}` are valid in the same part", op.name))
}

/// What is known of the variables that a call names.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) vars: &'a [Var],
    pub(crate) constants: &'a FxHashMap<VarId, i64>,
    /// Scalars whose element type is a guess.
    pub(crate) untyped: &'a dyn Fn(VarId) -> bool,
    /// Tiles whose layout and valid part may be others than their type says.
    pub(crate) restated: &'a dyn Fn(VarId) -> bool,
    /// Whether numbers still have the types that the author gave them.
    pub(crate) literals: bool,
}

struct CheckedCall<'a> {
    call: &'a Call,
    op: &'static Op,
    known: Known<'a>,
}

/// An operand that is a tile or a tensor.
enum Block<'a> {
    Tile(&'a TileType),
    Tensor(&'a TensorType),
}

impl Block<'_> {
    fn dtype(&self) -> Option<Dtype> {
        match self {
            Block::Tile(tile) => Some(tile.dtype),
            Block::Tensor(tensor) => tensor.dtype,
        }
    }

    /// The extents; `None` for those that are not constant.
    fn shape(&self) -> Vec<Option<i64>> {
        match self {
            Block::Tile(tile) => tile.shape.iter().map(|&extent| i64::try_from(extent).ok()).collect(),
            Block::Tensor(tensor) => tensor.shape.iter().map(Scalar::as_int).collect(),
        }
    }

    fn extent(&self, axis: Axis) -> Option<i64> {
        let from_end = match axis {
            Axis::Last => 1,
            Axis::BeforeLast => 2,
        };
        let shape = self.shape();
        shape.len().checked_sub(from_end).and_then(|axis| shape[axis])
    }
}

impl<'a> CheckedCall<'a> {
    /// What the call lacks of a demand: the end of a sentence that says what is required.
    fn unmet(&self, demand: Demand) -> Option<String> {
        match demand {
            Demand::Among(arg, dtypes) => {
                let dtype = self.dtype(arg)?;
                let lacks = !dtypes.contains(dtype);
                lacks.then(|| {
                    format!("{} {}, but got {dtype}{}", self.named(arg), listed(dtypes), self.cast(arg, dtypes))
                })
            }
            Demand::SameDtype(one, other) => {
                let (first, second) = (self.dtype(one)?, self.dtype(other)?);
                (first != second).then(|| {
                    format!(
                        "{} and {} to have the same dtype, but got {first} and {second}{}",
                        self.named(one),
                        self.named(other),
                        self.same_dtype(one, other)
                    )
                })
            }
            Demand::Accumulator(accumulator, factor) => {
                let (has, of) = (self.dtype(accumulator)?, self.dtype(factor)?);
                let wanted = if of.is_float() { Dtype::Fp32 } else { Dtype::Int32 };
                (has != wanted).then(|| {
                    format!(
                        "{} of {wanted}, in which products of {of} accumulate, but got {has}",
                        self.named(accumulator)
                    )
                })
            }
            Demand::SignedLike(scalar, operand) => {
                let value = self.scalar(scalar)?;
                let mut is_constant = true;
                visit::scalar_uses(value, &mut |_| is_constant = false);
                let (has, of) = (self.typed(value)?, self.dtype(operand)?);
                let wanted = of.signed();
                (!is_constant && has != Dtype::Index && has != wanted).then(|| {
                    let conversion = self.conversion(scalar, wanted);
                    format!("{} of {wanted} for elements of {of}, but got {has}{conversion}", self.named(scalar))
                })
            }
            Demand::SameOrNarrowed(target, source) => {
                let (to, from) = (self.dtype(target)?, self.dtype(source)?);
                let is_narrowed = from == Dtype::Fp32 && matches!(to, Dtype::Bf16 | Dtype::Fp16);
                if is_narrowed { None } else { self.unmet(Demand::SameDtype(target, source)) }
            }
            Demand::OfAttr(arg, attr) => {
                let (wanted, dtype) = (self.call.dtype(attr)?, self.dtype(arg)?);
                (dtype != wanted).then(|| {
                    let conversion = self.conversion(arg, wanted);
                    format!("{} to be of `{attr}`, which is {wanted}, but got {dtype}{conversion}", self.named(arg))
                })
            }
            Demand::IndexWidth(indices, source) => {
                let (index, dtype) = (self.dtype(indices)?, self.dtype(source)?);
                (index == Dtype::Int16 && dtype.storage_bits() != 16).then(|| {
                    format!(
                        "{} of INT32 for elements of {dtype}; INT16 goes with elements of 16 bits",
                        self.named(indices)
                    )
                })
            }
            Demand::ScatterWidth(indices, target) => {
                let (index, dtype) = (self.dtype(indices)?, self.dtype(target)?);
                let wanted = dtype.storage_bits().max(16);
                (index.storage_bits() != wanted).then(|| {
                    format!("{} of {wanted} bits for elements of {dtype}, but got {index}", self.named(indices))
                })
            }
            Demand::AccumulatorAttr(attr, factor) => {
                let (dtype, of) = (self.call.dtype(attr)?, self.dtype(factor)?);
                let wanted = if of.is_float() { Dtype::Fp32 } else { Dtype::Int32 };
                (dtype != wanted).then(|| {
                    format!("`{attr}` to be {wanted}, in which products of {of} accumulate, but got {dtype}; cast the result")
                })
            }
            Demand::Constant(arg) => {
                let is_number = match self.call.args.get(usize::from(arg))? {
                    Operand::Scalar(Scalar::Var(var)) | Operand::Var(var) => {
                        self.known.vars.get(var.0 as usize)?.role == Role::Param
                    }
                    Operand::Scalar(Scalar::Binary(..) | Scalar::Cast(..)) => false,
                    _ => true,
                };
                (!is_number).then(|| format!("{} to be a constant; it is known at run time only", self.named(arg)))
            }
            Demand::Converts(attr, arg) => {
                let (target, dtype) = (self.call.dtype(attr)?, self.dtype(arg)?);
                (target == dtype).then(|| {
                    format!(
                        "another `{attr}` than the dtype of {}, which is {dtype} already; remove the cast",
                        self.named(arg)
                    )
                })
            }
            Demand::AttrAmong(attr, dtypes) => {
                let dtype = self.call.dtype(attr)?;
                (!dtypes.contains(dtype)).then(|| format!("`{attr}` {}, but got {dtype}", listed(dtypes)))
            }
            Demand::FlagFor(attr, dtypes) => {
                let (Some(Attr::Bool(true) | Attr::Int(1)), dtype) = (self.call.attr(attr), self.dtype(0)?) else {
                    return None;
                };
                (!dtypes.contains(dtype)).then(|| {
                    format!("{} {} with `{attr}`, but got {dtype}; leave `{attr}` out", self.named(0), listed(dtypes))
                })
            }
            Demand::FlagIn(attr, space) => {
                let is_given = self.call.flag(attr);
                let is_there = self.call.target_memory() == Some(space);
                (is_given && !is_there).then(|| format!("`target_memory=pl.Mem.{space}` with `{attr}=True`"))
            }
            Demand::Words(attr, words) => {
                let word = self.call.text(attr)?;
                Some(format!("`{attr}` in {{{words}}}, but got \"{word}\""))
            }
            Demand::Numbers(attr, numbers) => {
                let number = self.call.int(attr)?;
                let list: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                (!numbers.contains(&number)).then(|| format!("`{attr}` in {{{}}}, but got {number}", list.join(", ")))
            }
            Demand::Pads(attr) => match self.call.attr(attr) {
                Some(Attr::Pad(Pad::Null)) => Some(padding(attr, "`null`")),
                Some(Attr::Int(value)) if *value != 0 => Some(padding(attr, &value.to_string())),
                Some(Attr::Float(value)) if value.get() != 0.0 && !value.get().is_infinite() => {
                    Some(padding(attr, &format!("{:?}", value.get())))
                }
                _ => None,
            },
            Demand::NoIndexIfScalar(arg) if self.block(arg).is_some() => None,
            Demand::NoIndex(arg) | Demand::NoIndexIfScalar(arg) => self.index(arg),
            Demand::Rank(arg, rank) => {
                let has = self.block(arg)?.shape().len();
                (has != rank).then(|| format!("{} to have {}, but got {has}", self.named(arg), axes(rank)))
            }
            Demand::MinRank(arg, rank) => {
                let has = self.block(arg)?.shape().len();
                (has < rank).then(|| format!("{} to have at least {}, but got {has}", self.named(arg), axes(rank)))
            }
            Demand::Indices(list, arg) => {
                let count = match self.call.args.get(usize::from(list))? {
                    Operand::List(indices) => indices.len(),
                    Operand::Scalar(_) => 1,
                    Operand::Var(_) | Operand::Unknown(_) => return None,
                };
                let rank = self.block(arg)?.shape().len();
                (count != rank)
                    .then(|| format!("one index for each of the {rank} axes of {}, but got {}", self.named(arg), count))
            }
            Demand::Elements(list, dtypes) => {
                let Some(Operand::List(list)) = self.call.args.get(usize::from(list)) else { return None };
                let (axis, dtype) = list.iter().enumerate().find_map(|(axis, element)| {
                    let dtype = if matches!(element, Scalar::Int(_)) { Dtype::Index } else { self.typed(element)? };
                    (!dtypes.contains(dtype)).then_some((axis, dtype))
                })?;
                Some(format!(
                    "each number of a list {}, but number {axis} is {dtype}; `pl.cast(..., pl.INDEX)` converts it",
                    listed(dtypes)
                ))
            }
            Demand::Extents(list, count) => {
                let Some(Operand::List(list)) = self.call.args.get(usize::from(list)) else { return None };
                (list.len() != count).then(|| format!("a shape of {}, but got {}", axes(count), list.len()))
            }
            Demand::OneRow(list) => {
                let Some(Operand::List(list)) = self.call.args.get(usize::from(list)) else { return None };
                let extents: Vec<Option<i64>> =
                    list.iter().map(|extent| known(extent, self.known.constants).as_int()).collect();
                let (last, leading) = extents.split_last()?;
                let is_taller = leading.iter().any(|extent| extent.is_some_and(|extent| extent != 1));
                (is_taller || *last == Some(1))
                    .then(|| format!("one row of more than one element, `[1, N]`, but got {}", shape(&extents)))
            }
            Demand::Grows(list, arg) => {
                let Some(Operand::List(list)) = self.call.args.get(usize::from(list)) else { return None };
                let extents: Vec<Option<i64>> =
                    list.iter().map(|extent| known(extent, self.known.constants).as_int()).collect();
                let source = self.block(arg)?.shape();
                let shrinks = extents
                    .iter()
                    .zip(&source)
                    .any(|(to, from)| matches!((to, from), (Some(to), Some(from)) if to < from));
                (extents.len() != source.len() || shrinks).then(|| {
                    format!(
                        "a shape that {} fits into, but got {} for {}",
                        self.named(arg),
                        shape(&extents),
                        shape(&source)
                    )
                })
            }
            Demand::OtherAxis(one, other) => {
                let (first, second) = (self.scalar(one)?.as_int()?, self.scalar(other)?.as_int()?);
                let rank = self.block(0)?.shape().len() as i64;
                let axis = |at: i64| if at < 0 { at + rank } else { at };
                (axis(first) == axis(second)).then(|| format!("two different axes, but got {first} and {second}"))
            }
            Demand::SameRank(one, other) => {
                let (first, second) = (self.block(one)?.shape(), self.block(other)?.shape());
                (first.len() != second.len()).then(|| {
                    format!(
                        "{} and {} to have the same number of axes, but got {} and {}",
                        self.named(one),
                        self.named(other),
                        first.len(),
                        second.len()
                    )
                })
            }
            Demand::SameShape(one, other) => {
                let (first, second) = (self.block(one)?.shape(), self.block(other)?.shape());
                let differ = first.len() != second.len() || first.iter().zip(&second).any(|(a, b)| are_other(*a, *b));
                differ.then(|| self.shapes("the same shape", one, other))
            }
            // The rule of `broadcast`, for extents of which some are not known: those do not conflict with any.
            Demand::Broadcast(one, other) => {
                let (first, second) = (self.block(one)?.shape(), self.block(other)?.shape());
                let fits = |(a, b): (&Option<i64>, &Option<i64>)| !are_other(*a, *b) || *a == Some(1) || *b == Some(1);
                (!first.iter().rev().zip(second.iter().rev()).all(fits))
                    .then(|| self.shapes("compatible shapes, equal or 1 in every axis", one, other))
            }
            Demand::Product(lhs, rhs) => self.product(lhs, rhs),
            Demand::ProductInto(acc, lhs, rhs) => {
                let (rows, columns) = (self.factor(lhs, AttrName::ATrans)?.0, self.factor(rhs, AttrName::BTrans)?.1);
                let has = self.block(acc)?.shape();
                let [.., m, n] = has.as_slice() else { return None };
                (are_other(*m, rows) || are_other(*n, columns)).then(|| {
                    format!(
                        "{} to have the extents of the product, {}, but got {}",
                        self.named(acc),
                        shape(&[rows, columns]),
                        shape(&[*m, *n])
                    )
                })
            }
            Demand::RowOperand(block, row) => self.row_operand(block, row),
            Demand::Covers(one, other) => {
                let (first, second) = (self.block(one)?.shape(), self.block(other)?.shape());
                let is_small = first.iter().zip(&second).any(|(a, b)| matches!((a, b), (Some(a), Some(b)) if a < b));
                is_small.then(|| {
                    format!(
                        "{} to be at least as large as {} in every axis, but got {} and {}",
                        self.named(one),
                        self.named(other),
                        shape(&first),
                        shape(&second)
                    )
                })
            }
            Demand::SameValid(one, other) => {
                let (first, second) = (self.viewed(one)?.valid_shape(), self.viewed(other)?.valid_shape());
                let unproved = first.iter().zip(&second).any(|(a, b)| is_unproved(self.equal(a, b)));
                unproved.then(|| {
                    format!(
                        "{} and {} to have the same valid shape, but got {} and {}",
                        self.named(one),
                        self.named(other),
                        notation::extents(&first, self.known.vars),
                        notation::extents(&second, self.known.vars)
                    )
                })
            }
            Demand::Extent(arg, axis, extent) => {
                let has = self.block(arg)?.extent(axis)?;
                (has != extent).then(|| {
                    format!(
                        "{} to have {extent} as the extent of its {} axis, but got {has}",
                        self.named(arg),
                        ordinal(axis)
                    )
                })
            }
            Demand::SameExtent(one, other, axis) => {
                let (first, second) = (self.block(one)?.extent(axis)?, self.block(other)?.extent(axis)?);
                (first != second).then(|| {
                    format!(
                        "{} and {} to agree in their {} axis, but got {first} and {second}",
                        self.named(one),
                        self.named(other),
                        ordinal(axis)
                    )
                })
            }
            Demand::Multiple(arg, axis, of) => {
                let has = self.block(arg)?.extent(axis)?;
                (has <= 0 || has % of != 0).then(|| {
                    format!(
                        "the {} extent of {} to be a multiple of {of}, but got {has}",
                        ordinal(axis),
                        self.named(arg)
                    )
                })
            }
            Demand::MultipleOf(arg, of) => {
                let value = self.scalar(arg)?.as_int()?;
                (value <= 0 || value % of != 0)
                    .then(|| format!("{} to be a positive multiple of {of}, but got {value}", self.named(arg)))
            }
            Demand::NotNegative(arg) => {
                let value = self.scalar(arg)?.as_int()?;
                (value < 0).then(|| format!("{} not to be negative, but got {value}", self.named(arg)))
            }
            Demand::Flat(arg) => {
                let layout = self.layout(arg)?;
                let is_flat = layout.blayout == BLayout::RowMajor && layout.slayout == SLayout::NoneBox;
                (!is_flat).then(|| {
                    format!(
                        "{} in an ND layout (blayout=row_major, slayout=none_box), but got {}; move it with `blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box`",
                        self.named(arg),
                        laid_out(layout)
                    )
                })
            }
            Demand::Unboxed(arg) => {
                let layout = self.layout(arg)?;
                (layout.slayout != SLayout::NoneBox).then(|| {
                    format!("{} without boxes (slayout=none_box), but got {}", self.named(arg), laid_out(layout))
                })
            }
            Demand::RowMajor(arg) => {
                let layout = self.layout(arg)?;
                (layout.blayout != BLayout::RowMajor)
                    .then(|| format!("{} with blayout=row_major, but got {}", self.named(arg), laid_out(layout)))
            }
        }
    }

    /// Rows and columns of a factor of a product, as the flag has them. A factor of one axis has no rows, or no columns.
    fn factor(&self, arg: u8, flag: AttrName) -> Option<(Option<i64>, Option<i64>)> {
        let shape = self.block(arg)?.shape();
        let [.., rows, columns] = shape.as_slice() else { return None };
        let is_swapped = self.call.flag(flag);
        Some(if is_swapped { (*columns, *rows) } else { (*rows, *columns) })
    }

    fn product(&self, lhs: u8, rhs: u8) -> Option<String> {
        let ranks = [self.block(lhs)?.shape().len(), self.block(rhs)?.shape().len()];
        for (arg, flag, rank) in [(lhs, AttrName::ATrans, ranks[0]), (rhs, AttrName::BTrans, ranks[1])] {
            if rank == 1 && self.call.flag(flag) {
                return Some(format!("{} with rows and columns for `{flag}`, but got 1 axis", self.named(arg)));
            }
        }
        let along = |arg: u8, flag, is_left: bool, rank: usize| match rank {
            1 => self.block(arg)?.extent(Axis::Last),
            _ => self.factor(arg, flag).and_then(|(rows, columns)| if is_left { columns } else { rows }),
        };
        let (one, other) =
            (along(lhs, AttrName::ATrans, true, ranks[0])?, along(rhs, AttrName::BTrans, false, ranks[1])?);
        (one != other).then(|| {
            format!(
                "{} and {} to have matching inner dimensions, but got lhs K={one} and rhs K={other}",
                self.named(lhs),
                self.named(rhs)
            )
        })
    }

    /// One value for each valid row of a tile.
    fn row_operand(&self, block: u8, row: u8) -> Option<String> {
        let (tile, operand) = (self.viewed(block)?, self.viewed(row)?);
        let (rows, has) = (valid_from_end(tile, 2)?, valid_from_end(operand, 2)?);
        if is_unproved(self.equal(&rows, &has)) {
            return Some(format!(
                "{} to have the valid rows of {}, {}, but got {}",
                self.named(row),
                self.named(block),
                notation::scalar(&rows, self.known.vars),
                notation::scalar(&has, self.known.vars)
            ));
        }
        let is_row_major = operand.layout().blayout == BLayout::RowMajor;
        let bytes = operand.dtype.storage_bits() / 8;
        let wanted = if is_row_major { 32u64.checked_div(bytes)? as i64 } else { 1 };
        let has = valid_from_end(operand, 1)?;
        is_unproved(self.equal(&has, &Scalar::Int(wanted))).then(|| {
            let layout = if is_row_major { "row-major" } else { "column-major" };
            let has = notation::scalar(&has, self.known.vars);
            format!("{}, which is {layout}, to be valid in {wanted} columns, but got {has}", self.named(row))
        })
    }

    /// Whether what a demand says of extents that are known at run time only is proved; `None` of demands on constants.
    fn proof(&self, demand: Demand) -> Option<Proof> {
        let (one, other) = match demand {
            Demand::SameValid(one, other) => (self.viewed(one)?.valid_shape(), self.viewed(other)?.valid_shape()),
            Demand::RowOperand(block, row) => {
                let (tile, operand) = (self.viewed(block)?, self.viewed(row)?);
                (vec![valid_from_end(tile, 2)?], vec![valid_from_end(operand, 2)?])
            }
            _ => return None,
        };
        let mut proofs = one.iter().zip(&other).map(|(one, other)| self.equal(one, other));
        proofs.find(|proof| *proof != Proof::Yes)
    }

    /// `type_inference.cpp`, `ProveValidExtentEqual`
    fn equal(&self, one: &Scalar, other: &Scalar) -> Proof {
        let [one, other] = [one, other].map(|extent| known(extent, self.known.constants));
        Prover { vars: self.known.vars }.equal(&one, &other)
    }

    fn var(&self, arg: u8) -> Option<&'a Var> {
        let var = self.call.args.get(usize::from(arg))?.var()?;
        self.known.vars.get(var.0 as usize)
    }

    fn block(&self, arg: u8) -> Option<Block<'a>> {
        match &self.var(arg)?.ty {
            Type::Tile(tile) => Some(Block::Tile(tile)),
            Type::Tensor(tensor) if tensor.rank_known => Some(Block::Tensor(tensor)),
            _ => None,
        }
    }

    /// A tile whose layout and valid part are known.
    fn viewed(&self, arg: u8) -> Option<&'a TileType> {
        let is_restated = self.call.args.get(usize::from(arg))?.var().is_some_and(self.known.restated);
        match self.block(arg)? {
            Block::Tile(tile) if !is_restated => Some(tile),
            Block::Tile(_) | Block::Tensor(_) => None,
        }
    }

    fn layout(&self, arg: u8) -> Option<Layout> {
        self.viewed(arg).map(TileType::layout)
    }

    fn scalar(&self, arg: u8) -> Option<&'a Scalar> {
        match self.call.args.get(usize::from(arg))? {
            Operand::Scalar(scalar) => Some(scalar),
            _ => None,
        }
    }

    fn dtype(&self, arg: u8) -> Option<Dtype> {
        match &self.var(arg).map(|var| &var.ty) {
            Some(Type::Tile(tile)) => return Some(tile.dtype),
            Some(Type::Tensor(tensor)) => return tensor.dtype,
            _ => {}
        }
        let value = self.scalar(arg).filter(|_| self.known.literals)?;
        let number = match value {
            // What is generated has its type, whatever type its start has.
            Scalar::Const(_, number)
                if self.op.literals != Literals::AsWritten && self.op.literals != Literals::TakeDtype =>
            {
                number
            }
            value => value,
        };
        match (number, self.op.literals) {
            (Scalar::Int(_), Literals::TakeDtype) => self.combined_with(),
            (Scalar::Int(_), Literals::Fixed(dtype)) => Some(dtype),
            (Scalar::Int(_), Literals::OfAttr(name)) => self.call.dtype(name),
            _ => self.typed(value),
        }
    }

    /// The element type of a scalar, unless some part of it has none.
    fn typed(&self, value: &Scalar) -> Option<Dtype> {
        let mut is_typed = true;
        visit::scalar_uses(value, &mut |var| is_typed &= !(self.known.untyped)(var));
        if is_typed { scalar::dtype(value, self.known.vars) } else { None }
    }

    /// The element type of the first tile or tensor.
    fn combined_with(&self) -> Option<Dtype> {
        (0..self.call.args.len() as u8).find_map(|arg| self.block(arg)?.dtype())
    }

    /// An index that is no written number, which no instruction takes.
    fn index(&self, arg: u8) -> Option<String> {
        if let Some(var) = self.var(arg).filter(|var| matches!(var.ty, Type::Tile(_) | Type::Tensor(_))) {
            return Some(format!("{} to be a scalar, but got {}", self.named(arg), notation::kind(&var.ty)));
        }
        let value = self.scalar(arg)?;
        if matches!(value, Scalar::Int(_)) || self.typed(value) != Some(Dtype::Index) {
            return None;
        }
        if is_open(value) {
            return None;
        }
        let target = match self.combined_with() {
            Some(dtype) if dtype.is_integer() => dtype,
            _ => Dtype::Int32,
        };
        Some(format!("{} of another dtype than INDEX; convert it: `pl.cast(..., pl.{target})`", self.named(arg)))
    }

    /// The parameter, and the author's name for what it is given.
    fn named(&self, arg: u8) -> String {
        let param = self.op.args.get(usize::from(arg)).copied().unwrap_or("operand");
        match self.var(arg) {
            Some(var) if var.inserted.is_none() => format!("`{param}` (`{}`)", var.name),
            _ => format!("`{param}`"),
        }
    }

    fn shapes(&self, what: &str, one: u8, other: u8) -> String {
        let of = |arg| self.block(arg).map(|block| shape(&block.shape())).unwrap_or_default();
        format!("{} and {} to have {what}, but got {} and {}", self.named(one), self.named(other), of(one), of(other))
    }

    /// How to get an operand of one of the types.
    fn cast(&self, arg: u8, dtypes: Dtypes) -> String {
        let wanted = match dtypes {
            Dtypes::Integers => Dtype::Int32,
            Dtypes::Floats => Dtype::Fp32,
            Dtypes::Of(dtypes) => match dtypes.iter().find(|dtype| **dtype == Dtype::Fp32).or(dtypes.first()) {
                Some(dtype) => *dtype,
                None => return String::new(),
            },
        };
        self.conversion(arg, wanted)
    }

    fn same_dtype(&self, one: u8, other: u8) -> String {
        if self.op.scratch.contains(&one) {
            let wanted = self.block(other).and_then(|block| block.dtype());
            return wanted.map(|dtype| format!("; make the scratch tile of {dtype}")).unwrap_or_default();
        }
        match (self.block(one), self.block(other)) {
            (Some(block), None) => block.dtype().map(|dtype| self.conversion(other, dtype)).unwrap_or_default(),
            (None, Some(block)) => block.dtype().map(|dtype| self.conversion(one, dtype)).unwrap_or_default(),
            (Some(block), Some(_)) => block.dtype().map(|dtype| self.conversion(other, dtype)).unwrap_or_default(),
            (None, None) => String::new(),
        }
    }

    fn conversion(&self, arg: u8, to: Dtype) -> String {
        match (self.var(arg), self.scalar(arg)) {
            (_, Some(Scalar::Int(value))) => format!("; write `pl.const({value}, pl.{to})`"),
            (_, Some(Scalar::Float(value))) => format!("; write `pl.const({:?}, pl.{to})`", value.get()),
            (Some(var), _) if var.inserted.is_none() => format!("; `pl.cast({}, pl.{to})` converts it", var.name),
            _ => format!("; `pl.cast(..., pl.{to})` converts it"),
        }
    }
}

/// What holds for some values only is not proved, and the compiler refuses it as it does what holds for none.
fn is_unproved(proof: Proof) -> bool {
    matches!(proof, Proof::No | Proof::Open)
}

fn valid_from_end(tile: &TileType, from_end: usize) -> Option<Scalar> {
    let valid = tile.valid_shape();
    valid.get(valid.len().checked_sub(from_end)?).cloned()
}

/// Whether a number takes part that may be a constant where the function is called.
fn is_open(scalar: &Scalar) -> bool {
    match scalar {
        Scalar::Dim { .. } | Scalar::Dynamic(_) => true,
        Scalar::Unary(_, operand) | Scalar::Cast(_, operand) => is_open(operand),
        Scalar::Binary(_, left, right) => is_open(left) || is_open(right),
        _ => false,
    }
}

fn padding(attr: AttrName, got: &str) -> String {
    format!("`{attr}` to be `pl.PadValue.zero`, `max` or `min`, or 0, `math.inf`, `-math.inf`, but got {got}")
}

fn are_other(one: Option<i64>, other: Option<i64>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if one != other)
}

fn listed(dtypes: Dtypes) -> String {
    match dtypes {
        Dtypes::Integers => "of an integer dtype".to_owned(),
        Dtypes::Floats => "of a floating-point dtype".to_owned(),
        Dtypes::Of([only]) => format!("of dtype {only}"),
        Dtypes::Of(dtypes) => {
            let names: Vec<&str> = dtypes.iter().map(|dtype| dtype.name()).collect();
            format!("of dtype in {{{}}}", names.join(", "))
        }
    }
}

fn shape(extents: &[Option<i64>]) -> String {
    let extents: Vec<String> =
        extents.iter().map(|extent| extent.map_or_else(|| "?".to_owned(), |extent| extent.to_string())).collect();
    format!("[{}]", extents.join(", "))
}

fn axes(rank: usize) -> String {
    if rank == 1 { "1 axis".to_owned() } else { format!("{rank} axes") }
}

fn ordinal(axis: Axis) -> &'static str {
    match axis {
        Axis::Last => "last",
        Axis::BeforeLast => "second to last",
    }
}

fn laid_out(layout: Layout) -> String {
    format!("blayout={}, slayout={}", layout.blayout.name(), layout.slayout.name())
}

//! What the compiler's front end demands of the operands of a call before it deduces a type, as a column of the catalogue.
//!
//! Plain data, which `typing/demands.rs` checks. Extents that the result's shape is made of are no demands: they fail where the
//! shape is made ([`crate::lower`]).

use tilefit_python::element::Dtype::{self, *};

use super::AttrName;
use crate::target::Space;

/// Some of what a row demands. Their order decides which message comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demands {
    /// Of a call on tiles.
    Tiles(&'static [Demand]),
    /// Of a call on tensors.
    Tensors(&'static [Demand]),
    Both(&'static [Demand]),
}

impl Demands {
    /// Those that a call has to meet.
    pub fn of(self, on_tensors: bool) -> &'static [Demand] {
        match self {
            Demands::Both(demands) => demands,
            Demands::Tiles(demands) if !on_tensors => demands,
            Demands::Tensors(demands) if on_tensors => demands,
            Demands::Tiles(_) | Demands::Tensors(_) => &[],
        }
    }
}

/// Numbers are operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Demand {
    /// The element type of an operand.
    Among(u8, Dtypes),
    SameDtype(u8, u8),
    /// The operand has the type that a product of the other one accumulates in: FP32 of floats, else INT32.
    Accumulator(u8, u8),
    /// A scalar that is no constant has the element type of the operand, signed.
    SignedLike(u8, u8),
    /// Equal element types, or FP32 that the cube core narrows on its way into the first operand.
    SameOrNarrowed(u8, u8),
    /// The operand has the element type that the attribute names.
    OfAttr(u8, AttrName),
    /// Indices of 16 bits go with elements of 16 bits only.
    IndexWidth(u8, u8),
    /// Indices are as wide as the elements, those of bytes have 16 bits.
    ScatterWidth(u8, u8),
    /// The attribute, if given, names the type that products of the operand accumulate in.
    AccumulatorAttr(AttrName, u8),
    /// A number that is known when the kernel is compiled.
    Constant(u8),
    /// The attribute names another element type than the operand has.
    Converts(AttrName, u8),
    /// The attribute, if given, is one of these element types.
    AttrAmong(AttrName, Dtypes),
    /// The attribute may be `True` for these element types of operand 0 only.
    FlagFor(AttrName, Dtypes),
    /// The flag is for tiles of this memory only.
    FlagIn(AttrName, Space),
    /// A word of a list of words that the attribute does not have: its numbers say which it has.
    Words(AttrName, &'static str),
    /// The attribute, if given, is one of these numbers.
    Numbers(AttrName, &'static [i64]),
    /// The attribute names one of the three paddings.
    Pads(AttrName),
    /// A scalar that the instruction takes: a written number, or one that is no index.
    NoIndex(u8),
    /// The same of an operand that need not be a scalar.
    NoIndexIfScalar(u8),
    Rank(u8, usize),
    MinRank(u8, usize),
    /// As many indices as the other operand has axes.
    Indices(u8, u8),
    /// Each number of a list has one of these types.
    Elements(u8, Dtypes),
    /// A list of this many extents.
    Extents(u8, usize),
    /// The extents of one row of more than one element.
    OneRow(u8),
    /// The list has an extent for each axis of the operand, and none is smaller.
    Grows(u8, u8),
    /// Two numbers that name axes are not the same axis.
    OtherAxis(u8, u8),
    SameRank(u8, u8),
    SameShape(u8, u8),
    /// Extents are equal or 1.
    Broadcast(u8, u8),
    /// The extents along which two factors are multiplied agree, with what the flags say about their order.
    Product(u8, u8),
    /// The first operand has the extents of the product of the others.
    ProductInto(u8, u8, u8),
    /// No extent of the first is smaller than that of the second.
    Covers(u8, u8),
    /// The parts that hold data are equal.
    SameValid(u8, u8),
    Extent(u8, Axis, i64),
    SameExtent(u8, u8, Axis),
    /// The extent of an axis, where it is constant, is a multiple of this number.
    Multiple(u8, Axis, i64),
    /// The scalar, where it is constant, is a positive multiple of this number.
    MultipleOf(u8, i64),
    NotNegative(u8),
    /// The valid rows agree, and the second operand holds one value a row, repeated to 32 bytes where it is row-major.
    RowOperand(u8, u8),
    /// Rows one after the other, not in boxes.
    Flat(u8),
    /// Not in boxes, whatever the order.
    Unboxed(u8),
    RowMajor(u8),
}

/// Element types, as a message lists them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dtypes {
    Integers,
    Floats,
    Of(&'static [Dtype]),
}

impl Dtypes {
    pub fn contains(self, dtype: Dtype) -> bool {
        match self {
            Dtypes::Integers => dtype.is_integer(),
            Dtypes::Floats => dtype.is_float(),
            Dtypes::Of(dtypes) => dtypes.contains(&dtype),
        }
    }
}

/// An axis of an operand, from its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    Last,
    BeforeLast,
}

/// What a written number is to an operation that takes it as a scalar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Literals {
    /// It has the element type of the first operand that is a tile or a tensor.
    TakeDtype,
    /// An integer is an index, a float FP32, unless `pl.const` gives it a type.
    AsWritten,
    /// It has the type of the attribute.
    OfAttr(AttrName),
    Fixed(Dtype),
}

// Element types, by what may be done with them.

use Dtypes::Of;

pub(super) const DIVISIBLE: Dtypes = Of(&[Int16, Int32, Fp16, Fp32]);
pub(super) const SUBTRACTABLE: Dtypes = Of(&[Int8, Int16, Int32, Fp16, Fp32, Bf16]);
pub(super) const SELECTABLE: Dtypes = Of(&[Int8, Uint8, Int16, Uint16, Int32, Uint32, Fp16, Fp32]);
pub(super) const MASKS: Dtypes = Of(&[Int8, Uint8, Int16, Uint16, Int32, Uint32]);
pub(super) const ADDABLE_TO_ROWS: Dtypes = Of(&[Int8, Int16, Int32, Fp16, Fp32]);
pub(super) const HALF_OR_SINGLE: Dtypes = Of(&[Fp16, Fp32]);
pub(super) const GATHERED: Dtypes = Of(&[Fp16, Fp32, Int16, Int32]);
pub(super) const GATHERED_BY_BLOCK: Dtypes = Of(&[Int8, Uint8, Int16, Uint16, Int32, Uint32, Fp16, Bf16, Fp32]);
pub(super) const GATHERED_FROM_MEMORY: Dtypes =
    Of(&[Int8, Uint8, Int16, Uint16, Int32, Uint32, Fp16, Bf16, Fp32, Fp8E4M3Fn, Fp8E5M2, Hf8]);
pub(super) const SCATTERED: Dtypes = Of(&[Int8, Int16, Int32, Fp16, Fp32, Bf16]);
pub(super) const COUNTED: Dtypes = Of(&[Int16, Int32, Uint16, Uint32]);
pub(super) const MULTIPLIED_BY_VECTOR: Dtypes = Of(&[Int8, Fp16, Bf16, Fp32]);
pub(super) const ADDED_ATOMICALLY: Dtypes = Of(&[Fp32, Bf16, Fp16, Int32, Int16, Int8]);
pub(super) const SINGLE: Dtypes = Of(&[Fp32]);
pub(super) const WORD: Dtypes = Of(&[Int32]);
pub(super) const INDEX_LIKE: Dtypes = Of(&[Int64, Uint64, Index]);
pub(super) const TRIANGULAR: Dtypes = Of(&[Int8, Uint8, Int16, Int32, Uint16, Uint32, Fp16, Bf16, Fp32]);

#[cfg(test)]
mod tests {
    use super::Demand::{self, *};
    use crate::ops::{AttrName, OPS, Slot};

    /// The operands and the attribute that a demand is about.
    fn subjects(demand: Demand) -> (Vec<u8>, Option<AttrName>) {
        match demand {
            Among(one, _)
            | Constant(one)
            | NoIndex(one)
            | NoIndexIfScalar(one)
            | Rank(one, _)
            | MinRank(one, _)
            | Elements(one, _)
            | Extents(one, _)
            | OneRow(one)
            | Extent(one, ..)
            | Multiple(one, ..)
            | MultipleOf(one, _)
            | NotNegative(one)
            | Flat(one)
            | Unboxed(one)
            | RowMajor(one) => (vec![one], None),
            SameDtype(one, other)
            | Accumulator(one, other)
            | SignedLike(one, other)
            | SameOrNarrowed(one, other)
            | IndexWidth(one, other)
            | ScatterWidth(one, other)
            | Indices(one, other)
            | Grows(one, other)
            | OtherAxis(one, other)
            | SameRank(one, other)
            | SameShape(one, other)
            | Broadcast(one, other)
            | Product(one, other)
            | Covers(one, other)
            | SameValid(one, other)
            | SameExtent(one, other, _)
            | RowOperand(one, other) => (vec![one, other], None),
            ProductInto(one, other, another) => (vec![one, other, another], None),
            OfAttr(operand, attr) | AccumulatorAttr(attr, operand) | Converts(attr, operand) => {
                (vec![operand], Some(attr))
            }
            FlagFor(attr, _) => (vec![0], Some(attr)),
            AttrAmong(attr, _) | FlagIn(attr, _) | Words(attr, _) | Numbers(attr, _) | Pads(attr) => {
                (Vec::new(), Some(attr))
            }
        }
    }

    /// A demand of what a call never has would be met by every call.
    #[test]
    fn demands_are_of_what_the_row_has() {
        for op in &OPS {
            for demand in op.demands.iter().flat_map(|demands| [demands.of(false), demands.of(true)].concat()) {
                let (operands, attr) = subjects(demand);
                for operand in operands {
                    assert!((operand as usize) < op.args.len(), "{}: no operand {operand} for {demand:?}", op.name);
                }
                let is_passed = |attr| op.params.iter().any(|param| param.slot == Slot::Attr(attr));
                assert!(attr.is_none_or(is_passed), "{}: no parameter for {demand:?}", op.name);
            }
        }
    }

    /// An operation on tensors is never called on tiles: what it demanded of them would be read by nobody.
    #[test]
    fn an_operation_on_tensors_demands_nothing_of_tiles() {
        for op in OPS.iter().filter(|op| op.is_on_tensors()) {
            assert!(op.demands.iter().all(|demands| demands.of(false).is_empty()), "{}", op.name);
        }
    }
}

//! What the compiler's front end demands of the operands of a call, before it deduces a type. Extents that the result's shape is
//! made of are not here: they fail where the shape is made ([`crate::lower`]).

use std::collections::HashMap;
use std::sync::LazyLock;

use super::AttrName;
use super::{Namespace, Op};
use crate::element::Dtype::{self, *};
use crate::target::Space;

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

/// Some operations, by their names without dialect, and what they demand. An operation may be in several rows.
struct Row {
    ops: &'static [&'static str],
    of: Dialect,
    demands: &'static [Demand],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Tiles,
    Tensors,
    Both,
}

use Axis::*;
use Demand::*;
use Dialect::*;
use Dtypes::*;

const DIVISIBLE: Dtypes = Of(&[Int16, Int32, Fp16, Fp32]);
const SUBTRACTABLE: Dtypes = Of(&[Int8, Int16, Int32, Fp16, Fp32, Bf16]);
const SELECTABLE: Dtypes = Of(&[Int8, Uint8, Int16, Uint16, Int32, Uint32, Fp16, Fp32]);
const MASKS: Dtypes = Of(&[Int8, Uint8, Int16, Uint16, Int32, Uint32]);
const ADDABLE_TO_ROWS: Dtypes = Of(&[Int8, Int16, Int32, Fp16, Fp32]);
const HALF_OR_SINGLE: Dtypes = Of(&[Fp16, Fp32]);
const GATHERED: Dtypes = Of(&[Fp16, Fp32, Int16, Int32]);
const GATHERED_BY_BLOCK: Dtypes = Of(&[Int8, Uint8, Int16, Uint16, Int32, Uint32, Fp16, Bf16, Fp32]);
const GATHERED_FROM_MEMORY: Dtypes =
    Of(&[Int8, Uint8, Int16, Uint16, Int32, Uint32, Fp16, Bf16, Fp32, Fp8E4M3Fn, Fp8E5M2, Hf8]);
const SCATTERED: Dtypes = Of(&[Int8, Int16, Int32, Fp16, Fp32, Bf16]);
const COUNTED: Dtypes = Of(&[Int16, Int32, Uint16, Uint32]);
const MULTIPLIED_BY_VECTOR: Dtypes = Of(&[Int8, Fp16, Bf16, Fp32]);
const ADDED_ATOMICALLY: Dtypes = Of(&[Fp32, Bf16, Fp16, Int32, Int16, Int8]);
const SINGLE: Dtypes = Of(&[Fp32]);
const WORD: Dtypes = Of(&[Int32]);
const INDEX_LIKE: Dtypes = Of(&[Int64, Uint64, Index]);

const ROWS: &[Row] = &[
    // Of two operands.
    Row { ops: &["and", "or", "xor", "shl", "shr"], of: Both, demands: &[Among(0, Integers), Among(1, Integers)] },
    Row { ops: &["and", "or", "xor", "shl", "shr"], of: Tensors, demands: &[SameShape(0, 1)] },
    Row {
        ops: &[
            "add", "sub", "mul", "div", "maximum", "minimum", "part_add", "part_mul", "part_max", "part_min", "fmod",
            "cmp",
        ],
        of: Tensors,
        demands: &[Broadcast(0, 1)],
    },
    Row { ops: &["div"], of: Tiles, demands: &[SameDtype(0, 1), Among(0, DIVISIBLE), SameValid(0, 1)] },
    Row { ops: &["div"], of: Tensors, demands: &[Among(0, DIVISIBLE), Among(1, DIVISIBLE)] },
    Row { ops: &["div"], of: Both, demands: &[FlagFor(AttrName::HighPrecision, Floats)] },
    Row {
        ops: &["prelu"],
        of: Tiles,
        demands: &[Among(0, HALF_OR_SINGLE), SameDtype(1, 0), Rank(0, 2), SameShape(1, 0), SameValid(1, 0), Rank(2, 2)],
    },
    // Of a scalar.
    Row {
        ops: &[
            "adds", "muls", "divs", "fmods", "maximums", "minimums", "addsc", "subsc", "rems", "lrelu", "cmps",
            "expands",
        ],
        of: Both,
        demands: &[NoIndex(1)],
    },
    Row { ops: &["cmp"], of: Tensors, demands: &[NoIndexIfScalar(1)] },
    Row { ops: &["subs"], of: Both, demands: &[NoIndex(1), Among(0, SUBTRACTABLE), Among(1, SUBTRACTABLE)] },
    Row {
        ops: &["ands", "ors", "xors", "shls", "shrs"],
        of: Both,
        demands: &[NoIndex(1), Among(0, Integers), Among(1, Integers)],
    },
    Row { ops: &["shls", "shrs"], of: Tensors, demands: &[NotNegative(1)] },
    Row {
        ops: &["sels"],
        of: Tiles,
        demands: &[
            NoIndex(3),
            Rank(0, 2),
            Among(0, MASKS),
            Rank(1, 2),
            Among(1, SELECTABLE),
            Rank(2, 2),
            SignedLike(3, 1),
        ],
    },
    // Of one operand.
    Row { ops: &["sin", "cos"], of: Both, demands: &[Among(0, SINGLE)] },
    Row { ops: &["log"], of: Both, demands: &[Among(0, HALF_OR_SINGLE)] },
    Row { ops: &["not"], of: Both, demands: &[Among(0, Of(&[Int16, Uint16]))] },
    Row { ops: &["recip"], of: Both, demands: &[FlagFor(AttrName::HighPrecision, HALF_OR_SINGLE)] },
    Row { ops: &["rsqrt"], of: Tiles, demands: &[SameDtype(1, 0), SameShape(1, 0)] },
    Row {
        ops: &["cast"],
        of: Both,
        demands: &[
            Words(AttrName::Mode, "none, rint, round, floor, ceil, trunc, odd"),
            Numbers(AttrName::Mode, &[0, 1, 2, 3, 4, 5, 6]),
            Converts(AttrName::TargetType, 0),
        ],
    },
    Row { ops: &["fillpad", "fillpad_inplace", "fillpad_expand"], of: Both, demands: &[Pads(AttrName::PadValue)] },
    Row { ops: &["fillpad_expand"], of: Both, demands: &[Grows(1, 0)] },
    // Reductions.
    Row {
        ops: &["row_sum", "row_max", "row_min", "row_prod"],
        of: Tiles,
        demands: &[MinRank(0, 2), SameDtype(1, 0), SameRank(1, 0), Covers(1, 0)],
    },
    Row { ops: &["row_argmax", "row_argmin"], of: Tiles, demands: &[MinRank(0, 2), SameDtype(1, 0), SameShape(1, 0)] },
    Row { ops: &["row_min"], of: Both, demands: &[Among(0, DIVISIBLE)] },
    Row { ops: &["row_min"], of: Tiles, demands: &[Flat(0)] },
    Row {
        ops: &["col_sum", "col_max", "col_min", "col_prod", "col_argmax", "col_argmin"],
        of: Both,
        demands: &[MinRank(0, 2)],
    },
    Row { ops: &["col_sum"], of: Tiles, demands: &[SameDtype(1, 0)] },
    // A row or a column against a matrix.
    Row {
        ops: &[
            "row_expand",
            "row_expand_sub",
            "row_expand_mul",
            "row_expand_div",
            "row_expand_max",
            "row_expand_min",
            "row_expand_expdif",
        ],
        of: Both,
        demands: &[MinRank(0, 2), MinRank(1, 2), Extent(1, Last, 1), SameExtent(0, 1, BeforeLast)],
    },
    Row {
        ops: &["row_expand_add"],
        of: Tensors,
        demands: &[MinRank(0, 2), MinRank(1, 2), Extent(1, Last, 1), SameExtent(0, 1, BeforeLast)],
    },
    Row {
        ops: &["row_expand_add"],
        of: Tiles,
        demands: &[MinRank(0, 2), MinRank(1, 2), RowMajor(0), RowOperand(0, 1)],
    },
    Row { ops: &["row_expand_add"], of: Both, demands: &[SameDtype(0, 1), Among(0, ADDABLE_TO_ROWS)] },
    Row {
        ops: &[
            "col_expand",
            "col_expand_add",
            "col_expand_sub",
            "col_expand_mul",
            "col_expand_div",
            "col_expand_max",
            "col_expand_min",
            "col_expand_expdif",
        ],
        of: Tensors,
        demands: &[MinRank(0, 2), MinRank(1, 2), Extent(1, BeforeLast, 1), SameExtent(0, 1, Last)],
    },
    // Products.
    Row { ops: &["matmul"], of: Tiles, demands: &[AccumulatorAttr(AttrName::OutDtype, 0)] },
    Row { ops: &["matmul", "batch_matmul"], of: Tiles, demands: &[SameDtype(0, 1)] },
    Row {
        ops: &["matmul_acc"],
        of: Tiles,
        demands: &[Rank(0, 2), SameExtent(0, 1, BeforeLast), SameExtent(0, 2, Last)],
    },
    Row { ops: &["matmul_acc"], of: Tiles, demands: &[Rank(1, 2), Rank(2, 2), Product(1, 2)] },
    Row { ops: &["gemv"], of: Tiles, demands: &[Rank(0, 2), Rank(1, 2), Product(0, 1)] },
    Row { ops: &["matmul"], of: Tensors, demands: &[MinRank(0, 1), MinRank(1, 1), Product(0, 1)] },
    Row {
        ops: &["matmul_acc"],
        of: Tensors,
        demands: &[MinRank(0, 2), MinRank(1, 2), MinRank(2, 2), Product(1, 2), ProductInto(0, 1, 2)],
    },
    Row { ops: &["batch_matmul_acc"], of: Tiles, demands: &[MinRank(0, 2)] },
    Row { ops: &["matmul_acc", "batch_matmul_acc"], of: Both, demands: &[SameDtype(1, 2), Accumulator(0, 1)] },
    Row {
        ops: &["matmul_bias"],
        of: Tiles,
        demands: &[SameDtype(0, 1), Rank(2, 2), Extent(2, BeforeLast, 1), SameExtent(2, 1, Last), Accumulator(2, 0)],
    },
    Row {
        ops: &["gemv", "gemv_bias"],
        of: Tiles,
        demands: &[SameDtype(0, 1), Among(0, MULTIPLIED_BY_VECTOR), Extent(0, BeforeLast, 1)],
    },
    Row {
        ops: &["gemv_acc"],
        of: Tiles,
        demands: &[SameDtype(1, 2), Among(1, MULTIPLIED_BY_VECTOR), Extent(1, BeforeLast, 1), Accumulator(0, 1)],
    },
    Row { ops: &["gemv_bias"], of: Tiles, demands: &[Accumulator(2, 0)] },
    // Sorting.
    Row {
        ops: &["sort32", "mrgsort_format1", "mrgsort_format2", "mrgsort"],
        of: Both,
        demands: &[Among(0, HALF_OR_SINGLE)],
    },
    Row { ops: &["sort32"], of: Tensors, demands: &[Multiple(0, Last, 32), Among(1, Of(&[Uint32])), SameShape(1, 0)] },
    Row { ops: &["mrgsort_format1"], of: Tiles, demands: &[Among(1, Integers), MultipleOf(1, 64)] },
    Row { ops: &["mrgsort"], of: Tensors, demands: &[Among(4, Integers), MultipleOf(4, 64)] },
    Row {
        ops: &["mrgsort_format2", "mrgsort"],
        of: Both,
        demands: &[SameDtype(1, 0), SameDtype(2, 0), SameDtype(3, 0)],
    },
    // Gathering and scattering.
    Row { ops: &["gather"], of: Both, demands: &[Among(0, GATHERED), Among(1, Of(&[Int16, Int32]))] },
    Row { ops: &["gather"], of: Both, demands: &[IndexWidth(1, 0)] },
    Row { ops: &["gather"], of: Tensors, demands: &[MinRank(0, 2), SameRank(1, 0), SameDtype(2, 0)] },
    Row {
        ops: &["gatherb"],
        of: Tiles,
        demands: &[
            Among(0, GATHERED_BY_BLOCK),
            AttrAmong(AttrName::OutputDtype, GATHERED_BY_BLOCK),
            Among(1, Of(&[Uint32])),
            Rank(0, 2),
            Rank(1, 2),
            Multiple(1, Last, 8),
        ],
    },
    Row { ops: &["gather_mask"], of: Tiles, demands: &[Among(0, GATHERED)] },
    Row {
        ops: &["gather_mask", "scatter_mask", "gather"],
        of: Both,
        demands: &[Numbers(AttrName::MaskPattern, &[1, 2, 3, 4, 5, 6, 7])],
    },
    Row { ops: &["gather_compare"], of: Tiles, demands: &[Among(0, GATHERED), Rank(0, 2), SameDtype(1, 0)] },
    Row {
        ops: &["gather_compare", "gather"],
        of: Both,
        demands: &[AttrAmong(AttrName::CountDtype, Of(&[Int32, Uint32]))],
    },
    Row {
        ops: &["scatter"],
        of: Tiles,
        demands: &[
            Among(0, SCATTERED),
            Among(1, SCATTERED),
            SameDtype(0, 1),
            Among(2, Of(&[Int16, Int32])),
            Rank(0, 2),
            Rank(1, 2),
            Rank(2, 2),
            ScatterWidth(2, 0),
            SameShape(1, 2),
        ],
    },
    Row {
        ops: &["scatter_mask"],
        of: Tiles,
        demands: &[
            Among(0, SCATTERED),
            Among(1, SCATTERED),
            SameDtype(0, 1),
            Rank(0, 2),
            Rank(1, 2),
            SameExtent(0, 1, BeforeLast),
        ],
    },
    Row {
        ops: &["scatter_update"],
        of: Both,
        demands: &[Rank(1, 2), Among(1, Integers), SameRank(2, 0), SameDtype(2, 0), Numbers(AttrName::Dim, &[-2])],
    },
    Row { ops: &["gather_row"], of: Both, demands: &[SameDtype(0, 1)] },
    Row {
        ops: &["mscatter"],
        of: Tiles,
        demands: &[Among(0, GATHERED), Among(1, WORD), SameShape(1, 0), SameDtype(2, 0)],
    },
    Row { ops: &["mgather"], of: Tiles, demands: &[Among(0, GATHERED_FROM_MEMORY), Among(1, WORD), Rank(1, 2)] },
    // Moves, views and elements.
    Row { ops: &["concat"], of: Both, demands: &[SameDtype(0, 1), Rank(0, 2), Rank(1, 2)] },
    Row { ops: &["assemble"], of: Tiles, demands: &[SameOrNarrowed(0, 1)] },
    Row { ops: &["assemble", "slice"], of: Tiles, demands: &[Elements(2, INDEX_LIKE)] },
    Row { ops: &["slice"], of: Tiles, demands: &[Elements(3, INDEX_LIKE)] },
    Row { ops: &["assemble", "slice"], of: Tensors, demands: &[Elements(2, Integers)] },
    Row { ops: &["slice"], of: Tensors, demands: &[Elements(1, Integers), Elements(3, Integers)] },
    Row { ops: &["create"], of: Tensors, demands: &[Elements(0, Integers)] },
    Row {
        ops: &["create"],
        of: Tiles,
        demands: &[FlagIn(AttrName::Transpose, Space::Mat), FlagIn(AttrName::FlatLayout, Space::Mat)],
    },
    Row { ops: &["transpose"], of: Both, demands: &[MinRank(0, 2), OtherAxis(1, 2)] },
    Row { ops: &["transpose"], of: Tiles, demands: &[SameDtype(3, 0), SameRank(3, 0)] },
    Row { ops: &["transpose_view"], of: Tiles, demands: &[MinRank(0, 2)] },
    Row { ops: &["reinterpret_view"], of: Tiles, demands: &[Unboxed(0)] },
    Row { ops: &["reinterpret_view"], of: Both, demands: &[Converts(AttrName::Dtype, 0)] },
    Row { ops: &["set_validshape"], of: Both, demands: &[Rank(0, 2), Among(1, INDEX_LIKE), Among(2, INDEX_LIKE)] },
    Row { ops: &["extract"], of: Tiles, demands: &[Rank(0, 2), Among(1, INDEX_LIKE), Among(2, INDEX_LIKE)] },
    Row { ops: &["read", "write"], of: Both, demands: &[Indices(1, 0), Elements(1, Integers)] },
    Row { ops: &["write"], of: Both, demands: &[SameDtype(2, 0)] },
    Row { ops: &["store"], of: Tiles, demands: &[FlagFor(AttrName::Atomic, ADDED_ATOMICALLY)] },
    Row { ops: &["assemble"], of: Tensors, demands: &[FlagFor(AttrName::Atomic, ADDED_ATOMICALLY)] },
    // Values out of nothing.
    Row { ops: &["full"], of: Both, demands: &[Constant(1)] },
    Row {
        ops: &["ci"],
        of: Both,
        demands: &[AttrAmong(AttrName::Dtype, COUNTED), OfAttr(0, AttrName::Dtype), OneRow(1)],
    },
    Row { ops: &["random"], of: Both, demands: &[Extents(6, 2)] },
    Row { ops: &["tri"], of: Tiles, demands: &[Extents(1, 2)] },
    Row {
        ops: &["random"],
        of: Both,
        demands: &[AttrAmong(AttrName::Dtype, Of(&[Int32, Uint32])), Numbers(AttrName::Rounds, &[7, 10])],
    },
    Row {
        ops: &["random"],
        of: Both,
        demands: &[Among(0, WORD), Among(1, WORD), Among(2, WORD), Among(3, WORD), Among(4, WORD), Among(5, WORD)],
    },
    Row {
        ops: &["tri"],
        of: Tiles,
        demands: &[
            AttrAmong(AttrName::Dtype, Of(&[Int8, Uint8, Int16, Int32, Uint16, Uint32, Fp16, Bf16, Fp32])),
            Among(0, WORD),
        ],
    },
];

/// What a written number is to these operations. To others it takes the element type of what it is combined with.
const LITERALS: &[(&[&str], Literals)] = &[
    (&["read", "write", "set_validshape", "extract", "gather_compare", "gather"], Literals::AsWritten),
    (&["ci"], Literals::OfAttr(AttrName::Dtype)),
    (&["random", "tri", "mrgsort", "mrgsort_format1"], Literals::Fixed(Int32)),
];

impl Op {
    /// What the front end demands of a call, in the order in which it looks. An operation on tensors has rules of its own.
    pub fn demands(&self, on_tensors: bool) -> &'static [Demand] {
        let of = if on_tensors { Tensors } else { Tiles };
        INDEX.get(&(of as u8, short(self))).map_or(&[], Vec::as_slice)
    }

    pub fn literals(&self) -> Literals {
        let name = short(self);
        LITERALS.iter().find(|(ops, _)| ops.contains(&name)).map_or(Literals::TakeDtype, |(_, literals)| *literals)
    }
}

/// The name without its dialect. Those of other dialects have no rows.
fn short(op: &Op) -> &'static str {
    match op.namespace {
        Namespace::Tile | Namespace::Tensor => op.word(),
        _ => "",
    }
}

static INDEX: LazyLock<HashMap<(u8, &'static str), Vec<Demand>>> = LazyLock::new(|| {
    let mut index: HashMap<_, Vec<Demand>> = HashMap::new();
    for row in ROWS {
        for dialect in [Tiles, Tensors].into_iter().filter(|dialect| row.of == Both || row.of == *dialect) {
            for op in row.ops {
                index.entry((dialect as u8, *op)).or_default().extend(row.demands);
            }
        }
    }
    index
});

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::OPS;

    #[test]
    fn rows_name_operations_and_their_operands() {
        for row in ROWS {
            for name in row.ops {
                assert!(OPS.iter().any(|op| short(op) == *name), "no operation {name}");
            }
        }
    }
}

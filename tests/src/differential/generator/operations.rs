//! The operations that kernels are made of: which operands each takes.

use tilefit_python::element::Dtype::{self, *};

/// Where an operation is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    /// Between tiles.
    Tile,
    /// Between tensors in a scope.
    Tensor,
}

/// The operands and the result of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `y = f(x)`
    Unary,
    /// With a scratch tile, or without.
    UnaryScratch,
    Binary,
    BinaryScratch,
    Ternary,
    /// A literal of the tile's type after the tile.
    Scalar,
    ScalarScratch,
    /// Tile, literal, tile.
    TileScalarTile,
    /// Slope of the same type, and a mask as scratch.
    Prelu,
    Compare,
    CompareScalar,
    Select,
    SelectScalar,
    Cast,
    RowReduction,
    RowIndex,
    ColumnReduction,
    ColumnSum,
    ColumnIndex,
    RowExpand,
    RowExpandScratch,
    ColumnExpand,
    Expands,
    Slice,
    Subscript,
    Reshape,
    Reinterpret,
    Transpose,
    TransposeView,
    ValidShape,
    FillPad,
    FillPadExpand,
    Assemble,
    Concat,
    Extract,
    Sort,
    MergeBlocks,
    MergeLists,
    Gather,
    GatherMask,
    GatherBlocks,
    GatherCompare,
    Scatter,
    ScatterMask,
    ScatterUpdate,
    Sequence,
    Full,
    Create,
    Triangle,
    RandomNumbers,
    Load,
    LoadRows,
    Store,
    StoreRows,
    Read,
    Write,
    Move,
    Copy,
}

/// One operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row {
    /// After `pl.`
    pub name: &'static str,
    pub form: Form,
    pub dtypes: &'static [Dtype],
    /// Rows of the catalogue that its calls are.
    #[cfg_attr(not(test), expect(dead_code))]
    pub means: &'static [&'static str],
    pub levels: &'static [Level],
}

const BOTH: &[Level] = &[Level::Tile, Level::Tensor];
const TILE: &[Level] = &[Level::Tile];

const FLOATS: &[Dtype] = &[Fp16, Fp32];
const ANY_FLOAT: &[Dtype] = &[Fp16, Fp32, Bf16];
const INTS: &[Dtype] = &[Int16, Int32];
const NUMBERS: &[Dtype] = &[Int16, Int32, Fp16, Fp32];
const ALL: &[Dtype] = &[Int8, Int16, Int32, Fp16, Fp32, Bf16];
const ONLY_FP32: &[Dtype] = &[Fp32];
const ONLY_INT16: &[Dtype] = &[Int16];
const ONLY_INT32: &[Dtype] = &[Int32];
const EVERY: &[Dtype] = &[Int8, Uint8, Int16, Uint16, Int32, Uint32, Fp16, Fp32, Bf16];

macro_rules! rows {
    ($($form:ident $dtypes:ident $levels:ident { $($name:literal $means:tt),* $(,)? })*) => {
        pub(super) const ROWS: &[Row] = &[
            $($(Row { name: $name, form: Form::$form, dtypes: $dtypes, levels: $levels, means: &$means },)*)*
        ];
    };
}

rows! {
    Unary ANY_FLOAT BOTH {
        "exp" ["tile.exp"], "sqrt" ["tile.sqrt"], "recip" ["tile.recip"], "neg" ["tile.neg"], "abs" ["tile.abs"],
    }
    Unary FLOATS BOTH { "log" ["tile.log"] }
    Unary FLOATS TILE { "relu" ["tile.relu"] }
    Unary ONLY_FP32 BOTH { "sin" ["tile.sin"], "cos" ["tile.cos"] }
    Unary ONLY_INT16 BOTH { "not_" ["tile.not"] }
    UnaryScratch FLOATS BOTH { "rsqrt" ["tile.rsqrt", "tensor.rsqrt"] }
    Binary ALL BOTH {
        "add" ["tile.add"], "sub" ["tile.sub"], "mul" ["tile.mul"], "maximum" ["tile.maximum"], "minimum" ["tile.minimum"],
    }
    Binary NUMBERS BOTH { "div" ["tile.div"] }
    Binary NUMBERS BOTH {
        "part_add" ["tile.part_add"], "part_mul" ["tile.part_mul"], "part_max" ["tile.part_max"], "part_min" ["tile.part_min"],
    }
    Binary FLOATS BOTH { "fmod" ["tile.fmod"] }
    Binary INTS BOTH { "and_" ["tile.and"], "or_" ["tile.or"], "shl" ["tile.shl"], "shr" ["tile.shr"] }
    BinaryScratch INTS BOTH { "xor" ["tile.xor", "tensor.xor"] }
    BinaryScratch INTS TILE { "rem" ["tile.rem"] }
    Ternary NUMBERS TILE { "addc" ["tile.addc"], "subc" ["tile.subc"] }
    Scalar ALL BOTH {
        "add" ["tile.adds"], "sub" ["tile.subs"], "mul" ["tile.muls"], "maximum" ["tile.maximums"], "minimum" ["tile.minimums"],
        "div" ["tile.divs"],
    }
    Scalar FLOATS BOTH { "fmod" ["tile.fmods"] }
    Scalar FLOATS TILE { "lrelu" ["tile.lrelu"] }
    Scalar INTS BOTH { "and_" ["tile.ands"], "or_" ["tile.ors"], "shl" ["tile.shls"], "shr" ["tile.shrs"] }
    ScalarScratch INTS BOTH { "xors" ["tile.xors", "tensor.xors"] }
    ScalarScratch INTS TILE { "rems" ["tile.rems"] }
    TileScalarTile NUMBERS TILE { "addsc" ["tile.addsc"], "subsc" ["tile.subsc"] }
    Prelu FLOATS TILE { "prelu" ["tile.prelu"] }
    Compare NUMBERS BOTH { "cmp" ["tile.cmp", "tensor.cmp"] }
    CompareScalar NUMBERS BOTH { "cmp" ["tile.cmps", "tensor.cmp"] }
    CompareScalar NUMBERS TILE { "cmps" ["tile.cmps"] }
    Select NUMBERS TILE { "sel" ["tile.sel"] }
    SelectScalar NUMBERS TILE { "sels" ["tile.sels"] }
    Cast ALL BOTH { "cast" ["tile.cast"] }
    RowReduction NUMBERS BOTH {
        "row_sum" ["tile.row_sum", "tensor.row_sum"], "row_max" ["tile.row_max", "tensor.row_max"],
        "row_min" ["tile.row_min", "tensor.row_min"], "row_prod" ["tile.row_prod", "tensor.row_prod"],
    }
    RowIndex FLOATS BOTH {
        "row_argmax" ["tile.row_argmax", "tensor.row_argmax"], "row_argmin" ["tile.row_argmin", "tensor.row_argmin"],
    }
    ColumnReduction NUMBERS BOTH {
        "col_max" ["tile.col_max"], "col_min" ["tile.col_min"], "col_prod" ["tile.col_prod"],
    }
    ColumnSum NUMBERS BOTH { "col_sum" ["tile.col_sum"] }
    ColumnIndex FLOATS BOTH {
        "col_argmax" ["tile.col_argmax", "tensor.col_argmax"], "col_argmin" ["tile.col_argmin", "tensor.col_argmin"],
    }
    RowExpand NUMBERS BOTH {
        "row_expand" ["tile.row_expand"], "row_expand_sub" ["tile.row_expand_sub"], "row_expand_mul" ["tile.row_expand_mul"],
        "row_expand_div" ["tile.row_expand_div"], "row_expand_max" ["tile.row_expand_max"],
        "row_expand_min" ["tile.row_expand_min"], "row_expand_expdif" ["tile.row_expand_expdif"],
    }
    RowExpandScratch NUMBERS BOTH { "row_expand_add" ["tile.row_expand_add"] }
    ColumnExpand NUMBERS BOTH {
        "col_expand" ["tile.col_expand"], "col_expand_add" ["tile.col_expand_add"], "col_expand_sub" ["tile.col_expand_sub"],
        "col_expand_mul" ["tile.col_expand_mul"], "col_expand_div" ["tile.col_expand_div"],
        "col_expand_max" ["tile.col_expand_max"], "col_expand_min" ["tile.col_expand_min"],
        "col_expand_expdif" ["tile.col_expand_expdif"],
    }
    Expands NUMBERS BOTH { "expands" ["tile.expands"] }
    Slice EVERY BOTH { "slice" ["tile.slice", "tensor.slice"] }
    Subscript EVERY BOTH { "" ["tile.slice", "tensor.slice"] }
    Reshape EVERY BOTH { "reshape" ["tile.reshape"] }
    Reinterpret EVERY BOTH { "reinterpret_view" ["tile.reinterpret_view"] }
    Transpose NUMBERS BOTH { "transpose" ["tile.transpose"] }
    TransposeView ANY_FLOAT TILE { "tile.transpose_view" ["tile.transpose_view"] }
    ValidShape EVERY BOTH { "set_validshape" ["tile.set_validshape"] }
    FillPad ALL BOTH { "fillpad" ["tile.fillpad"] }
    FillPad ALL TILE { "tile.fillpad_inplace" ["tile.fillpad_inplace"] }
    FillPadExpand ALL BOTH { "fillpad_expand" ["tile.fillpad_expand"] }
    Assemble EVERY BOTH { "assemble" ["tile.assemble", "tensor.assemble"] }
    Concat ALL BOTH { "concat" ["tile.concat"] }
    Extract ALL TILE { "tile.extract" ["tile.extract"] }
    Sort FLOATS BOTH { "sort32" ["tile.sort32"] }
    MergeBlocks FLOATS BOTH { "mrgsort" ["tile.mrgsort_format1", "tensor.mrgsort"] }
    MergeLists FLOATS BOTH { "mrgsort" ["tile.mrgsort_format2", "tensor.mrgsort"] }
    Gather NUMBERS BOTH { "gather" ["tile.gather", "tensor.gather"] }
    GatherMask NUMBERS BOTH { "gather" ["tile.gather_mask", "tensor.gather"] }
    GatherBlocks NUMBERS TILE { "gatherb" ["tile.gatherb"] }
    GatherCompare FLOATS TILE { "tile.gather_compare" ["tile.gather_compare"] }
    Scatter NUMBERS TILE { "tile.scatter" ["tile.scatter"] }
    ScatterMask NUMBERS TILE { "tile.scatter_mask" ["tile.scatter_mask"] }
    ScatterUpdate NUMBERS TILE { "scatter_update" ["tile.scatter_update"] }
    Sequence ONLY_INT32 TILE { "ci" ["tile.ci"] }
    Sequence ONLY_INT32 BOTH { "arange" ["tile.ci", "tensor.ci"] }
    Full ALL BOTH { "full" ["tile.full", "tensor.full"] }
    Create ALL BOTH { "create" ["tile.create", "tensor.create"] }
    Triangle NUMBERS TILE { "tri" ["tile.tri"] }
    RandomNumbers ONLY_INT32 BOTH { "random" ["tile.random", "tensor.random"] }
    Load EVERY BOTH { "load" ["tile.load"] }
    LoadRows NUMBERS TILE { "mgather" ["tile.mgather"] }
    Store EVERY BOTH { "store" ["tile.store"] }
    StoreRows NUMBERS TILE { "mscatter" ["tile.mscatter"] }
    Read NUMBERS BOTH { "read" ["tile.read", "tensor.read"] }
    Write NUMBERS BOTH { "write" ["tile.write", "tensor.write"] }
    Move ALL TILE { "move" ["tile.move"] }
    Copy ALL BOTH { "" [] }
}

//! Gather, scatter and sort.

use tilefit_python::element::Dtype;

use super::AttrName;
use super::demands::{GATHERED, GATHERED_BY_BLOCK, HALF_OR_SINGLE, SCATTERED};
use super::selection::Printed::{Arg, Tmp};
use super::selection::{BINARY, Selection, Template, UNARY, instruction};
use super::{
    Access, Category, DtypeRule, Dtypes, Effect, Inplace, LayoutNeed, Literals, OP, Op, Shape, View, key, key_attr,
    pos, pos_attr,
};
use super::{Axis::*, Demand::*, Demands::*, Dtypes::*, Preset::*, When::*};
use crate::target::Space;

pub(super) const INDICES: Dtypes = Of(&[Dtype::Int16, Dtype::Int32]);
/// What `count_dtype` may be.
pub(super) const COUNTS: Dtypes = Of(&[Dtype::Int32, Dtype::Uint32]);
/// The numbers of `mask_pattern`.
pub(super) const PATTERNS: &[i64] = &[1, 2, 3, 4, 5, 6, 7];

pub(super) const ROWS: &[Op] = &[
    Op {
        name: "tile.gather",
        names: &[("tile.gather", Always)],
        category: Category::GatherScatter,
        params: &[pos("src", 0, Required), pos("indices", 1, Required), pos("tmp", 2, Required)],
        args: &["src", "indices", "tmp"],
        shape: Shape::Same(1),
        view: View::Full(0),
        inputs: &[(0, &[Space::Vec]), (1, &[Space::Vec]), (2, &[Space::Vec])],
        inplace: Inplace::Never,
        scratch: &[2],
        pto: "pto.tgather",
        selection: Selection::Gather(instruction("TGATHER", &[Arg(0), Arg(1), Tmp(2)])),
        access: Access::Unknown,
        literals: Literals::AsWritten,
        demands: &[
            Both(&[Among(0, GATHERED), Among(1, INDICES), IndexWidth(1, 0)]),
            Tensors(&[MinRank(0, 2), SameRank(1, 0), SameDtype(2, 0)]),
        ],
        constraints: "`src` is FP16, FP32, INT16 or INT32; the indices are INT32, or INT16 for a `src` of 16 bits",
        ..OP
    },
    Op {
        name: "tile.gather_compare",
        names: &[("tile.gather_compare", Always)],
        category: Category::GatherScatter,
        params: &[
            pos("src", 0, Required),
            pos("kvalue", 1, Required),
            pos("tmp", 2, Required),
            key_attr("cmp_mode", Int(0)),
            key_attr("offset", Int(0)),
            key_attr("out_cols", Required),
            key_attr("count_dtype", Absent),
        ],
        args: &["src", "kvalue", "tmp"],
        shape: Shape::GatherCompare,
        dtype: DtypeRule::GatherCompare,
        view: View::RowMajor,
        inputs: &[(0, &[Space::Vec]), (2, &[Space::Vec])],
        inplace: Inplace::Never,
        scratch: &[2],
        pto: "pto.tgather",
        selection: Selection::GatherCompare,
        access: Access::Unknown,
        literals: Literals::AsWritten,
        demands: &[
            Tiles(&[Among(0, GATHERED), Rank(0, 2), SameDtype(1, 0)]),
            Both(&[AttrAmong(AttrName::CountDtype, COUNTS)]),
        ],
        constraints: "`cmp_mode` and `out_cols` are given; `kvalue` has the element type of `src`; `tmp` is UINT8",
        ..OP
    },
    Op {
        name: "tile.gather_mask",
        names: &[("tile.gather_mask", Always)],
        category: Category::GatherScatter,
        params: &[pos("src", 0, Required), pos_attr("mask_pattern", Required), key_attr("output_dtype", Absent)],
        args: &["src"],
        shape: Shape::GatherMask,
        dtype: DtypeRule::AttrOr(AttrName::OutputDtype, 0),
        view: View::Full(0),
        inputs: &[(0, &[Space::Vec])],
        inplace: Inplace::Never,
        pto: "pto.tgather",
        selection: Selection::One(instruction("TGATHER", UNARY).template(&[
            Template::Result,
            Template::Type(0),
            Template::Pattern,
        ])),
        access: Access::Unknown,
        demands: &[Tiles(&[Among(0, GATHERED)]), Both(&[Numbers(AttrName::MaskPattern, PATTERNS)])],
        constraints: "FP16, FP32, INT16 or INT32; `mask_pattern` is 1 to 7",
        ..OP
    },
    Op {
        name: "tile.gatherb",
        names: &[("tile.gatherb", Always), ("gatherb", Always)],
        category: Category::GatherScatter,
        params: &[pos("src", 0, Required), pos("offset", 1, Required), key_attr("output_dtype", Absent)],
        args: &["src", "offset"],
        shape: Shape::GatherBlocks,
        dtype: DtypeRule::AttrOr(AttrName::OutputDtype, 0),
        view: View::RowMajor,
        inputs: &[(0, &[Space::Vec]), (1, &[Space::Vec])],
        inplace: Inplace::Never,
        pto: "pto.tgatherb",
        selection: Selection::One(instruction("TGATHERB", BINARY)),
        layout: LayoutNeed::AllRowMajor,
        access: Access::Unknown,
        demands: &[Tiles(&[
            Among(0, GATHERED_BY_BLOCK),
            AttrAmong(AttrName::OutputDtype, GATHERED_BY_BLOCK),
            Among(1, Of(&[Dtype::Uint32])),
            Rank(0, 2),
            Rank(1, 2),
            Multiple(1, Last, 8),
        ])],
        constraints: "`offset` is UINT32 with two axes, the last a multiple of 8",
        ..OP
    },
    Op {
        name: "tile.mrgsort_format1",
        names: &[("tile.mrgsort", Keyword("block_len")), ("mrgsort", Keyword("block_len"))],
        category: Category::Sort,
        params: &[pos("src0", 0, Required), key("block_len", 1, Required)],
        args: &["src0", "block_len"],
        view: View::Full(0),
        inputs: &[(0, &[Space::Vec])],
        inplace: Inplace::Never,
        pto: "pto.tmrgsort",
        selection: Selection::One(instruction("TMRGSORT", BINARY)),
        layout: LayoutNeed::AllRowMajor,
        literals: Literals::Fixed(Dtype::Int32),
        demands: &[Both(&[Among(0, HALF_OR_SINGLE)]), Tiles(&[Among(1, Integers), MultipleOf(1, 64)])],
        constraints: "FP16 or FP32; `block_len` is a multiple of 64",
        ..OP
    },
    Op {
        name: "tile.mrgsort_format2",
        names: &[("tile.mrgsort", WithoutKeyword("block_len")), ("mrgsort", WithoutKeyword("block_len"))],
        category: Category::Sort,
        params: &[
            pos("src0", 0, Required),
            pos("src1", 1, Required),
            pos("src2", 2, Absent),
            pos("src3", 3, Absent),
            pos("tmp", 4, Absent),
            pos_attr("exhausted", Bool(false)),
        ],
        args: &["src0", "src1", "src2", "src3", "tmp"],
        shape: Shape::Last,
        view: View::Full(0),
        inputs: &[(0, &[Space::Vec]), (1, &[Space::Vec]), (2, &[Space::Vec]), (3, &[Space::Vec]), (4, &[Space::Vec])],
        inplace: Inplace::Never,
        scratch: &[2, 3, 4],
        pto: "pto.tmrgsort",
        selection: Selection::MergeSorted,
        layout: LayoutNeed::AllRowMajor,
        access: Access::Unknown,
        demands: &[Both(&[Among(0, HALF_OR_SINGLE), SameDtype(1, 0), SameDtype(2, 0), SameDtype(3, 0)])],
        constraints: "FP16 or FP32; two to four sources, `tmp` last",
        ..OP
    },
    Op {
        name: "tile.scatter",
        names: &[("tile.scatter", Always)],
        category: Category::GatherScatter,
        params: &[pos("dst", 0, Required), pos("src", 1, Required), pos("indexes", 2, Required)],
        args: &["dst", "src", "indexes"],
        inputs: &[(0, &[Space::Vec]), (1, &[Space::Vec]), (2, &[Space::Vec])],
        reuses: Some(0),
        effects: &[(0, Effect::ReadWrite)],
        pto: "pto.tscatter",
        selection: Selection::One(instruction("TSCATTER", &[Arg(1), Arg(2)])),
        access: Access::Unknown,
        demands: &[Tiles(&[
            Among(0, SCATTERED),
            Among(1, SCATTERED),
            SameDtype(0, 1),
            Among(2, INDICES),
            Rank(0, 2),
            Rank(1, 2),
            Rank(2, 2),
            ScatterWidth(2, 0),
            SameShape(1, 2),
        ])],
        constraints: "`dst` and `src` have one element type of INT8, INT16, INT32, FP16, FP32, BF16; the indices have its width (2 bytes for 1) and the shape of `src`",
        ..OP
    },
    Op {
        name: "tile.scatter_mask",
        names: &[("tile.scatter_mask", Always)],
        category: Category::GatherScatter,
        params: &[pos("dst", 0, Required), pos("src", 1, Required), pos_attr("mask_pattern", Required)],
        args: &["dst", "src"],
        inputs: &[(0, &[Space::Vec]), (1, &[Space::Vec])],
        reuses: Some(0),
        effects: &[(0, Effect::ReadWrite)],
        pto: "pto.tscatter",
        selection: Selection::One(instruction("TSCATTER", &[Arg(1)]).template(&[Template::Pattern])),
        access: Access::Unknown,
        demands: &[
            Both(&[Numbers(AttrName::MaskPattern, PATTERNS)]),
            Tiles(&[
                Among(0, SCATTERED),
                Among(1, SCATTERED),
                SameDtype(0, 1),
                Rank(0, 2),
                Rank(1, 2),
                SameExtent(0, 1, BeforeLast),
            ]),
        ],
        constraints: "`dst` has 1, 2 or 4 times the columns of `src`, by the pattern",
        ..OP
    },
    Op {
        name: "tile.scatter_update",
        names: &[("tile.scatter_update", Always), ("scatter_update", TileOperand)],
        category: Category::GatherScatter,
        params: &[
            pos("input", 0, Required),
            pos("index", 1, Required),
            pos("src", 2, Required),
            key_attr("dim", Int(-2)),
        ],
        args: &["input", "index", "src"],
        inputs: &[(0, &[Space::Vec]), (1, &[Space::Vec]), (2, &[Space::Vec])],
        reuses: Some(0),
        effects: &[(0, Effect::ReadWrite)],
        access: Access::Unknown,
        demands: &[Both(&[
            Rank(1, 2),
            Among(1, Integers),
            SameRank(2, 0),
            SameDtype(2, 0),
            Numbers(AttrName::Dim, &[-2]),
        ])],
        constraints: "`input` has two or four axes, `index` two of integers; `dim` is -2",
        ..OP
    },
    Op {
        name: "tile.sort32",
        names: &[("tile.sort32", Always), ("sort32", TileOperand)],
        category: Category::Sort,
        params: &[pos("src", 0, Required), pos("idx", 1, Required)],
        args: &["src", "idx"],
        shape: Shape::LastDoubled,
        view: View::Full(0),
        inputs: &[(0, &[Space::Vec]), (1, &[Space::Vec])],
        inplace: Inplace::Never,
        pto: "pto.tsort32",
        selection: Selection::One(instruction("TSORT32", BINARY).row_major(&[0, 1, 2])),
        layout: LayoutNeed::AllRowMajor,
        demands: &[
            Both(&[Among(0, HALF_OR_SINGLE)]),
            Tensors(&[Multiple(0, Last, 32), Among(1, Of(&[Dtype::Uint32])), SameShape(1, 0)]),
        ],
        constraints: "FP16 or FP32",
        ..OP
    },
];

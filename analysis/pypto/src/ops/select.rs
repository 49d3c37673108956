//! Comparison, and selection by its result.

use tilefit_python::element::Dtype;

use super::demands::{MASKS, SELECTABLE};
use super::selection::Printed::{Arg, Compare, Tmp};
use super::selection::{Alike, Selection, instruction};
use super::{Access, Category, Demand, DtypeRule, LayoutNeed, OP, Op, Shape, View, pos, pos_attr};
use super::{Demand::*, Demands::*, Preset::*, When::*};
use crate::target::Space;

pub(super) const COMPARABLE: &[Demand] = &[Broadcast(0, 1), NoIndexIfScalar(1)];

pub(super) const ROWS: &[Op] = &[
    Op {
        name: "tile.cmp",
        names: &[("tile.cmp", Always), ("cmp", TileOperand)],
        legacy: Some("block.cmp"),
        category: Category::CompareSelect,
        params: &[pos("lhs", 0, Required), pos("rhs", 1, Required), pos_attr("cmp_type", Int(0))],
        args: &["lhs", "rhs"],
        shape: Shape::CompareBits(&[0, 1]),
        dtype: DtypeRule::Fixed(Dtype::Uint8),
        view: View::CompareBits,
        inputs: &[(0, &[Space::Vec]), (1, &[Space::Vec])],
        pto: "pto.tcmp",
        selection: Selection::One(instruction("TCMP", &[Arg(0), Arg(1), Compare])),
        demands: &[Tensors(COMPARABLE)],
        constraints: "`cmp_type` is given: 0 equal, 1 not equal, 2 less, 3 less or equal, 4 greater, 5 greater or equal",
        ..OP
    },
    Op {
        name: "tile.cmps",
        names: &[("tile.cmps", Always), ("cmps", Always), ("cmp", ScalarRhs)],
        legacy: Some("block.cmps"),
        category: Category::CompareSelect,
        params: &[pos("lhs", 0, Required), pos("rhs", 1, Required), pos_attr("cmp_type", Int(0))],
        args: &["lhs", "rhs"],
        shape: Shape::CompareBits(&[0]),
        dtype: DtypeRule::Fixed(Dtype::Uint8),
        view: View::CompareBits,
        inputs: &[(0, &[Space::Vec])],
        pto: "pto.tcmps",
        selection: Selection::One(instruction("TCMPS", &[Arg(0), Arg(1), Compare])),
        layout: LayoutNeed::Arg0AndResultRowMajor,
        demands: &[Both(&[NoIndex(1)])],
        constraints: "`cmp_type` is given",
        ..OP
    },
    Op {
        name: "tile.sel",
        names: &[("tile.sel", Always), ("sel", Always)],
        legacy: Some("block.sel"),
        category: Category::CompareSelect,
        params: &[pos("mask", 0, Required), pos("lhs", 1, Required), pos("rhs", 2, Required), pos("tmp", 3, Required)],
        args: &["mask", "lhs", "rhs", "tmp"],
        shape: Shape::Broadcast(&[1, 2]),
        dtype: DtypeRule::Promote(&[1, 2]),
        view: View::Same(1),
        inputs: &[(0, &[Space::Vec]), (1, &[Space::Vec]), (2, &[Space::Vec]), (3, &[Space::Vec])],
        no_alias: &[0, 3],
        scratch: &[3],
        pto: "pto.tsel",
        selection: Selection::One(
            instruction("TSEL", &[Arg(0), Arg(1), Arg(2), Tmp(3)]).alike(Alike::Type).row_major(&[0, 2]),
        ),
        layout: LayoutNeed::AllRowMajor,
        access: Access::Unknown,
        ..OP
    },
    Op {
        name: "tile.sels",
        names: &[("tile.sels", Always), ("sels", Always)],
        legacy: Some("block.sels"),
        category: Category::CompareSelect,
        params: &[
            pos("mask", 0, Required),
            pos("src", 1, Required),
            pos("tmp", 2, Required),
            pos("scalar", 3, Required),
        ],
        args: &["mask", "src", "tmp", "scalar"],
        shape: Shape::Same(1),
        dtype: DtypeRule::Same(1),
        view: View::Same(1),
        inputs: &[(0, &[Space::Vec]), (1, &[Space::Vec]), (2, &[Space::Vec])],
        no_alias: &[0],
        scratch: &[2],
        pto: "pto.tsels",
        selection: Selection::One(instruction("TSELS", &[Arg(0), Arg(1), Tmp(2), Arg(3)]).row_major(&[0, 2])),
        layout: LayoutNeed::AllRowMajor,
        demands: &[Tiles(&[
            NoIndex(3),
            Rank(0, 2),
            Among(0, MASKS),
            Rank(1, 2),
            Among(1, SELECTABLE),
            Rank(2, 2),
            SignedLike(3, 1),
        ])],
        constraints: "`src` has integers of 8 to 32 bits, FP16 or FP32, and the scalar the same; the mask is integers with two axes, a bit for each element of `src`",
        ..OP
    },
];

//! Functions of the elements of one tile.

use tilefit_python::element::Dtype;

use super::AttrName;
use super::demands::{HALF_OR_SINGLE, SINGLE};
use super::selection::Printed::{Arg, Round};
use super::selection::{Alike, Selection, UNARY, instruction};
use super::{Access, Category, DtypeRule, Dtypes, Inplace, LayoutNeed, OP, Op, pos, pos_attr};
use super::{Demand::*, Demands::*, Preset::*, When::*};
use crate::target::Space;

pub(super) const ROWS: &[Op] = &[
    Op {
        name: "tile.abs",
        names: &[("tile.abs", Always), ("abs", TileOperand)],
        legacy: Some("block.abs"),
        category: Category::Unary,
        params: &[pos("tile", 0, Required)],
        args: &["tile"],
        inputs: &[(0, &[Space::Vec])],
        pto: "pto.tabs",
        selection: Selection::One(instruction("TABS", UNARY).alike(Alike::Simulated).each()),
        layout: LayoutNeed::AllRowMajor,
        ..OP
    },
    Op {
        name: "tile.cast",
        names: &[("tile.cast", Always), ("cast", TileOperand)],
        legacy: Some("block.cast"),
        category: Category::Unary,
        params: &[pos("tile", 0, Required), pos_attr("target_type", Required), pos_attr("mode", Int(2))],
        args: &["tile"],
        dtype: DtypeRule::Attr(AttrName::TargetType),
        inputs: &[(0, &[Space::Vec])],
        inplace: Inplace::UnlessWidening,
        pto: "pto.tcvt",
        selection: Selection::One(instruction("TCVT", &[Arg(0), Round])),
        layout: LayoutNeed::AllRowMajor,
        demands: &[Both(&[
            Words(AttrName::Mode, "none, rint, round, floor, ceil, trunc, odd"),
            Numbers(AttrName::Mode, &[0, 1, 2, 3, 4, 5, 6]),
            Converts(AttrName::TargetType, 0),
        ])],
        constraints: "`target_type` is another type; `mode` is none, rint, round (the default), floor, ceil, trunc or odd",
        ..OP
    },
    Op {
        name: "tile.cos",
        names: &[("tile.cos", Always), ("cos", TileOperand)],
        category: Category::Unary,
        params: &[pos("tile", 0, Required)],
        args: &["tile"],
        dtype: DtypeRule::Fixed(Dtype::Fp32),
        inputs: &[(0, &[Space::Vec])],
        demands: &[Both(&[Among(0, SINGLE)])],
        constraints: "FP32",
        ..OP
    },
    Op {
        name: "tile.exp",
        names: &[("tile.exp", Always), ("exp", TileOperand)],
        legacy: Some("block.exp"),
        category: Category::Unary,
        params: &[pos("tile", 0, Required)],
        args: &["tile"],
        inputs: &[(0, &[Space::Vec])],
        pto: "pto.texp",
        selection: Selection::One(instruction("TEXP", UNARY).each()),
        layout: LayoutNeed::AllRowMajor,
        ..OP
    },
    Op {
        name: "tile.log",
        names: &[("tile.log", Always), ("log", TileOperand)],
        legacy: Some("block.log"),
        category: Category::Unary,
        params: &[pos("tile", 0, Required), pos_attr("high_precision", Bool(false))],
        args: &["tile"],
        inputs: &[(0, &[Space::Vec])],
        pto: "pto.tlog",
        selection: Selection::One(instruction("TLOG", UNARY).each()),
        layout: LayoutNeed::AllRowMajor,
        demands: &[Both(&[Among(0, HALF_OR_SINGLE)])],
        constraints: "FP16 or FP32",
        ..OP
    },
    Op {
        name: "tile.neg",
        names: &[("tile.neg", Always), ("neg", TileOperand)],
        legacy: Some("block.neg"),
        category: Category::Unary,
        params: &[pos("tile", 0, Required)],
        args: &["tile"],
        inputs: &[(0, &[Space::Vec])],
        pto: "pto.tneg",
        selection: Selection::One(instruction("TNEG", UNARY).each()),
        ..OP
    },
    Op {
        name: "tile.not",
        names: &[("tile.not_", Always), ("not_", TileOperand)],
        legacy: Some("block.not"),
        category: Category::Unary,
        params: &[pos("tile", 0, Required)],
        args: &["tile"],
        inputs: &[(0, &[Space::Vec])],
        pto: "pto.tnot",
        selection: Selection::One(instruction("TNOT", UNARY).each()),
        layout: LayoutNeed::AllRowMajor,
        demands: &[Both(&[Among(0, Dtypes::Of(&[Dtype::Int16, Dtype::Uint16]))])],
        constraints: "INT16 or UINT16",
        ..OP
    },
    Op {
        name: "tile.recip",
        names: &[("tile.recip", Always), ("recip", TileOperand)],
        legacy: Some("block.recip"),
        category: Category::Unary,
        params: &[pos("tile", 0, Required), pos_attr("high_precision", Bool(false))],
        args: &["tile"],
        inputs: &[(0, &[Space::Vec])],
        inplace: Inplace::Never,
        pto: "pto.trecip",
        selection: Selection::One(instruction("TRECIP", UNARY).each()),
        layout: LayoutNeed::AllRowMajor,
        demands: &[Both(&[FlagFor(AttrName::HighPrecision, HALF_OR_SINGLE)])],
        constraints: "`high_precision` for FP16 and FP32 only",
        ..OP
    },
    Op {
        name: "tile.relu",
        names: &[("tile.relu", Always), ("relu", Always)],
        legacy: Some("block.relu"),
        category: Category::Unary,
        params: &[pos("tile", 0, Required)],
        args: &["tile"],
        inputs: &[(0, &[Space::Vec])],
        pto: "pto.trelu",
        selection: Selection::One(instruction("TRELU", UNARY).each()),
        layout: LayoutNeed::AllRowMajor,
        ..OP
    },
    Op {
        name: "tile.rsqrt",
        names: &[("tile.rsqrt", Always), ("rsqrt", TileOperand)],
        legacy: Some("block.rsqrt"),
        category: Category::Unary,
        params: &[pos("tile", 0, Required), pos("tmp", 1, Absent)],
        args: &["tile", "tmp"],
        inputs: &[(0, &[Space::Vec]), (1, &[Space::Vec])],
        inplace: Inplace::Never,
        scratch: &[1],
        pto: "pto.trsqrt",
        selection: Selection::One(instruction("TRSQRT", UNARY).each()),
        layout: LayoutNeed::AllRowMajor,
        access: Access::Unknown,
        demands: &[Tiles(&[SameDtype(1, 0), SameShape(1, 0)])],
        ..OP
    },
    Op {
        name: "tile.sin",
        names: &[("tile.sin", Always), ("sin", TileOperand)],
        category: Category::Unary,
        params: &[pos("tile", 0, Required)],
        args: &["tile"],
        dtype: DtypeRule::Fixed(Dtype::Fp32),
        inputs: &[(0, &[Space::Vec])],
        demands: &[Both(&[Among(0, SINGLE)])],
        constraints: "FP32",
        ..OP
    },
    Op {
        name: "tile.sqrt",
        names: &[("tile.sqrt", Always), ("sqrt", TileOperand)],
        legacy: Some("block.sqrt"),
        category: Category::Unary,
        params: &[pos("tile", 0, Required)],
        args: &["tile"],
        inputs: &[(0, &[Space::Vec])],
        pto: "pto.tsqrt",
        selection: Selection::One(instruction("TSQRT", UNARY).each()),
        layout: LayoutNeed::AllRowMajor,
        ..OP
    },
];

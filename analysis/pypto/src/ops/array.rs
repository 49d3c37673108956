//! Arrays of scalars, in memory of the scalar unit: no tile takes part.

use super::AttrName;
use super::selection::Selection;
use super::{Access, Category, DtypeRule, Namespace, OP, Op, OutputSpace, PipeRule, Shape, View, pos, pos_attr};
use super::{Preset::*, When::*};

const OF_ARRAY: Op = Op {
    namespace: Namespace::Array,
    category: Category::Query,
    view: View::Nothing,
    output: OutputSpace::None,
    pipe: PipeRule::None,
    access: Access::None,
    ..OP
};

pub(super) const ROWS: &[Op] = &[
    Op {
        name: "array.create",
        names: &[("array.create", Always)],
        params: &[pos("extent", 0, Required), pos_attr("dtype", Required)],
        args: &["extent"],
        shape: Shape::Array,
        dtype: DtypeRule::Attr(AttrName::Dtype),
        selection: Selection::MakeArray,
        ..OF_ARRAY
    },
    Op {
        name: "array.get_element",
        names: &[("array.get_element", Always)],
        params: &[pos("array", 0, Required), pos("index", 1, Required)],
        args: &["array", "index"],
        shape: Shape::ArrayElement,
        selection: Selection::ReadArray,
        ..OF_ARRAY
    },
    Op {
        name: "array.update_element",
        names: &[("array.update_element", Always)],
        params: &[pos("array", 0, Required), pos("index", 1, Required), pos("value", 2, Required)],
        args: &["array", "index", "value"],
        shape: Shape::ArrayWritten,
        selection: Selection::WriteArray,
        ..OF_ARRAY
    },
];

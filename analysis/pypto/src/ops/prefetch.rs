//! Fetching global memory into the L2 cache ahead of its use: no tile takes part.

use tilefit_python::element::Dtype;

use super::{Access, Category, DtypeRule, Namespace, OP, Op, OutputSpace, PipeRule, Shape, View, pos};
use super::{Preset::*, When::*};

/// Yields a handle.
const HANDLE: Op = Op {
    namespace: Namespace::Prefetch,
    category: Category::Query,
    shape: Shape::Scalar,
    dtype: DtypeRule::Fixed(Dtype::TaskId),
    view: View::Nothing,
    output: OutputSpace::None,
    pipe: PipeRule::None,
    access: Access::Unknown,
    ..OP
};

pub(super) const ROWS: &[Op] = &[
    Op { name: "prefetch.make_context", names: &[("prefetch.make_context", Always)], ..HANDLE },
    Op {
        name: "prefetch.async_prefetch",
        names: &[("prefetch.async_prefetch", Always)],
        params: &[pos("src", 0, Required), pos("ctx", 1, Required)],
        args: &["src", "ctx"],
        ..HANDLE
    },
    Op {
        name: "prefetch.session",
        names: &[("prefetch.session", Always)],
        params: &[pos("ctx", 0, Required)],
        args: &["ctx"],
        ..HANDLE
    },
    Op {
        name: "prefetch.wait",
        names: &[("prefetch.wait", Always)],
        params: &[pos("event", 0, Required), pos("session", 1, Required)],
        args: &["event", "session"],
        ..HANDLE
    },
];

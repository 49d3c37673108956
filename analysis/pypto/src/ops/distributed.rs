//! Between devices: who they are, signals, and transfers through global memory.

use tilefit_python::element::Dtype;

use super::selection::Selection;
use super::{Access, Category, DtypeRule, Namespace, OP, Op, OutputSpace, Param, PipeRule, Shape, View, key_attr, pos};
use super::{Preset::*, When::*};
use crate::target::Space;

const OF: &[Param] = &[pos("of", 0, Required)];

/// Holds no memory.
const fn query(
    name: &'static str,
    names: &'static [(&'static str, super::When)],
    dtype: Dtype,
    selection: Selection,
) -> Op {
    Op {
        name,
        namespace: Namespace::DistributedSystem,
        names,
        category: Category::Query,
        params: OF,
        args: &["of"],
        shape: Shape::Scalar,
        dtype: DtypeRule::Fixed(dtype),
        view: View::Nothing,
        output: OutputSpace::None,
        selection,
        pipe: PipeRule::None,
        access: Access::Unknown,
        ..OP
    }
}

const fn signal(
    name: &'static str,
    names: &'static [(&'static str, super::When)],
    params: &'static [Param],
    args: &'static [&'static str],
) -> Op {
    Op {
        name,
        namespace: Namespace::DistributedSystem,
        names,
        category: Category::Distributed,
        params,
        args,
        shape: Shape::Nothing,
        dtype: DtypeRule::Nothing,
        view: View::Nothing,
        output: OutputSpace::None,
        pipe: PipeRule::None,
        access: Access::Unknown,
        ..OP
    }
}

/// A transfer that the compiler brings through staging tiles.
const fn transfer(name: &'static str, names: &'static [(&'static str, super::When)]) -> Op {
    const PARAMS: &[Param] = &[
        pos("dst", 0, Required),
        pos("peer", 1, Required),
        pos("src", 2, Required),
        pos("dst_offsets", 3, Absent),
        pos("src_offsets", 4, Absent),
        pos("shape", 5, Absent),
        key_attr("atomic", Absent),
        key_attr("chunk_rows", Absent),
        key_attr("chunk_cols", Absent),
        key_attr("pipeline", Absent),
    ];
    const ARGS: &[&str] = &["dst", "peer", "src", "dst_offsets", "src_offsets", "shape"];
    Op { namespace: Namespace::DistributedTensor, ..signal(name, names, PARAMS, ARGS) }
}

pub(super) const ROWS: &[Op] = &[
    query(
        "pld.system.get_comm_ctx",
        &[("pld.system.get_comm_ctx", Always), ("pld.get_comm_ctx", Always)],
        Dtype::TaskId,
        Selection::CommContext,
    ),
    query("pld.system.rank", &[("pld.system.rank", Always), ("pld.rank", Always)], Dtype::Int32, Selection::Rank),
    query(
        "pld.system.nranks",
        &[("pld.system.nranks", Always), ("pld.nranks", Always)],
        Dtype::Int32,
        Selection::RankCount,
    ),
    Op {
        selection: Selection::Notify,
        ..signal(
            "pld.system.notify",
            &[("pld.system.notify", Always), ("pld.notify", Always)],
            &[
                pos("target", 0, Required),
                pos("peer", 1, Required),
                pos("offsets", 2, Required),
                pos("value", 3, Required),
                key_attr("op", Absent),
            ],
            &["target", "peer", "offsets", "value"],
        )
    },
    Op {
        selection: Selection::WaitFor,
        ..signal(
            "pld.system.wait",
            &[("pld.system.wait", Always), ("pld.wait", Always)],
            &[
                pos("signal", 0, Required),
                pos("offsets", 1, Required),
                pos("expected", 2, Required),
                key_attr("cmp", Absent),
            ],
            &["signal", "offsets", "expected"],
        )
    },
    Op {
        namespace: Namespace::DistributedTensor,
        ..signal(
            "pld.tensor.barrier",
            &[("pld.tensor.barrier", Always), ("pld.barrier", Always)],
            &[pos("signal", 0, Required)],
            &["signal"],
        )
    },
    transfer("pld.tensor.put", &[("pld.tensor.put", Always), ("pld.put", Always)]),
    transfer("pld.tensor.get", &[("pld.tensor.get", Always), ("pld.get", Always)]),
    Op {
        name: "pld.tile.remote_load",
        namespace: Namespace::DistributedTile,
        names: &[("pld.tile.remote_load", Always)],
        category: Category::Distributed,
        params: &[
            pos("target", 0, Required),
            pos("peer", 1, Required),
            pos("offsets", 2, Required),
            pos("shape", 3, Required),
            pos("valid_shape", 4, Absent),
            key_attr("allow_physical_tail_padding", Absent),
        ],
        args: &["target", "peer", "offsets", "shape", "valid_shape"],
        shape: Shape::Literal(3),
        view: View::LoadRemote,
        output: OutputSpace::None,
        selection: Selection::RemoteLoad,
        pipe: PipeRule::None,
        access: Access::Unknown,
        ..OP
    },
    Op {
        name: "pld.tile.remote_store",
        namespace: Namespace::DistributedTile,
        names: &[("pld.tile.remote_store", Always), ("pld.tensor.remote_store", Always), ("pld.remote_store", Always)],
        category: Category::Distributed,
        params: &[
            pos("src_tile", 0, Required),
            pos("target", 1, Required),
            pos("peer", 2, Required),
            pos("offsets", 3, Required),
            key_attr("atomic", Absent),
        ],
        args: &["src_tile", "target", "peer", "offsets"],
        shape: Shape::Nothing,
        dtype: DtypeRule::Nothing,
        view: View::Nothing,
        inputs: &[(0, &[Space::Vec, Space::Acc])],
        output: OutputSpace::None,
        selection: Selection::RemoteStore,
        pipe: PipeRule::None,
        access: Access::Unknown,
        ..OP
    },
    Op {
        name: "pld.tile.get",
        namespace: Namespace::DistributedTile,
        names: &[("pld.tile.get", Always)],
        category: Category::Distributed,
        params: &[
            pos("dst", 0, Required),
            pos("peer", 1, Required),
            pos("src", 2, Required),
            pos("stage", 3, Absent),
            pos("stage2", 4, Absent),
            pos("dst_offsets", 5, Absent),
            pos("src_offsets", 6, Absent),
            pos("shape", 7, Absent),
        ],
        args: &["dst", "peer", "src", "stage", "stage2", "dst_offsets", "src_offsets", "shape"],
        shape: Shape::Nothing,
        dtype: DtypeRule::Nothing,
        view: View::Nothing,
        output: OutputSpace::None,
        selection: Selection::Staged,
        pipe: PipeRule::None,
        access: Access::Unknown,
        ..OP
    },
    Op {
        name: "pld.tile.put",
        namespace: Namespace::DistributedTile,
        names: &[("pld.tile.put", Always)],
        category: Category::Distributed,
        params: &[
            pos("dst", 0, Required),
            pos("peer", 1, Required),
            pos("src", 2, Required),
            pos("stage", 3, Absent),
            pos("stage2", 4, Absent),
            pos("dst_offsets", 5, Absent),
            pos("src_offsets", 6, Absent),
            pos("shape", 7, Absent),
            key_attr("atomic", Absent),
        ],
        args: &["dst", "peer", "src", "stage", "stage2", "dst_offsets", "src_offsets", "shape"],
        shape: Shape::Nothing,
        dtype: DtypeRule::Nothing,
        view: View::Nothing,
        output: OutputSpace::None,
        selection: Selection::Staged,
        pipe: PipeRule::None,
        access: Access::Unknown,
        ..OP
    },
];

//! Order between the pipes of a core, and between cores, as authors write it.

use super::selection::Selection;
use super::{
    Access, Category, DtypeRule, Namespace, OP, Op, OutputSpace, Param, PipeRule, Shape, View, key, key_attr, pos,
};
use super::{Preset::*, When::*};

/// No operands, no result, no memory.
const ORDER: Op = Op {
    namespace: Namespace::System,
    category: Category::Sync,
    shape: Shape::Nothing,
    dtype: DtypeRule::Nothing,
    view: View::Nothing,
    output: OutputSpace::None,
    pipe: PipeRule::None,
    access: Access::None,
    ..OP
};

const FLAG: &[Param] =
    &[key_attr("set_pipe", Required), key_attr("wait_pipe", Required), key_attr("event_id", Required)];

pub(super) const ROWS: &[Op] = &[
    Op {
        name: "system.sync_src",
        names: &[("system.sync_src", Always)],
        params: FLAG,
        selection: Selection::SetFlag,
        constraints: "event_id 0 to 7; each needs one sync_dst with the same values",
        ..ORDER
    },
    Op {
        name: "system.sync_dst",
        names: &[("system.sync_dst", Always)],
        params: FLAG,
        selection: Selection::WaitFlag,
        constraints: "event_id 0 to 7; each needs one sync_src with the same values",
        ..ORDER
    },
    Op {
        name: "system.bar_v",
        names: &[("system.bar_v", Always)],
        pto: "pto.barrier",
        selection: Selection::VectorBarrier,
        ..ORDER
    },
    Op {
        name: "system.bar_m",
        names: &[("system.bar_m", Always)],
        pto: "pto.barrier",
        selection: Selection::CubeBarrier,
        ..ORDER
    },
    Op {
        name: "system.bar_all",
        names: &[("system.bar_all", Always)],
        pto: "pto.barrier",
        selection: Selection::BarrierOfAll,
        ..ORDER
    },
    Op {
        name: "system.syncall",
        names: &[("system.syncall", Always)],
        params: &[
            key_attr("core_type", Str("mix")),
            key_attr("mode", Str("hard")),
            key("gm_workspace", 0, Absent),
            key("used_cores", 1, Absent),
        ],
        args: &["gm_workspace", "used_cores"],
        pto: "pto.syncall",
        selection: Selection::SyncAll,
        constraints: "between cores; core_type aiv_only, aic_only or mix",
        ..ORDER
    },
    Op {
        name: "system.set_ffts",
        names: &[("system.set_ffts", Always)],
        params: &[pos("workspace", 0, Required)],
        args: &["workspace"],
        selection: Selection::FlagsBetweenCores,
        constraints: "one-dimensional INT64 tensor of at least 256 elements",
        ..ORDER
    },
    Op {
        name: "system.sync_set",
        names: &[("system.sync_set", Always)],
        params: &[
            pos("event_id", 0, Required),
            key_attr("pipe", Required),
            key_attr("ffts_mode", Absent),
            key_attr("core_type", Absent),
        ],
        args: &["event_id"],
        selection: Selection::FlagBetweenCores,
        constraints: "between the cube and the vector cores",
        ..ORDER
    },
    Op {
        name: "system.sync_wait",
        names: &[("system.sync_wait", Always)],
        params: &[pos("event_id", 0, Required), key_attr("pipe", Required), key_attr("core_type", Absent)],
        args: &["event_id"],
        selection: Selection::FlagBetweenCores,
        constraints: "between the cube and the vector cores",
        ..ORDER
    },
];

//! The names of the language (`pypto.language` at e2d0f78ae): the operations, the words, and here what no other table has.

use std::sync::LazyLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::Dtype;
use crate::{lower, ops, words};

/// What the language is called in a kernel, by a convention that its compiler depends on.
pub(super) const ROOTS: [&str; 2] = ["pl", "pld"];

/// Words that are gone from the language. What they mean to a kernel is said where it is read.
const EARLIER: [&str; 1] = ["auto_chunk"];
const EARLIER_PARAMS: [(&str, &str); 1] = [("pl.parallel", "chunk")];

pub(super) fn is_root(name: &str) -> bool {
    ROOTS.contains(&name)
}

/// The modules and enumerations of which every member is known, with the members that neither the operations nor the words have.
const NAMESPACES: &[(&str, &[&str])] = &[
    (
        "pl",
        &[
            "AUTO",
            "AsyncEvent",
            "AsyncSession",
            "BOOL",
            "CompactMode",
            "DN",
            "DataType",
            "DynVar",
            "FP4",
            "ForKind",
            "HF4",
            "HF8",
            "InlineFunction",
            "IntLike",
            "JITFunction",
            "MX_A_ZZ",
            "MX_B_NN",
            "MemRefType",
            "ND",
            "NZ",
            "PrefetchAsyncContext",
            "Ptr",
            "PtrType",
            "RUNTIME",
            "TaskId",
            "TensorView",
            "UnknownType",
            "adir",
            "expand_clone",
            "func_attr",
            "get_block_idx",
            "get_block_num",
            "get_subblock_idx",
            "loads",
            "loads_program",
            "optimizations",
            "paged_gather",
            "parse",
            "parse_program",
            "parser",
            "prefetch",
            "scatter",
        ],
    ),
    ("pl.tile", &["MemRefType", "max", "min", "sum"]),
    (
        "pl.tensor",
        &[
            "abs",
            "add",
            "adds",
            "alloc",
            "and_",
            "ands",
            "arange",
            "assemble",
            "cast",
            "ci",
            "cmp",
            "col_argmax",
            "col_argmin",
            "col_expand",
            "col_expand_add",
            "col_expand_div",
            "col_expand_expdif",
            "col_expand_max",
            "col_expand_min",
            "col_expand_mul",
            "col_expand_sub",
            "col_max",
            "col_min",
            "col_prod",
            "col_sum",
            "concat",
            "cos",
            "create",
            "create_l1",
            "create_tensor",
            "dim",
            "div",
            "divs",
            "dump_tag",
            "exp",
            "expand_clone",
            "expands",
            "fillpad",
            "fillpad_expand",
            "fmod",
            "fmods",
            "full",
            "gather",
            "gather_row",
            "get_block_idx",
            "get_block_num",
            "get_subblock_idx",
            "log",
            "matmul",
            "matmul_acc",
            "maximum",
            "minimum",
            "mrgsort",
            "mul",
            "muls",
            "neg",
            "no_dep",
            "not_",
            "or_",
            "ors",
            "paged_gather",
            "part_add",
            "part_max",
            "part_min",
            "part_mul",
            "random",
            "read",
            "recip",
            "reinterpret_view",
            "reshape",
            "row_argmax",
            "row_argmin",
            "row_expand",
            "row_expand_add",
            "row_expand_div",
            "row_expand_expdif",
            "row_expand_max",
            "row_expand_min",
            "row_expand_mul",
            "row_expand_sub",
            "row_max",
            "row_min",
            "row_prod",
            "row_sum",
            "rsqrt",
            "scatter",
            "scatter_update",
            "set_validshape",
            "shl",
            "shls",
            "shr",
            "shrs",
            "sin",
            "slice",
            "sort32",
            "sqrt",
            "sub",
            "subs",
            "transpose",
            "view",
            "write",
            "xor",
            "xors",
        ],
    ),
    (
        "pl.system",
        &[
            "AUTO",
            "available_aiv_count",
            "available_cluster_count",
            "cacheinvalid",
            "fence",
            "task_dummy",
            "task_invalid",
            "tpop_from_aic",
            "tpop_from_aiv",
            "tpush_to_aic",
            "tpush_to_aiv",
        ],
    ),
    ("pl.array", &[]),
    ("pl.prefetch", &[]),
    ("pl.optimizations", &["CrossCoreSlot", "Optimization", "Split", "cross_core_slot", "split"]),
    (
        "pl.adir",
        &[
            "ArgDirection",
            "DIRECTION_TO_NAME",
            "NAME_TO_DIRECTION",
            "inout",
            "input",
            "no_dep",
            "output",
            "output_existing",
            "scalar",
        ],
    ),
    ("pl.jit", &[]),
    ("pl.Mem", &["Acc", "Bias", "DDR", "Left", "LeftScale", "Mat", "Right", "RightScale", "ScalarLocal", "Vec"]),
    (
        "pl.MemorySpace",
        &["Acc", "Bias", "DDR", "Left", "LeftScale", "Mat", "Right", "RightScale", "ScalarLocal", "Vec"],
    ),
    ("pl.FunctionType", &["Graph"]),
    (
        "pl.Level",
        &[
            "AIC",
            "AIV",
            "CHIP_DIE",
            "CLOS1",
            "CLOS2",
            "CLUSTER_0",
            "CLUSTER_1",
            "CLUSTER_2",
            "GLOBAL",
            "L2CACHE",
            "NODE",
            "POD",
            "PROCESSOR",
            "UMA",
        ],
    ),
    ("pl.ForKind", &["Parallel", "Pipeline", "Sequential", "Unroll"]),
    ("pl.CompactMode", &["normal", "null"]),
    ("pl.ScopeMode", &["AUTO"]),
    ("pl.TensorLayout", &["MX_A_ZZ", "MX_B_NN"]),
    ("pl.Role", &[]),
    ("pl.PipeType", &[]),
    ("pl.AtomicType", &[]),
    ("pl.SplitMode", &[]),
    ("pl.PadValue", &[]),
    ("pl.TileLayout", &[]),
    ("pl.tile.MaskPattern", &[]),
    ("pl.DataType", &["DEFAULT_CONST_FLOAT", "DEFAULT_CONST_INT"]),
    (
        "pld",
        &[
            "AtomicType",
            "CommCtx",
            "CommCtxType",
            "DistributedTensor",
            "NotifyOp",
            "ReduceOp",
            "WaitCmp",
            "WindowBufferType",
            "alloc_window_buffer",
            "get_comm_ctx",
            "nranks",
            "rank",
            "remote_load",
            "remote_store",
            "system",
            "tensor",
            "tile",
            "window",
            "world_size",
        ],
    ),
    ("pld.system", &["defer_wait", "world_size"]),
    (
        "pld.tensor",
        &[
            "all_to_all",
            "all_to_all_v",
            "allgather",
            "alloc_window_buffer",
            "allreduce",
            "broadcast",
            "reduce_scatter",
            "window",
        ],
    ),
    ("pld.tile", &[]),
    ("pld.NotifyOp", &["AtomicAdd", "Set"]),
    ("pld.WaitCmp", &["Eq", "Ge"]),
    ("pld.ReduceOp", &["Max", "Min", "Prod", "Sum"]),
    ("pld.AtomicType", &["Add", "None_"]),
];

fn others(path: &[&str]) -> Option<&'static [&'static str]> {
    let joined = path.join(".");
    NAMESPACES.iter().find(|(namespace, _)| *namespace == joined).map(|(_, names)| *names)
}

/// Whether all members of a module or enumeration are known.
pub(super) fn is_closed(path: &[&str]) -> bool {
    path.first().is_some_and(|root| is_root(root)) && others(path).is_some()
}

/// Whether a module or enumeration whose members are all known has this one.
pub(super) fn has(path: &[&str], name: &str) -> bool {
    static MEMBERS: LazyLock<FxHashMap<&str, FxHashSet<&str>>> = LazyLock::new(|| {
        let of = |namespace: &'static str| members(&namespace.split('.').collect::<Vec<_>>()).collect();
        NAMESPACES.iter().map(|(namespace, _)| (*namespace, of(namespace))).collect()
    });
    let members = MEMBERS.get(path.join(".").as_str());
    members.is_some_and(|members| members.contains(name)) || path == ["pl"] && EARLIER.contains(&name)
}

/// The members of a module or enumeration.
pub(super) fn members(path: &[&str]) -> impl Iterator<Item = &'static str> {
    let prefix = format!("{}.", path.join("."));
    let operations = match path {
        ["pl"] => String::new(),
        ["pl", ..] => format!("{}.", path[1..].join(".")),
        _ => prefix.clone(),
    };
    let dtypes: &[Dtype] = if matches!(path, ["pl"] | ["pl", "DataType"]) { Dtype::ALL } else { &[] };
    let words = words::language().filter_map(move |word| word.path.strip_prefix(&prefix));
    let operations = ops::names().filter_map(move |name| name.strip_prefix(&operations));
    let all = words.chain(operations).filter(|name| !name.contains('.'));
    all.chain(dtypes.iter().map(|dtype| dtype.name())).chain(others(path).unwrap_or_default().iter().copied())
}

/// Whether an operation or another function of the language had a parameter of this name.
pub(super) fn had_param(path: &[&str], param: &str) -> bool {
    let path = path.join(".");
    let mut operations = ops::candidates(path.strip_prefix("pl.").unwrap_or(&path)).iter();
    EARLIER_PARAMS.contains(&(path.as_str(), param)) || operations.any(|(_, op)| lower::had_parameter(*op, param))
}

/// The parameters of an operation or another function of the language; `None` where not all are known.
pub(super) fn params(path: &[&str]) -> Option<Vec<String>> {
    let name = match path {
        ["pl", name @ ..] => name.join("."),
        _ => path.join("."),
    };
    let of_operations = ops::candidates(&name).iter().flat_map(|(_, op)| op.op().params).map(|param| param.name);
    let mut params: Vec<String> = of_operations.map(str::to_owned).collect();
    if let Some(word) = words::word(&path.join(".")).filter(|word| word.kind == words::WordKind::Function) {
        params.extend(word.param_names().map(str::to_owned));
    }
    (!params.is_empty()).then_some(params)
}

//! The vocabulary of PyPTO besides tile operations: types, loops, scopes, enumerations.

use tilefit_python::vocabulary::{Word, enumeration, function, member, module, ty};

/// What the language is called in a kernel, by a convention that its compiler depends on.
pub const ROOTS: [&str; 2] = ["pl", "pld"];

/// Whether a name is what the language is called in a kernel.
pub fn is_language(name: &str) -> bool {
    ROOTS.contains(&name)
}

/// `docs/reference/syntax.md`.
pub const PYPTO: &[Word] = &[
    module("pl.tile", "Operations on tiles, by their full names."),
    module("pl.tensor", "Operations on tensors in global memory."),
    module("pl.system", "Synchronisation and pipes between the cube core and the vector cores."),
    module("pl.array", "Arrays of scalars."),
    ty("pl.Tensor", "`pl.Tensor[[dims], dtype]`: a tensor in global memory. Its extents may be dynamic."),
    ty(
        "pl.Tile",
        "`pl.Tile[[dims], dtype, memory, pl.Mem.S, pl.TileView(…)]`: a tile in on-chip memory. Its extents are constant.",
    ),
    ty("pl.Scalar", "`pl.Scalar[dtype]`: a scalar."),
    ty("pl.Array", "`pl.Array[N, dtype]`: scalars of one type."),
    ty("pl.Tuple", "`pl.Tuple[T1, T2]`: several values."),
    ty("pl.Out", "`pl.Out[T]`: a parameter that the kernel writes."),
    ty("pl.InOut", "`pl.InOut[T]`: a parameter that the kernel reads and writes."),
    function(
        "pl.MemRef",
        &["name=…", "slots=1"],
        "Declares an allocation. Tiles are bound to it, or to `buf[k]`, one of its slots, by their annotation.",
    ),
    function(
        "pl.TileView",
        &["*", "valid_shape=…", "blayout=…", "slayout=…", "fractal=…", "pad=pl.PadValue.null"],
        "How the elements of a tile are stored. Omitted parts follow from shape and memory space.",
    ),
    function(
        "pl.range",
        &["*bounds", "init_values=None"],
        "`pl.range(stop)`, `(start, stop)` or `(start, stop, step)`: a loop. Names that are rebound are carried, or those of \
         `init_values`.",
    ),
    function("pl.tensor.dim", &["tensor", "axis"], "The extent of a tensor along an axis, as a run-time value."),
    function("pl.parallel", &["*bounds", "init_values=None"], "A loop whose iterations may run at the same time."),
    function("pl.unroll", &["*bounds"], "A loop with constant bounds; the compiler copies its body."),
    function(
        "pl.pipeline",
        &["*bounds", "stage", "init_values=None"],
        "A loop in which `stage` iterations overlap. Each stage has its own buffers if they fit.",
    ),
    function("pl.while_", &["*", "init_values"], "A loop that runs while the `pl.cond` at its start holds."),
    function("pl.cond", &["condition"], "The condition of `pl.while_`; the first statement of its body."),
    function(
        "pl.yield_",
        &["*values"],
        "The values that a branch or a loop body passes on; must be the last statement.",
    ),
    function("pl.const", &["value", "dtype"], "A constant of a given element type."),
    function("pl.dynamic", &["name"], "An extent that is known at run time only."),
    function(
        "pl.min",
        &["lhs", "rhs"],
        "The smaller of two scalars. For tiles see `pl.row_min`, `pl.col_min`, `pl.minimum`.",
    ),
    function(
        "pl.max",
        &["lhs", "rhs"],
        "The larger of two scalars. For tiles see `pl.row_max`, `pl.col_max`, `pl.maximum`.",
    ),
    function(
        "pl.at",
        &[
            "level",
            "role=None",
            "*",
            "optimizations=None",
            "deps=None",
            "no_dep_args=None",
            "dumps=None",
            "allow_early_resolve=False",
            "name_hint=''",
            "windowize=True",
        ],
        "With `level=pl.Level.CORE_GROUP`: a scope that the compiler turns into a kernel.",
    ),
    function(
        "pl.spmd",
        &[
            "core_num",
            "*",
            "sync_start=False",
            "name_hint=''",
            "optimizations=None",
            "deps=None",
            "allow_early_resolve=False",
            "predicate=None",
        ],
        "Launches blocks; the loop variable is the index of the block.",
    ),
    function(
        "pl.system.available_cluster_count",
        &[],
        "The number of cubes of the chip; for `pl.spmd` around their work.",
    ),
    function(
        "pl.system.available_aiv_count",
        &[],
        "The number of vector units of the chip; for `pl.spmd` around work that only they do.",
    ),
    function("pl.split_aiv", &["n", "*", "mode"], "A region that runs on both vector cores, each on its part."),
    function(
        "pl.split",
        &["mode", "*", "slot_num=None"],
        "For `optimizations=`: splits the work between the vector cores.",
    ),
    function("pl.cross_core_slot", &["*", "slot_num"], "For `optimizations=`: slots of the pipes between the cores."),
    function("pl.cluster", &["*", "name_hint=''"], "Schedules its tasks together."),
    function("pl.scope", &["*", "mode=…"], "Orders tasks; no memory."),
    function("pl.manual_scope", &[], "A scope whose tasks you order: `pl.scope(mode=pl.ScopeMode.MANUAL)`."),
    function(
        "pl.submit",
        &["kernel", "*args", "deps=None", "dumps=None", "allow_early_resolve=False", "predicate=None", "device=None"],
        "Launches a kernel: its results, and an id that later tasks can wait for.",
    ),
    function(
        "pl.spmd_submit",
        &[
            "kernel",
            "*args",
            "core_num=…",
            "sync_start=False",
            "deps=None",
            "dumps=None",
            "allow_early_resolve=False",
            "predicate=None",
            "device=None",
        ],
        "Launches a kernel on many cores: its results, and an id that later tasks can wait for.",
    ),
    function("pl.no_dep", &["tensor"], "An argument that does not order tasks."),
    function("pl.dump_tag", &["tensor"], "Marks a tensor whose values are dumped at run time."),
    function("pl.static_print", &["*values"], "Prints while the compiler reads the kernel."),
    function("pl.static_assert", &["condition", "msg=''"], "Fails while the compiler reads the kernel."),
    enumeration("pl.Mem", "The memory spaces."),
    enumeration("pl.MemorySpace", "The memory spaces."),
    enumeration("pl.FunctionType", "What a function is to the compiler."),
    enumeration("pl.Level", "Where a scope runs."),
    enumeration("pl.SplitMode", "How the vector cores divide work."),
    enumeration("pl.ScopeMode", "Who orders the tasks of a scope."),
    enumeration("pl.PadValue", "The value of elements outside a tile's valid shape."),
    enumeration("pl.TileLayout", "The order of a tile's elements."),
    enumeration("pl.TensorLayout", "The order of a tensor's elements."),
    enumeration("pl.PipeType", "The pipes of a core, which work at the same time."),
    enumeration("pl.AtomicType", "How a store writes."),
    enumeration("pl.Role", "What a function above the cores does."),
    enumeration("pl.tile.MaskPattern", "Which elements `pl.tile.gather_mask` takes; the lowest is on the right."),
    member("pl.AUTO", "`base=` of `pl.reserve_buffer`: the compiler chooses the address."),
    member("pl.FunctionType.InCore", "A kernel that the compiler divides between cube and vector cores."),
    member("pl.FunctionType.AIC", "A kernel of the cube core."),
    member("pl.FunctionType.AIV", "A kernel of a vector core."),
    member("pl.FunctionType.Orchestration", "Control code; no tiles."),
    member("pl.FunctionType.Inline", "Inlined into its callers."),
    member("pl.FunctionType.Group", "Calls kernels of both cores that run together."),
    member("pl.FunctionType.Spmd", "Launches blocks."),
    member("pl.FunctionType.Opaque", "May contain scopes that become kernels."),
    member("pl.Level.CORE_GROUP", "One cube core and its vector cores."),
    member("pl.Level.HOST", "The host."),
    member("pl.Level.CHIP", "One chip."),
    member("pl.Role.Orchestrator", "Launches tasks."),
    member("pl.Role.SubWorker", "Does the work of a task."),
    member("pl.PipeType.MTE1", "From L1 to L0A and L0B."),
    member("pl.PipeType.MTE2", "From global memory."),
    member("pl.PipeType.MTE3", "To global memory."),
    member("pl.PipeType.M", "Matrix products."),
    member("pl.PipeType.V", "Vector instructions."),
    member("pl.PipeType.S", "Scalars."),
    member("pl.PipeType.FIX", "Out of L0C."),
    member("pl.PipeType.ALL", "All of them."),
    member("pl.AtomicType.None_", "Replaces the value."),
    member("pl.AtomicType.Add", "Adds to the value atomically."),
    member("pl.tile.MaskPattern.P0101", "Elements 0, 2, 4, …."),
    member("pl.tile.MaskPattern.P1010", "Elements 1, 3, 5, …."),
    member("pl.tile.MaskPattern.P0001", "Elements 0, 4, 8, …."),
    member("pl.tile.MaskPattern.P0010", "Elements 1, 5, 9, …."),
    member("pl.tile.MaskPattern.P0100", "Elements 2, 6, 10, …."),
    member("pl.tile.MaskPattern.P1000", "Elements 3, 7, 11, …."),
    member("pl.tile.MaskPattern.P1111", "All elements."),
    member("pl.SplitMode.UP_DOWN", "By rows."),
    member("pl.SplitMode.LEFT_RIGHT", "By columns."),
    member("pl.SplitMode.NONE", "Both do all of it."),
    member("pl.ScopeMode.MANUAL", "Your code."),
    member("pl.PadValue.null", "Nothing defined."),
    member("pl.PadValue.zero", "Zeros."),
    member("pl.PadValue.max", "The largest value of the element type."),
    member("pl.PadValue.min", "The smallest value of the element type."),
    member("pl.TileLayout.none_box", "Not in boxes."),
    member("pl.TileLayout.row_major", "Row by row."),
    member("pl.TileLayout.col_major", "Column by column."),
    member("pl.TensorLayout.ND", "Row by row."),
    member("pl.TensorLayout.DN", "Column by column."),
    member("pl.TensorLayout.NZ", "In boxes, as the cube core reads them."),
];

/// After the `@` of a function or class (`docs/reference/syntax.md`, "Functions").
pub const DECORATORS: &[Word] = &[
    function(
        "pl.program",
        &["*", "strict_ssa=False"],
        "A class whose functions are compiled together; `self` is dropped.",
    ),
    function(
        "pl.function",
        &[
            "type=pl.FunctionType.Opaque",
            "*",
            "level=None",
            "role=None",
            "attrs=None",
            "auto_scope=True",
            "strict_ssa=False",
            "external_source=None",
        ],
        "A function that is compiled. With `type=pl.FunctionType.InCore` a kernel.",
    ),
    function("pl.inline", &[], "A function that is inlined into its callers."),
    function("pl.jit", &[], "A function that is compiled when it is called, for the shapes that it is called with."),
    function("pl.jit.incore", &[], "A kernel that functions under `@pl.jit` call."),
    function("pl.jit.inline", &[], "A function that is inlined into its callers."),
    function("pl.jit.opaque", &[], "A function that may contain scopes that become kernels."),
    function("pl.jit.host", &[], "Code of the host around kernels."),
    function("pl.jit.extern", &[], "A kernel that is written in C++."),
];

/// All tables; a path is in one of them.
const TABLES: [&[Word]; 2] = [PYPTO, DECORATORS];

/// The words of PyPTO, decorators included.
pub fn language() -> impl Iterator<Item = &'static Word> {
    PYPTO.iter().chain(DECORATORS)
}

/// The row of a name under the usual names of its modules.
pub fn word(path: &str) -> Option<&'static Word> {
    TABLES.into_iter().flatten().find(|word| word.path == path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops;

    #[test]
    fn rows_are_unique_and_complete() {
        let mut paths: Vec<_> = TABLES.into_iter().flatten().map(|word| word.path).collect();
        paths.sort_unstable();
        assert!(paths.is_sorted_by(|a, b| a < b), "a path is there twice");
        assert!(TABLES.into_iter().flatten().all(|word| word.about.ends_with('.')));
    }

    /// What the table of operations knows is not written down twice.
    #[test]
    fn no_word_is_an_operation() {
        let twice = |word: &&Word| word.path.strip_prefix("pl.").is_some_and(|name| !ops::candidates(name).is_empty());
        assert_eq!(PYPTO.iter().filter(twice).map(|word| word.path).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn the_pipes_are_those_of_generated_code() {
        let members = |enumeration: &str| {
            let all = PYPTO.iter().filter_map(|word| word.path.strip_prefix(enumeration));
            all.map(str::to_owned).collect::<Vec<_>>()
        };
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        let pipes = crate::codegen::sequence::Pipe::ALL.iter().map(|pipe| pipe.short_name().to_owned());
        let named = members("pl.PipeType.").into_iter().filter(|name| name != "ALL");
        assert_eq!(sorted(named.collect()), sorted(pipes.collect()));
    }
}

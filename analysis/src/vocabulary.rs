//! The vocabulary of the languages besides tile operations: types, loops, scopes, enumerations of PyPTO; the API of TLX.
//! A row each, read by completion, signature help, hover and the check
//! whether a name exists.

/// What the language is called in a kernel, by a convention that its compiler depends on.
pub(crate) const ROOTS: [&str; 2] = ["pl", "pld"];

/// Whether a name is what the language is called in a kernel.
pub(crate) fn is_language(name: &str) -> bool {
    ROOTS.contains(&name)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordKind {
    Module,
    Type,
    Function,
    /// A class of constants.
    Enumeration,
    Member,
}

pub(crate) struct Word {
    /// Under the usual names of its modules: `pl.range`, `tlx.local_alloc`.
    pub(crate) path: &'static str,
    pub(crate) kind: WordKind,
    /// As in a signature: `stage`, `name_hint=''`, `*elems`, or a lone `*`. Only of functions.
    pub(crate) params: &'static [&'static str],
    pub(crate) about: &'static str,
}

impl Word {
    /// The names of the parameters, without presets.
    pub(crate) fn param_names(&self) -> impl Iterator<Item = &'static str> {
        let names = self.params.iter().filter_map(|param| param.split('=').next());
        names.filter(|name| !name.starts_with('*'))
    }
}

const fn function(path: &'static str, params: &'static [&'static str], about: &'static str) -> Word {
    Word { path, kind: WordKind::Function, params, about }
}

const fn module(path: &'static str, about: &'static str) -> Word {
    Word { path, kind: WordKind::Module, params: &[], about }
}

const fn ty(path: &'static str, about: &'static str) -> Word {
    Word { path, kind: WordKind::Type, params: &[], about }
}

const fn enumeration(path: &'static str, about: &'static str) -> Word {
    Word { path, kind: WordKind::Enumeration, params: &[], about }
}

const fn member(path: &'static str, about: &'static str) -> Word {
    Word { path, kind: WordKind::Member, params: &[], about }
}

/// `docs/reference/syntax.md`.
pub(crate) const PYPTO: &[Word] = &[
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
pub(crate) const DECORATORS: &[Word] = &[
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

/// `docs/reference/gluon.md`, "Names".
pub(crate) const GLUON: &[Word] = &[
    ty("gl.constexpr", "A value that is known while the kernel is compiled."),
    function(
        "gl.allocate_shared_memory",
        &["element_ty", "shape", "layout", "value=None"],
        "A buffer in shared memory. It is live from here to the last use of it or of a view of it.",
    ),
    function(
        "gl.allocate_tensor_memory",
        &["element_ty", "shape", "layout", "value=None"],
        "A buffer in tensor memory, counted in columns of 32 bits; Blackwell only.",
    ),
    function(
        "gl.NVMMASharedLayout",
        &[
            "swizzle_byte_width",
            "element_bitwidth",
            "rank=2",
            "transposed=False",
            "fp4_padded=False",
            "cga_layout=None",
        ],
        "A layout that tensor cores and TMA read. Its swizzle decides the alignment: 1024 bytes for 128.",
    ),
    function(
        "gl.NVMMASharedLayout.get_default_for",
        &["block_shape", "dtype", "transposed=False", "fp4_padded=False", "cga_layout=None"],
        "The widest swizzle that goes with a block.",
    ),
    function(
        "gl.SwizzledSharedLayout",
        &["vec", "per_phase", "max_phase", "order", "cga_layout=None"],
        "A layout for loads and stores of registers; aligned to 16 bytes.",
    ),
    function(
        "gl.PaddedSharedLayout",
        &["interval_padding_pairs", "offset_bases", "cga_layout", "shape"],
        "A layout that leaves elements free after each interval.",
    ),
    function(
        "gl.SharedLinearLayout",
        &["offset_bases", "block_bases=None", "alignment=16"],
        "A layout that maps each bit of the offset to an element.",
    ),
    function(
        "gl.BlockedLayout",
        &["size_per_thread", "threads_per_warp", "warps_per_cta", "order", "cga_layout=None"],
        "Registers: blocks of elements for threads and warps.",
    ),
    function("gl.SliceLayout", &["dim", "parent"], "A layout of registers without one dimension."),
    function(
        "gl.DistributedLinearLayout",
        &["reg_bases", "lane_bases", "warp_bases", "block_bases", "shape"],
        "A register layout that maps each bit of register, lane and warp to an element.",
    ),
    function("gl.DotOperandLayout", &["operand_index", "parent", "k_width"], "Registers of an operand of a product."),
    function(
        "gl.NVMMADistributedLayout",
        &["version", "warps_per_cta", "instr_shape", "cga_layout=None"],
        "Registers of an accumulator of a tensor core.",
    ),
    function(
        "gl.TensorMemoryLayout",
        &["block", "col_stride", "cga_layout=None", "two_ctas=False", "fp4_padded=False"],
        "Rows and columns of tensor memory.",
    ),
    function("gl.TensorMemoryScalesLayout", &["cga_layout=None"], "Scales of a product in tensor memory."),
    function("gl.arange", &["start", "end", "layout=None"], "The integers from `start` to below `end`."),
    function("gl.zeros", &["shape", "dtype", "layout=None"], "A tensor of zeros."),
    function("gl.full", &["shape", "value", "dtype", "layout=None"], "A tensor of one value."),
    function("gl.load", &["pointer", "mask=None", "other=None"], "Loads from global memory."),
    function("gl.store", &["pointer", "value", "mask=None"], "Stores to global memory."),
    function(
        "gl.convert_layout",
        &["value", "layout", "assert_trivial=False"],
        "The same tensor in another layout. Data that crosses warps goes through shared memory.",
    ),
    function("gl.set_auto_layout", &["value", "layout"], "Settles an automatic layout."),
    function(
        "gl.sum",
        &["input", "axis=None", "keep_dims=False", "dtype=None"],
        "The sum along an axis. Data that crosses warps goes through shared memory.",
    ),
    function(
        "gl.max",
        &["input", "axis=None", "return_indices=False", "keep_dims=False"],
        "The greatest along an axis. Data that crosses warps goes through shared memory.",
    ),
    function(
        "gl.min",
        &["input", "axis=None", "return_indices=False", "keep_dims=False"],
        "The least along an axis. Data that crosses warps goes through shared memory.",
    ),
    function(
        "gl.reduce",
        &["input", "axis", "combine_fn", "keep_dims=False"],
        "A reduction along an axis with your function.",
    ),
    function(
        "gl.associative_scan",
        &["input", "axis", "combine_fn", "reverse=False"],
        "A scan along an axis with your function.",
    ),
    function("gl.gather", &["src", "index", "axis"], "Elements of a tensor by their index along an axis."),
    function(
        "gl.histogram",
        &["input", "num_bins", "mask=None", "layout=None"],
        "How many elements are in each bin; through shared memory.",
    ),
    function("gl.program_id", &["axis"], "The number of this program of the grid."),
    function("gl.num_warps", &[], "Warps of the task."),
    function("gl.static_range", &["start", "end=None", "step=None"], "A loop that is unrolled."),
    function(
        "gl.warp_specialize",
        &["functions_and_args", "worker_num_warps", "worker_num_regs=None"],
        "Functions that run at the same time, the first on the warps of the kernel. Captures of the others go through shared memory.",
    ),
    module("gl.mbarrier", "Barriers in shared memory, 8 bytes each."),
    function("gl.mbarrier.allocate_mbarrier", &["batch=None", "two_ctas=False"], "A barrier, or `batch` of them."),
    function("gl.mbarrier.MBarrierLayout", &["cga_layout=None"], "The layout of barriers."),
    function("gl.mbarrier.init", &["mbarrier", "count"], "Makes a barrier wait for `count` arrivals."),
    function("gl.mbarrier.expect", &["mbarrier", "bytes_per_cta", "pred=True"], "Makes a barrier wait for bytes, too."),
    function("gl.mbarrier.wait", &["mbarrier", "phase", "pred=True", "deps=()"], "Waits for a phase of a barrier."),
    function("gl.mbarrier.arrive", &["mbarrier", "count=1", "pred=True"], "Arrives at a barrier."),
    function("gl.mbarrier.invalidate", &["mbarrier"], "Ends a barrier."),
    module("gl.tma", "Transfers between global and shared memory by descriptors."),
    function(
        "gl.tma.async_load",
        &["tensor_desc", "coord", "barrier", "result", "pred=True", "multicast=False"],
        "Loads a block into a buffer.",
    ),
    function(
        "gl.tma.async_store",
        &["tensor_desc", "coord", "src"],
        "Stores a buffer. The compiler does not track the store: the buffer is free after its last use.",
    ),
    function("gl.tma.store_wait", &["pendings"], "Waits until at most this many stores are pending."),
    function(
        "gl.tma.make_tensor_descriptor",
        &["base", "shape", "strides", "block_shape", "layout"],
        "A descriptor that the kernel makes; 128 bytes of shared memory while it is made.",
    ),
    module("gl.async_copy", "Copies from global to shared memory."),
    module("gl.clc", "Requests for the next tile; Blackwell only."),
    function(
        "gl.tcgen05_mma",
        &["a", "b", "acc", "use_acc=True", "pred=True", "multicast=False", "mbarriers=None"],
        "A product into tensor memory.",
    ),
    function("gl.tcgen05_commit", &["barrier", "pred=True"], "Arrives at a barrier when what was issued is done."),
    function("gl.tcgen05_copy", &["src", "dst"], "Copies shared to tensor memory."),
    function(
        "gl.warpgroup_mma",
        &["a", "b", "acc", "use_acc=True", "is_async=False"],
        "A product on Hopper's tensor cores.",
    ),
    function("gl.warpgroup_mma_wait", &["num_outstanding=0", "deps=None"], "Waits for products."),
    function(
        "gl.fence_async_shared",
        &["cluster=False"],
        "Orders accesses of threads before those of TMA and tensor cores.",
    ),
];

/// `docs/reference/tlx.md`, "Names".
pub(crate) const TLX: &[Word] = &[
    enumeration("tlx.storage_kind", "The memories that a buffer may be in."),
    member("tlx.storage_kind.smem", "Shared memory, counted in bytes."),
    member("tlx.storage_kind.tmem", "Tensor memory, counted in columns of 32 bits; Blackwell only."),
    enumeration("tlx.reuse_group_type", "How the members of a reuse group are placed."),
    member("tlx.reuse_group_type.shared", "At the same address: one at a time is in use."),
    member("tlx.reuse_group_type.distinct", "One after the other: all are in use at once."),
    function(
        "tlx.storage_alias_spec",
        &["storage=tlx.storage_kind.smem", "buffer_size_bytes=None"],
        "Memory that several allocations share. Its size is the given one, or what they need.",
    ),
    function(
        "tlx.local_alloc",
        &["shape", "dtype", "num", "storage=tlx.storage_kind.smem", "reuse=None", "layout=None"],
        "`num` buffers of `shape`. `reuse` names the spec whose memory they use.",
    ),
    function(
        "tlx.reuse_group",
        &["*elems", "group_type=tlx.reuse_group_type.shared", "group_size=1"],
        "Says which buffers of a spec share memory and which do not; for `set_buffer_overlap`.",
    ),
    function(
        "tlx.swizzled_shared_layout_encoding.make_default",
        &["rank"],
        "A layout without swizzle, aligned to 16 bytes.",
    ),
    function("tlx.alloc_barriers", &["num_barriers", "arrive_count=1"], "Barriers in shared memory, 8 bytes each."),
    function(
        "tlx.alloc_warp_barrier",
        &["num_barriers", "num_warps=1", "num_arrivals=1"],
        "Barriers that every thread of some warps arrives at, 8 bytes each.",
    ),
    function(
        "tlx.clc_create_context",
        &["num_consumers", "num_stages=1"],
        "Barriers and responses of cluster launch control: 2 × 8 and 16 bytes a stage.",
    ),
    function("tlx.local_view", &["local_allocated_buffers", "buffer_idx"], "One of the buffers; the same as `buf[i]`."),
    function("tlx.local_slice", &["buffer", "offset", "shape"], "A part of a buffer."),
    function("tlx.subslice", &["local_allocated_buffer", "offset", "size"], "Columns of a buffer in tensor memory."),
    function("tlx.local_trans", &["input", "dims=(1, 0)"], "The buffer with its axes exchanged; copies nothing."),
    function("tlx.local_reshape", &["src", "shape"], "The buffer under another shape; copies nothing."),
    function(
        "tlx.local_reinterpret",
        &["src", "dtype", "shape=None", "layout=None"],
        "The buffer's bytes as another element type; copies nothing.",
    ),
    function(
        "tlx.remote_view",
        &["local_allocated_buffer", "remote_cta_rank"],
        "The barrier of another CTA of the cluster.",
    ),
    function("tlx.local_load", &["src", "token=None", "layout=None"], "Reads a buffer into registers."),
    function("tlx.local_store", &["dst", "src"], "Writes registers into a buffer."),
    function("tlx.tmem_copy", &["src", "dst"], "Copies from shared to tensor memory."),
    function(
        "tlx.async_load",
        &["src", "result", "mask=None", "other=None", "cache_modifier=''", "eviction_policy=''", "is_volatile=False"],
        "Starts a copy from global memory into a buffer.",
    ),
    function("tlx.async_load_commit_group", &["tokens=[]"], "Makes a group of the copies that were started."),
    function(
        "tlx.async_load_wait_group",
        &["pendings", "tokens=[]"],
        "Waits until at most `pendings` groups are left.",
    ),
    function(
        "tlx.async_descriptor_load",
        &["desc", "result", "offsets", "barrier", "pred=None", "multicast_targets=[]", "two_ctas=False"],
        "Starts a copy of a block that a descriptor names into a buffer; the barrier counts its bytes.",
    ),
    function(
        "tlx.async_descriptor_store",
        &["desc", "source", "offsets", "eviction_policy=''", "store_reduce=''"],
        "Starts a copy of a buffer to where a descriptor names.",
    ),
    function("tlx.async_descriptor_store_wait", &["pendings"], "Waits until at most `pendings` stores are left."),
    function(
        "tlx.async_dot",
        &["A", "B", "acc=None", "use_acc=None", "pred=None", "mBarriers=[]", "two_ctas=False", "out_dtype=tl.float32"],
        "Starts a matrix product of buffers.",
    ),
    function(
        "tlx.async_dot_scaled",
        &["A", "B", "acc", "A_scale", "A_format", "B_scale", "B_format", "use_acc=None", "pred=None", "mBarriers=[]"],
        "Starts a matrix product of operands with block scales.",
    ),
    function("tlx.async_dot_wait", &["pendings", "inp"], "Waits until at most `pendings` products are left."),
    function(
        "tlx.tcgen05_commit",
        &["mBarrier", "two_ctas=False"],
        "The barrier is arrived at when the products before are done.",
    ),
    function("tlx.barrier_wait", &["bar", "phase", "pred=None"], "Waits for a phase of a barrier."),
    function(
        "tlx.barrier_arrive",
        &["bar", "arrive_count=1", "remote_cta_rank=None", "pred=None"],
        "Arrives at a barrier.",
    ),
    function("tlx.barrier_expect_bytes", &["bar", "size", "pred=None"], "The barrier also waits for that many bytes."),
    function("tlx.named_barrier_wait", &["bar", "arrive_count"], "Waits at one of the hardware's numbered barriers."),
    function(
        "tlx.named_barrier_arrive",
        &["bar", "arrive_count"],
        "Arrives at one of the hardware's numbered barriers.",
    ),
    function("tlx.async_tasks", &["*args", "exclusive=False"], "A `with` statement whose tasks run at the same time."),
    function("tlx.async_task", &["*args"], "One of the tasks of `tlx.async_tasks`."),
    function("tlx.async_task_replica_id", &[], "Which replica of its task this is."),
    function("tlx.fence_async_shared", &[], "Orders writes to shared memory before asynchronous reads of it."),
    function(
        "tlx.clc_producer",
        &["context", "p_producer=None", "multi_ctas=True", "k=0"],
        "Asks for the next tile of work.",
    ),
    function(
        "tlx.clc_consumer",
        &["context", "p_consumer=None", "multi_ctas=True", "k=0"],
        "Takes the next tile of work.",
    ),
    function("tlx.cluster_cta_rank", &[], "The number of this CTA in its cluster."),
    function("tlx.cluster_barrier", &[], "Waits for all CTAs of the cluster."),
    function("tlx.dtype_of", &["v"], "The element type of a pointer, a descriptor or a tensor."),
    function("tlx.size_of", &["dtype"], "Bytes of an element."),
    function(
        "tlx.make_tensor_descriptor",
        &["desc_ptr", "base", "shape", "strides", "block_shape", "padding_option='zero'"],
        "Writes a descriptor to global memory.",
    ),
    function("tlx.allocate_tensor_descriptor", &["num"], "Room for descriptors in global memory."),
    function("tlx.thread_id", &["axis"], "The number of this thread."),
];

/// All tables; a path is in one of them.
const TABLES: [&[Word]; 3] = [PYPTO, DECORATORS, TLX];

/// The words of PyPTO, decorators included.
pub(crate) fn language() -> impl Iterator<Item = &'static Word> {
    PYPTO.iter().chain(DECORATORS)
}

/// The row of a name under the usual names of its modules.
pub(crate) fn word(path: &str) -> Option<&'static Word> {
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

//! Words of TileLang that authors use: their parameters, and a line about each.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use rustc_hash::FxHasher;
use tilefit_python::spelling;
use tilefit_python::vocabulary::{Word, enumeration, function, member, ty};

use crate::members::NAMES;

pub const WORDS: [Word; 174] = [
    function(
        "T.Kernel",
        &["*blocks", "threads=None", "prelude=None", "cluster_dims=None"],
        "A launch: the grid and the threads of a block. Gives the variables of the grid.",
    ),
    function(
        "T.ClusterKernel",
        &["*blocks", "cluster_dims", "threads=None", "prelude=None"],
        "A launch whose blocks form clusters.",
    ),
    function("T.alloc_shared", &["shape", "dtype", "scope='shared.dyn'"], "A buffer in shared memory."),
    function(
        "T.alloc_fragment",
        &["shape", "dtype", "scope='local.fragment'"],
        "A buffer in the registers of all threads of a block together.",
    ),
    function("T.alloc_local", &["shape", "dtype", "scope='local'"], "A buffer of each thread by itself."),
    function("T.alloc_var", &["dtype", "*args", "scope='local.var'", "init=None"], "A variable of each thread."),
    function("T.alloc_barrier", &["arrive_count"], "One barrier, or a list of them, in shared memory."),
    function("T.alloc_cluster_barrier", &["arrive_count"], "Barriers that other blocks of a cluster arrive at."),
    function("T.alloc_tmem", &["shape", "dtype"], "A buffer in tensor memory, for products of Blackwell."),
    function(
        "T.alloc_reducer",
        &["shape", "dtype", "op='sum'", "replication=None"],
        "An accumulator that threads add to and that is finalized later.",
    ),
    function("T.alloc_global", &["shape", "dtype", "scope='global'"], "A work space in global memory."),
    function(
        "T.copy",
        &[
            "src",
            "dst",
            "*",
            "coalesced_width=None",
            "disable_tma=False",
            "eviction_policy=None",
            "prefer_instruction=None",
            "annotations=None",
            "loop_layout=None",
        ],
        "Copies a tile from one memory to another; a side given by an index takes its extents from the other side.",
    ),
    function(
        "T.async_copy",
        &["src", "dst", "*", "coalesced_width=None", "annotations=None", "loop_layout=None"],
        "A copy that the kernel waits for by itself.",
    ),
    function(
        "T.tma_copy",
        &[
            "src",
            "dst",
            "*",
            "barrier=None",
            "cluster_mask=None",
            "leader_scope_threads=None",
            "eviction_policy=None",
            "annotations=None",
        ],
        "A copy by the Tensor Memory Accelerator, with a barrier of the kernel's own.",
    ),
    function(
        "T.copy_cluster",
        &[
            "src",
            "dst",
            "*",
            "dst_block=None",
            "cluster_mask=None",
            "remote_barrier=None",
            "eviction_policy=None",
            "coalesced_width=None",
            "annotations=None",
            "loop_layout=None",
        ],
        "A copy to or from other blocks of a cluster.",
    ),
    function("T.transpose", &["src", "dst", "annotations=None"], "Copies a tile with its dimensions exchanged."),
    function(
        "T.im2col",
        &[
            "img",
            "col",
            "nhw_step",
            "c_step",
            "kernel",
            "stride",
            "dilation",
            "pad",
            "eviction_policy=None",
            "annotations=None",
        ],
        "Loads the windows of a convolution as rows of a tile.",
    ),
    function(
        "T.c2d_im2col",
        &[
            "img",
            "col",
            "nhw_step",
            "c_step",
            "kernel",
            "stride",
            "dilation",
            "pad",
            "eviction_policy=None",
            "annotations=None",
        ],
        "Loads the windows of a two-dimensional convolution as rows of a tile.",
    ),
    function(
        "T.gemm",
        &[
            "A",
            "B",
            "C",
            "transpose_A=False",
            "transpose_B=False",
            "policy=Square",
            "clear_accum=False",
            "mbar=None",
            "annotations=None",
        ],
        "A product of two tiles, added to an accumulator.",
    ),
    function(
        "T.wgmma_gemm",
        &[
            "A",
            "B",
            "C",
            "transpose_A=False",
            "transpose_B=False",
            "policy=Square",
            "clear_accum=False",
            "annotations=None",
        ],
        "A product of Hopper that the kernel waits for by itself.",
    ),
    function(
        "T.tcgen05_gemm",
        &[
            "A",
            "B",
            "C",
            "transpose_A=False",
            "transpose_B=False",
            "policy=Square",
            "clear_accum=False",
            "*",
            "mbar",
            "use_2cta=False",
            "annotations=None",
        ],
        "A product of Blackwell into tensor memory; its barrier says when it is done.",
    ),
    function(
        "T.gemm_sp",
        &[
            "A_sparse",
            "E",
            "B",
            "C",
            "transpose_A=False",
            "transpose_E=False",
            "transpose_B=False",
            "policy=Square",
            "clear_accum=False",
            "wg_wait=0",
            "annotations=None",
        ],
        "A product with a sparse left side.",
    ),
    function(
        "T.gemm_blockscaled",
        &[
            "A",
            "B",
            "C",
            "SFA",
            "SFB",
            "transpose_A=False",
            "transpose_B=False",
            "policy=Square",
            "clear_accum=False",
            "*",
            "k_start",
            "sf_a_granularity_k",
            "sf_b_granularity_k",
            "mbar=None",
            "use_2cta=False",
            "sf_layout=None",
            "annotations=None",
        ],
        "A product of tiles that have a scale for each block.",
    ),
    function(
        "T.tcgen05_gemm_blockscaled",
        &[
            "A",
            "B",
            "C",
            "SFA_tmem",
            "SFB_tmem",
            "transpose_A=False",
            "transpose_B=False",
            "clear_accum=False",
            "wg_wait=0",
            "mbar=None",
            "*",
            "k_start",
            "sf_a_granularity_k",
            "sf_b_granularity_k",
            "use_2cta=False",
        ],
        "The same for Blackwell, which the kernel waits for by itself.",
    ),
    function("T.fill", &["buffer", "value", "annotations=None"], "Sets all elements of a tile to a value."),
    function("T.clear", &["buffer", "annotations=None"], "Sets all elements of a tile to zero."),
    function(
        "T.reduce",
        &["buffer", "out", "reduce_type", "dim", "clear", "batch=1", "annotations=None"],
        "Reduces a tile along a dimension by an operation that has a name.",
    ),
    function(
        "T.reduce_sum",
        &["buffer", "out", "dim=-1", "clear=True", "batch=1", "annotations=None"],
        "Sums along a dimension.",
    ),
    function(
        "T.reduce_max",
        &["buffer", "out", "dim=-1", "clear=True", "batch=1", "nan_propagate=False", "annotations=None"],
        "The largest along a dimension.",
    ),
    function(
        "T.reduce_min",
        &["buffer", "out", "dim=-1", "clear=True", "batch=1", "nan_propagate=False", "annotations=None"],
        "The smallest along a dimension.",
    ),
    function(
        "T.reduce_abssum",
        &["buffer", "out", "dim=-1", "batch=1", "annotations=None"],
        "Sums of absolute values along a dimension.",
    ),
    function(
        "T.reduce_absmax",
        &["buffer", "out", "dim=-1", "clear=True", "batch=1", "nan_propagate=False", "annotations=None"],
        "The largest absolute value along a dimension.",
    ),
    function(
        "T.reduce_bitand",
        &["buffer", "out", "dim=-1", "clear=True", "batch=1", "annotations=None"],
        "Bitwise and along a dimension.",
    ),
    function(
        "T.reduce_bitor",
        &["buffer", "out", "dim=-1", "clear=True", "batch=1", "annotations=None"],
        "Bitwise or along a dimension.",
    ),
    function(
        "T.reduce_bitxor",
        &["buffer", "out", "dim=-1", "clear=True", "batch=1", "annotations=None"],
        "Bitwise exclusive or along a dimension.",
    ),
    function(
        "T.cumsum",
        &["src", "dst=None", "dim=0", "reverse=False", "annotations=None"],
        "Running sums along a dimension; one of registers goes through shared memory.",
    ),
    function(
        "T.cummax",
        &["src", "dst=None", "dim=0", "reverse=False", "annotations=None"],
        "Running maxima along a dimension; one of registers goes through shared memory.",
    ),
    function("T.reducer_init", &["reducer", "init=None"], "Gives a reducer the value that it starts with."),
    function("T.reducer_update", &["target", "value"], "Adds a contribution to a reducer."),
    function(
        "T.finalize_reducer",
        &["reducer", "dst=None", "batch=1", "annotations=None"],
        "Combines what the threads gave to a reducer.",
    ),
    function("T.warp_reduce_sum", &["value"], "A sum over the lanes of a warp."),
    function("T.warp_reduce_max", &["value"], "The largest over the lanes of a warp."),
    function("T.warp_reduce_min", &["value"], "The smallest over the lanes of a warp."),
    function(
        "T.atomic_add",
        &["dst", "value", "memory_order=None", "return_prev=False", "use_tma=False", "annotations=None"],
        "Adds to memory that other threads add to, an element or a tile.",
    ),
    function(
        "T.atomic_max",
        &["dst", "value", "memory_order=None", "return_prev=False", "annotations=None"],
        "Keeps the larger value in memory that other threads use.",
    ),
    function(
        "T.atomic_min",
        &["dst", "value", "memory_order=None", "return_prev=False", "annotations=None"],
        "Keeps the smaller value in memory that other threads use.",
    ),
    function("T.atomic_addx2", &["dst", "value", "return_prev=False"], "Adds two elements side by side."),
    function("T.atomic_addx4", &["dst", "value", "return_prev=False"], "Adds four elements side by side."),
    function("T.atomic_load", &["src", "memory_order='seq_cst'"], "Reads what other threads write."),
    function("T.atomic_store", &["dst", "src", "memory_order='seq_cst'"], "Writes what other threads read."),
    function("T.serial", &["start", "stop=None", "step=None", "*", "annotations=None"], "A loop of the kernel."),
    function("T.Serial", &["start", "stop=None", "step=None", "*", "annotations=None"], "A loop of the kernel."),
    function(
        "T.unroll",
        &["start", "stop=None", "step=None", "*", "explicit=False", "unroll_factor=None", "annotations=None"],
        "A loop of the kernel that the compiler unrolls; with `explicit`, before all else.",
    ),
    function(
        "T.Unroll",
        &["start", "stop=None", "step=None", "*", "explicit=False", "unroll_factor=None", "annotations=None"],
        "A loop of the kernel that the compiler unrolls.",
    ),
    function(
        "T.Parallel",
        &["*extents", "coalesced_width=None", "loop_layout=None", "prefer_async=None", "annotations=None"],
        "Loops whose rounds the threads share.",
    ),
    function(
        "T.vectorized",
        &["start", "stop=None", "*", "annotations=None"],
        "A loop that becomes one vector operation.",
    ),
    function(
        "T.Vectorized",
        &["start", "stop=None", "*", "annotations=None"],
        "A loop that becomes one vector operation.",
    ),
    function(
        "T.Pipelined",
        &["start", "stop=None", "num_stages=0", "order=None", "stage=None", "annotations=None"],
        "A loop whose copies run ahead of its products: `num_stages` copies of each buffer that is loaded.",
    ),
    function(
        "T.Persistent",
        &["domain", "wave_size", "index", "group_size=8", "num_stages=0", "*", "annotations=None"],
        "A loop over tiles, as many at a time as there are blocks.",
    ),
    function("T.grid", &["*extents"], "Loops in loops."),
    function(
        "T.thread_binding",
        &["start", "stop=None", "thread=None", "*", "annotations=None"],
        "A loop whose rounds are threads or blocks.",
    ),
    function("T.ceildiv", &["lhs", "rhs"], "The quotient, rounded up."),
    function("T.floordiv", &["a", "b"], "The quotient, rounded down."),
    function("T.floormod", &["a", "b"], "What a division leaves."),
    function("T.max", &["a", "b"], "The larger of two numbers."),
    function("T.min", &["a", "b"], "The smaller of two numbers."),
    function("T.clamp", &["dst", "min_val", "max_val"], "A number, not below one bound and not above the other."),
    function("T.if_then_else", &["cond", "t", "f"], "One of two values by a condition of the kernel."),
    function("T.Select", &["condition", "true_value", "false_value"], "One of two values, both of which are computed."),
    function("T.cast", &["value", "dtype", "round=''", "sat=True", "rbits=None"], "A number as one of another type."),
    function("T.Cast", &["dtype", "value", "annotations=None"], "A number as one of another type."),
    function("T.reinterpret", &["value", "dtype"], "The bits of a number as another type."),
    function("T.infinity", &["dtype"], "Infinity of a type."),
    function("T.max_value", &["dtype"], "The largest number of a type."),
    function("T.min_value", &["dtype"], "The smallest number of a type."),
    function("T.exp", &["x"], "e to a power."),
    function("T.exp2", &["x"], "2 to a power."),
    function("T.log", &["x"], "The natural logarithm."),
    function("T.log2", &["x"], "The logarithm to base 2."),
    function("T.sqrt", &["x"], "The square root."),
    function("T.rsqrt", &["x"], "One over the square root."),
    function("T.abs", &["x"], "The absolute value."),
    function("T.tanh", &["x"], "The hyperbolic tangent."),
    function("T.sigmoid", &["x"], "The logistic function."),
    function("T.floor", &["x"], "The next whole number below."),
    function("T.ceil", &["x"], "The next whole number above."),
    function("T.round", &["x", "rounding_mode='ties-to-even'"], "The nearest whole number."),
    function("T.sin", &["x"], "The sine."),
    function("T.cos", &["x"], "The cosine."),
    function("T.pow", &["x", "y"], "A power."),
    function("T.dynamic", &["name", "dtype='int32'"], "A size that is known only when the kernel runs."),
    function("T.symbolic", &["name", "dtype='int32'"], "An older name of `T.dynamic`."),
    function("T.const", &["name", "dtype='int32'"], "A size of a tensor, which the arguments of a call give."),
    function("T.empty", &["*shape", "dtype=float32"], "A tensor that the kernel makes and returns."),
    function(
        "T.view",
        &["src", "shape=None", "dtype=None", "strides=None"],
        "The memory of a buffer with another shape or type.",
    ),
    function("T.reshape", &["src", "shape"], "The memory of a buffer with another shape."),
    function("T.make_tensor", &["ptr", "shape", "dtype='float32'", "strides=None"], "A tensor at an address."),
    function(
        "T.match_buffer",
        &[
            "param",
            "shape=None",
            "dtype='float32'",
            "data=None",
            "strides=None",
            "elem_offset=None",
            "scope='global'",
            "align=-1",
            "offset_factor=0",
            "buffer_type='default'",
            "axis_separators=None",
        ],
        "A buffer at the address of a parameter.",
    ),
    function(
        "T.use_swizzle",
        &["panel_size", "order='row'", "enable=True"],
        "Orders the blocks of the grid so that neighbours share more of the cache.",
    ),
    function("T.annotate_layout", &["layout_map"], "Says how buffers lie in memory."),
    function("T.annotate_safe_value", &["safe_value_map"], "The value that is read outside a tensor."),
    function("T.annotate_l2_hit_ratio", &["l2_hit_ratio_map"], "How much of a tensor should stay in the cache."),
    function("T.annotate_min_blocks_per_sm", &["n"], "How many blocks a multiprocessor should hold."),
    function("T.annotate_restrict_buffers", &["*buffers"], "Says that parameters do not overlap."),
    function("T.annotate_pass_configs", &["configs"], "Settings of the compiler for this kernel."),
    function("T.annotate_compile_flags", &["flags"], "Flags of the device compiler for this kernel."),
    function("T.annotate_producer_reg_dealloc", &["reg_count=24"], "How many registers the loading threads keep."),
    function("T.annotate_consumer_reg_alloc", &["reg_count=240"], "How many registers the computing threads get."),
    function("T.get_thread_binding", &["dim=0"], "The index of the thread along a dimension."),
    function("T.get_thread_bindings", &[], "The indices of the thread."),
    function("T.get_block_binding", &["dim=0"], "The index of the block along a dimension."),
    function("T.get_block_bindings", &[], "The indices of the block."),
    function("T.get_thread_extent", &["dim=0"], "How many threads a block has along a dimension."),
    function("T.get_block_extent", &["dim=0"], "How many blocks the grid has along a dimension."),
    function(
        "T.mbarrier_wait_parity",
        &["mbarrier", "parity"],
        "Waits until a barrier has passed the phase of that parity.",
    ),
    function("T.mbarrier_arrive", &["mbarrier", "cta_id=None"], "Arrives at a barrier."),
    function("T.mbarrier_expect_tx", &["mbarrier", "tx"], "Tells a barrier how many bytes will arrive."),
    function(
        "T.mbarrier_arrive_expect_tx",
        &["mbarrier", "tx"],
        "Arrives at a barrier and tells it how many bytes will arrive.",
    ),
    function("T.barrier_wait", &["mbarrier", "parity"], "Waits for a barrier."),
    function("T.barrier_arrive", &["mbarrier"], "Arrives at a barrier."),
    function(
        "T.tcgen05_mma_arrive",
        &["mbar", "arrive_2cta=False"],
        "Lets a barrier know when products of Blackwell are done.",
    ),
    function("T.wait_wgmma", &["id"], "Waits until at most so many groups of products of Hopper are left."),
    function("T.warpgroup_arrive", &[], "Orders registers before products of Hopper."),
    function("T.warpgroup_commit_batch", &[], "Ends a group of products of Hopper."),
    function("T.warpgroup_wait", &["num_mma"], "Waits for groups of products of Hopper."),
    function("T.fence_proxy_async", &[], "Makes writes of threads visible to copies of hardware."),
    function("T.tma_store_arrive", &[], "Ends a group of stores of the Tensor Memory Accelerator."),
    function("T.tma_store_wait", &["count=0", "read=True"], "Waits for such groups."),
    function("T.deallocate_tmem", &["tmem"], "Gives tensor memory back before the kernel ends."),
    function("T.set_max_nreg", &["reg_count", "is_inc"], "Changes how many registers a thread may use."),
    function("T.inc_max_nreg", &["reg_count"], "Lets a thread use more registers."),
    function("T.dec_max_nreg", &["reg_count"], "Lets a thread use fewer registers."),
    function("T.no_set_max_nreg", &[], "Leaves the registers of threads as they are."),
    function("T.disable_warp_group_reg_alloc", &[], "Leaves the registers of threads as they are."),
    function("T.sync_threads", &["barrier_id=None", "arrive_count=None"], "Waits for all threads of the block."),
    function("T.sync_warp", &["mask=None"], "Waits for all lanes of the warp."),
    function("T.sync_grid", &[], "Waits for all blocks of the grid."),
    function("T.ws", &["*warp_group_idx"], "Statements for some groups of warps only."),
    function("T.shuffle_elect", &["thread_extent"], "True in one thread."),
    function(
        "T.shfl_xor",
        &["value", "delta", "width=32", "mask=T.uint32(4294967295)"],
        "A value of another lane of the warp.",
    ),
    function(
        "T.shfl_down",
        &["value", "delta", "width=32", "mask=T.uint32(4294967295)"],
        "A value of another lane of the warp.",
    ),
    function(
        "T.shfl_up",
        &["value", "delta", "width=32", "mask=T.uint32(4294967295)"],
        "A value of another lane of the warp.",
    ),
    function(
        "T.shfl_sync",
        &["value", "srcLane", "width=32", "mask=T.uint32(4294967295)"],
        "A value of another lane of the warp.",
    ),
    function(
        "T.access_ptr",
        &["base", "access_type='r'", "*extents", "offset=0", "extent=None", "ignore_last_ndim=0"],
        "A pointer into a buffer, with what is done there.",
    ),
    function("T.address_of", &["obj"], "The address of an element."),
    function("T.call_extern", &["dtype", "func_name", "*args"], "Calls a function of the device."),
    function("T.call_intrin", &["dtype", "func_name", "*args", "annotations=None"], "An operation of TVM by its name."),
    function("T.evaluate", &["value"], "Computes something for what it does."),
    function("T.attr", &["node", "attr_key", "value"], "An attribute of the statements in it."),
    function("T.import_source", &["source=None"], "Source of the device put before the kernel."),
    function("T.dp4a", &["A", "B", "C"], "A product of four bytes with four bytes."),
    function("T.print", &["obj=None", "msg=''", "warp_group_id=0", "warp_id=0"], "Prints from the kernel."),
    function("T.device_assert", &["*args", "**kwargs"], "Stops the kernel where a condition does not hold."),
    function("T.any_of", &["buffer"], "Whether one of some elements is true."),
    function("T.all_of", &["buffer"], "Whether all of some elements are true."),
    function("T.loop_break", &[], "Ends the loop around it."),
    function("T.assume", &["cond=None"], "Tells the compiler that a condition holds."),
    ty("T.Tensor", "A tensor of global memory: its shape and the type of its elements."),
    ty("T.StridedTensor", "A tensor of global memory with strides."),
    ty("T.Buffer", "An older name of `T.Tensor`."),
    ty("T.FragmentBuffer", "A parameter of a macro: a buffer in registers."),
    ty("T.SharedBuffer", "A parameter of a macro: a buffer in shared memory."),
    ty("T.LocalBuffer", "A parameter of a macro: a buffer of a thread."),
    ty("T.Layout", "How a buffer lies in memory."),
    ty("T.Fragment", "How a buffer lies in the registers of threads."),
    ty("T.ptr", "A pointer to global memory."),
    ty("T.Ref", "A parameter of a macro that the macro writes."),
    enumeration("T.GemmWarpPolicy", "How the warps of a block share a product."),
    member("T.GemmWarpPolicy.Square", "As square as it goes."),
    member("T.GemmWarpPolicy.FullRow", "Each warp takes whole rows."),
    member("T.GemmWarpPolicy.FullCol", "Each warp takes whole columns."),
    function("T.prim_func", &["func=None"], "A function that is a kernel."),
    function("T.macro", &["func=None"], "A function whose statements stand where it is called."),
    function("T.inline", &["func=None"], "A function of Python that may be called in kernels."),
];

/// Names of TIR that differ from those of the language with `tl.` before them.
const IN_TIR: [(&str, &str); 15] = [
    ("assume", "tirx.assume"),
    ("cp_async_barrier_noinc", "tl.ptx_cp_async_barrier_noinc"),
    ("disable_warp_group_reg_alloc", "tl.no_set_max_nreg"),
    ("mbarrier_arrive", "tirx.ptx_arrive_barrier"),
    ("barrier_arrive", "tirx.ptx_arrive_barrier"),
    ("barrier_wait", "tl.mbarrier_wait_parity"),
    ("mbarrier_arrive_expect_tx", "tirx.ptx_arrive_barrier_expect_tx"),
    ("sync_threads", "tirx.tvm_storage_sync"),
    ("tvm_storage_sync", "tirx.tvm_storage_sync"),
    ("tvm_thread_allreduce", "tirx.tvm_thread_allreduce"),
    ("call_extern", "tirx.call_extern"),
    ("inc_max_nreg", "tl.set_max_nreg"),
    ("dec_max_nreg", "tl.set_max_nreg"),
    ("ptx_wait_group", "tirx.ptx_wait_group"),
    ("ptx_commit_group", "tirx.ptx_commit_group"),
];

/// Functions without an effect of their own: numbers of numbers.
const PURE: [&str; 24] = [
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "log10",
    "sqrt",
    "rsqrt",
    "abs",
    "tanh",
    "sigmoid",
    "floor",
    "ceil",
    "round",
    "sin",
    "cos",
    "pow",
    "clamp",
    "erf",
    "fma",
    "reinterpret",
    "isnan",
    "isinf",
    "infinity",
];

/// Whether `T.name` exists.
pub fn is_member(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok() || name.starts_with("__") && name.ends_with("__")
}

/// The name that may have been meant.
pub fn nearest(name: &str) -> Option<&'static str> {
    // Those that authors use come first.
    let words = || WORDS.iter().filter_map(|word| word.path.strip_prefix("T.")).filter(|word| !word.contains('.'));
    spelling::nearest(name, words()).or_else(|| spelling::nearest(name, NAMES))
}

/// The word of a function, where its parameters are known.
pub fn function_word(name: &str) -> Option<&'static Word> {
    WORDS.iter().find(|word| word.path.strip_prefix("T.") == Some(name) && !word.params.is_empty())
}

/// What the compiler calls an operation.
pub fn in_tir(name: &str) -> Rc<str> {
    match IN_TIR.iter().find(|(known, _)| *known == name) {
        Some((_, tir)) => (*tir).into(),
        None => format!("tl.{name}").into(),
    }
}

/// Whether a function may do more than compute a number.
pub fn is_effect(name: &str) -> bool {
    !PURE.contains(&name)
}

/// A key of a variable that has one value in a launch.
pub fn key(name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_words_are_among_them() {
        assert!(NAMES.is_sorted());
        for word in &WORDS {
            let name = word.path.strip_prefix("T.").and_then(|path| path.split('.').next());
            assert!(name.is_some_and(is_member), "{}", word.path);
        }
    }

    #[test]
    fn a_slip_is_seen() {
        assert_eq!(nearest("alloc_share"), Some("alloc_shared"));
        assert_eq!(nearest("ceil_div"), Some("ceildiv"));
    }
}

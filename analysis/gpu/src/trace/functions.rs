//! The functions of Triton and Gluon, by name.

use std::rc::Rc;

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Reason;
use tilefit_syntax::ast::ExprId;

use super::super::axis_info::AxisInfo;
use super::super::device::Compiler;
use super::super::language::Dtype;
use super::super::layouts::{Vendor, inference};
use super::super::program::{Effect, Kind, Type, bytes_of, elements};
use super::super::shared_layout::{Nvmma, SharedLayout};
use super::calls::Args;
use super::operators::{ids, unknown_for};
use super::registers::Asked;
use super::value::{Descriptor, Registers, Scalar, Shared, Tensor, Value, unknown};
use super::{Dialect, Emitted, Frame, Tracer, identity, not_modelled};

/// Functions on each element of tensors, whose result has the type of what they are given.
const ELEMENTWISE: [&str; 42] = [
    "exp",
    "exp2",
    "log",
    "log2",
    "cos",
    "sin",
    "sqrt",
    "rsqrt",
    "sqrt_rn",
    "abs",
    "fdiv",
    "div_rn",
    "erf",
    "floor",
    "ceil",
    "fma",
    "umulhi",
    "maximum",
    "minimum",
    "clamp",
    "add",
    "sub",
    "mul",
    "add2",
    "sub2",
    "mul2",
    "fma2",
    "min2",
    "max2",
    "multiple_of",
    "max_contiguous",
    "max_constancy",
    "sigmoid",
    "inline_asm_elementwise",
    "expect_zero",
    "tanh",
    "fast_expf",
    "fast_dividef",
    "pow",
    "debug_barrier_value",
    "cast_like",
    "relu",
];

/// Functions that do something to memory or to the order of things, and give nothing.
const EFFECTS: [&str; 60] = [
    "store",
    "atomic_store",
    "device_print",
    "barrier",
    "debug_barrier",
    "device_assert",
    "mbarrier.init",
    "mbarrier.invalidate",
    "mbarrier.wait",
    "mbarrier.expect",
    "mbarrier.arrive",
    "mbarrier.sync_cluster_init",
    "tma.async_load",
    "tma.async_load_im2col",
    "tma.async_store",
    "tma.async_copy_global_to_shared",
    "tma.async_copy_global_to_shared_im2col",
    "tma.async_copy_shared_to_global",
    "tma.async_gather",
    "tma.async_scatter",
    "tma.async_atomic_add",
    "tma.async_atomic_min",
    "tma.async_atomic_max",
    "tma.async_atomic_and",
    "tma.async_atomic_or",
    "tma.async_atomic_xor",
    "tma.store_wait",
    "async_copy.async_load",
    "async_copy.async_copy_global_to_shared",
    "async_copy.mbarrier_arrive",
    "async_copy.commit_group",
    "async_copy.wait_group",
    "async_copy.global_load_to_shared",
    "async_copy.buffer_load_to_shared",
    "fence_async_shared",
    "async_store",
    "tcgen05_copy",
    "tcgen05_mma",
    "tcgen05_mma_scaled",
    "tcgen05_commit",
    "clc.try_cancel",
    "cluster.barrier",
    "cluster.arrive",
    "cluster.wait",
    "buffer_store",
    "sched_barrier",
    "fence",
    "set_prio",
    "s_barrier",
    "buffer_atomic_add_no_result",
    "static_print",
    "mbarrier.fence_init_release_cluster",
    "fence_mbarrier_init_release_cluster",
    "tma.prefetch",
    "async_remote_shmem_store",
    "assume",
    "atomic_poll",
    "thread_barrier",
    "gdc_wait",
    "gdc_launch_dependents",
];

/// Functions that Triton 3.8 has and 3.9 has not, and what does the same in both.
const REMOVED: [(&str, Option<&str>); 7] = [
    ("tma.async_copy_global_to_shared", Some("tma.async_load")),
    ("tma.async_copy_global_to_shared_im2col", Some("tma.async_load_im2col")),
    ("tma.async_copy_shared_to_global", Some("tma.async_store")),
    ("async_copy.async_copy_global_to_shared", Some("async_copy.async_load")),
    ("mbarrier.fence_init_release_cluster", None),
    ("cluster.arrive", None),
    ("cluster.wait", None),
];

/// Copies through descriptors, with the position and the name of the buffer.
const COPIES: [(&str, usize, &str); 14] = [
    ("tma.async_load", 3, "result"),
    ("tma.async_copy_global_to_shared", 3, "result"),
    ("tma.async_load_im2col", 4, "result"),
    ("tma.async_copy_global_to_shared_im2col", 4, "result"),
    ("tma.async_gather", 4, "result"),
    ("tma.async_store", 2, "src"),
    ("tma.async_copy_shared_to_global", 2, "src"),
    ("tma.async_scatter", 3, "src"),
    ("tma.async_atomic_add", 2, "src"),
    ("tma.async_atomic_min", 2, "src"),
    ("tma.async_atomic_max", 2, "src"),
    ("tma.async_atomic_and", 2, "src"),
    ("tma.async_atomic_or", 2, "src"),
    ("tma.async_atomic_xor", 2, "src"),
];

/// Reductions along an axis to one value, with what they take behind the tensor and the axis (`triton/language/standard.py`).
const REDUCTIONS: [(&str, &[&str]); 8] = [
    ("sum", &["keep_dims", "dtype"]),
    ("max", &["return_indices", "return_indices_tie_break_left", "keep_dims"]),
    ("min", &["return_indices", "return_indices_tie_break_left", "keep_dims"]),
    ("xor_sum", &["keep_dims"]),
    ("reduce_or", &["keep_dims"]),
    ("argmax", &["tie_break_left", "keep_dims"]),
    ("argmin", &["tie_break_left", "keep_dims"]),
    ("reduce", &["combine_fn", "keep_dims"]),
];

/// What is not modelled, but is known to do nothing beside giving a result.
const PURE: [&str; 2] = ["bitonic_merge", "cat"];

/// Names of classes and functions under which others stand.
const OWNERS: [&str; 16] = [
    "mbarrier",
    "tma",
    "clc",
    "async_copy",
    "cluster",
    "libdevice",
    "NVMMASharedLayout",
    "PaddedSharedLayout",
    "MBarrierLayout",
    "PropagateNan",
    "warp_pipeline",
    "hint",
    "padded_shared_layout_encoding",
    "swizzled_layout",
    "swizzled_shared_layout_encoding",
    "nv_mma_shared_layout_encoding",
];

/// The part of a layout by which a copy is refused.
fn in_words(layout: &Nvmma) -> String {
    let turned = if layout.transposed { ", transposed" } else { "" };
    let padded = if layout.fp4_padded { ", padded for 4 bits" } else { "" };
    format!("a swizzle of {} bytes{turned}{padded}", layout.swizzle)
}

/// The path of a name in the language, without the packages that it stands in.
pub fn language_path(path: &str) -> String {
    let mut parts = path.rsplit('.');
    let last = parts.next().unwrap_or(path);
    match parts.next() {
        // A class is called the same in whichever module it is.
        Some(_) if last.starts_with(char::is_uppercase) => last.to_owned(),
        Some(owner) if OWNERS.contains(&owner) => format!("{owner}.{last}"),
        _ => last.to_owned(),
    }
}

impl Tracer<'_> {
    pub(super) fn language_value(&mut self, path: &str) -> Value {
        let name = language_path(path);
        if let Some(dtype) = Dtype::from_name(&name).filter(|dtype| dtype.name == name) {
            return Value::Dtype(dtype);
        }
        Value::Language(name.into())
    }

    pub(super) fn language_call(&mut self, frame: &mut Frame, expr: ExprId, path: &str, args: Args) -> Value {
        let name = path;
        let leaves_layouts = self.launch.dialect.leaves_layouts();
        if leaves_layouts && name == "store" {
            let through = self.through_block(frame, expr, &args, false);
            self.triton_store(frame, expr, through.as_ref().unwrap_or(&args));
            return Value::None;
        }
        if leaves_layouts && let Some(value) = self.tlx_call(frame, expr, name, &args) {
            return value;
        }
        if let Some(value) = self.library_call(frame, expr, name, &args) {
            return value;
        }
        self.check_removed(frame, expr, name);
        // Before 3.9 it is assembly, which some loops do not bear.
        if name.starts_with("gdc_") && self.launch.hardware.compiler < Compiler::V3_9 {
            return not_modelled(name);
        }
        if let Some(&effect) = EFFECTS.iter().find(|&&known| known == name) {
            if name.starts_with("tma.") {
                self.takes_descriptor(&args);
                self.check_copied(frame, expr, name, &args);
            }
            match args.get(2, "acc").cloned() {
                Some(Value::TensorMemory(acc)) if name == "tcgen05_mma" => {
                    let adds = args.named("use_acc").cloned();
                    self.tensor_product(frame, expr, effect, (&args, &acc, adds), false);
                }
                _ => {
                    let operands = self.operands(frame, expr, &args.all());
                    self.effect(frame, expr, effect, operands);
                }
            }
            // It tells barriers when it is done.
            if let Some(barriers) = args.named("mbarriers").filter(|it| !matches!(it, Value::None)) {
                let barriers = self.operands(frame, expr, std::slice::from_ref(barriers));
                self.effect(frame, expr, "tcgen05_commit", barriers);
            }
            return Value::None;
        }
        if let Some(&name) = ELEMENTWISE.iter().find(|&&known| known == name) {
            self.check_math(frame, expr, name, &args);
            let args = self.held_arguments(frame, expr, args);
            return self.each_element(frame, expr, name, &args);
        }
        if let Some(&(name, params)) = REDUCTIONS.iter().find(|(known, _)| *known == name) {
            return self.reduction(frame, expr, (name, params), &args);
        }
        if name.starts_with("atomic_") || name.starts_with("buffer_atomic_") {
            return self.atomic(frame, expr, &args);
        }
        match name {
            "constexpr" | "to_tensor" | "warpgroup_mma_init" => {
                args.positional.into_iter().next().unwrap_or(Value::None)
            }
            "tuple" => match args.positional.into_iter().next() {
                Some(value) => {
                    value.elements().map_or_else(|| unknown("a tuple of something"), |all| Value::tuple(all.to_vec()))
                }
                None => Value::tuple([]),
            },
            "static_assert" => {
                self.static_assert(frame, expr, &args);
                Value::None
            }
            "get_current_target" => Value::Language("current_target".into()),
            "num_warps" => Value::Int(self.warps as i64),
            "is_cuda" | "is_hip" | "is_hip_cdna3" | "is_hip_cdna4" | "cuda_capability_geq" => {
                self.is_target(name, &args)
            }
            // `triton/language/extra/cuda/utils.py`
            "num_threads" => Value::Int(self.warps as i64 * 32),
            "num_ctas" => Value::Int(self.launch.ctas as i64),
            "pointer_type" => match args.get(0, "element_ty") {
                Some(Value::Dtype(dtype)) => dtype.pointer_to().map_or_else(|| unknown("a pointer"), Value::Dtype),
                _ => unknown("a pointer to a value that is not a type"),
            },
            "get_int_dtype" => match (args.get(0, "bitwidth").and_then(Value::int), args.get(1, "signed")) {
                (Some(bits), Some(Value::Bool(signed))) => {
                    let name = format!("{}int{bits}", if *signed { "" } else { "u" });
                    Dtype::from_name(&name).map_or_else(|| unknown("an integer of so many bits"), Value::Dtype)
                }
                _ => unknown("an integer type of which the bits are not known"),
            },
            "dtype" => match args.get(0, "name") {
                Some(Value::Str(name)) => Dtype::from_name(name)
                    .map_or_else(|| unknown(format!("`{name}` is the name of no element type")), Value::Dtype),
                Some(Value::Unknown(reason)) => Value::Unknown(reason.clone()),
                _ => unknown("an element type whose name is not known"),
            },
            "program_id" | "num_programs" => {
                let name = if name == "program_id" { "program_id" } else { "num_programs" };
                self.scalar(frame, expr, name, Dtype::named("int32"), &args.all())
            }
            "cdiv" => self.cdiv(frame, expr, &args),
            "_log2" => match args.get(0, "i").and_then(Value::int) {
                Some(of) => Value::Int(of.max(1).ilog2().into()),
                None => unknown("`_log2` of a value that is not known"),
            },
            "next_power_of_2" => match args.get(0, "n").and_then(Value::int) {
                Some(value @ 1..=0x4000_0000) => Value::Int((value as u64).next_power_of_two() as i64),
                _ => unknown("`next_power_of_2` of a value that is not known"),
            },
            "where" => {
                let args = self.held_arguments(frame, expr, args);
                self.where_(frame, expr, &args)
            }
            "cast" => match (args.get(0, "input").cloned(), args.get(1, "dtype").cloned()) {
                (Some(value), Some(dtype)) => {
                    self.tensor_method(frame, expr, &value, "to", Args { positional: vec![dtype], named: Vec::new() })
                }
                _ => unknown("a cast of nothing"),
            },
            "range" | "static_range" => unknown("`range` outside a `for`"),
            "warp_specialize" => self.warp_specialize(frame, expr, &args),
            _ => self.layout_call(name, &args).unwrap_or_else(|| self.memory_call(frame, expr, name, args)),
        }
    }

    /// What a kernel asks of the device (`triton/language/target_info.py`).
    fn is_target(&self, name: &str, args: &Args) -> Value {
        let hardware = self.launch.hardware;
        let is_amd = hardware.vendor == Vendor::Amd;
        Value::Bool(match name {
            "is_cuda" => !is_amd,
            "is_hip" => is_amd,
            "is_hip_cdna3" => is_amd && hardware.capability == 942,
            "is_hip_cdna4" => is_amd && hardware.capability == 950,
            _ => {
                let major = args.get(0, "major").and_then(Value::int);
                let minor = args.get(1, "minor").map_or(Some(0), Value::int);
                let (Some(major), Some(minor)) = (major, minor) else {
                    return unknown("a capability of the device that is not known");
                };
                !is_amd && i64::from(hardware.capability) >= major * 10 + minor
            }
        })
    }

    /// Says where a function is called that the compiler has no longer.
    fn check_removed(&mut self, frame: &Frame, expr: ExprId, name: &str) {
        if self.launch.dialect != Dialect::Gluon || self.launch.hardware.compiler < Compiler::V3_9 {
            return;
        }
        let Some((_, instead)) = REMOVED.iter().find(|(removed, _)| *removed == name) else { return };
        let message = match instead {
            Some(instead) => format!("Triton 3.9 has no `{name}`: `{instead}` does the same, in Triton 3.8 too"),
            None => format!("Triton 3.9 has no `{name}`, which Triton 3.8 has"),
        };
        self.refuse(frame, expr, Code::Rejected, message);
    }

    /// Copies through descriptors take buffers of one kind of layout, and those that copy a block take as much as the descriptor says, in its layout
    /// (`verifyTMAEncoding` and `verifyAsyncTMAOp` in `lib/Dialect/TritonNvidiaGPU/IR/Ops.cpp`).
    fn check_copied(&mut self, frame: &Frame, expr: ExprId, name: &str, args: &Args) {
        let Some(&(_, place, parameter)) = COPIES.iter().find(|(copy, ..)| *copy == name) else { return };
        let Some(Value::Shared(Shared { layout: Some(layout), shape, dtype, .. })) = args.get(place, parameter) else {
            return;
        };
        let SharedLayout::Nvmma(buffer) = &**layout else {
            let message = format!(
                "the buffer of a copy through a descriptor has an `NVMMASharedLayout`, and this one has another layout; `gl.NVMMASharedLayout.get_default_for({shape:?}, gl.{dtype})` is one that fits"
            );
            return self.refuse(frame, expr, Code::InvalidOperand, message);
        };
        let copies_blocks = !["im2col", "gather", "scatter"].iter().any(|other| name.ends_with(other));
        let descriptor = args.get(0, "tensor_desc").filter(|_| copies_blocks);
        let Some(Value::Descriptor(Descriptor { block, dtype: element, layout: theirs, is_layout_told, .. })) =
            descriptor
        else {
            return;
        };
        let of_copy = |layout: &Nvmma| (layout.swizzle, layout.transposed, layout.fp4_padded);
        let (copied, held) = (elements(block), elements(shape));
        let message = match theirs.as_deref() {
            _ if copied != held => format!(
                "the descriptor copies blocks of {block:?}, {copied} elements, and the buffer {shape:?} has {held}; take a part of it, as `buffer.index(0)` does, or allocate it with the block shape of the descriptor"
            ),
            // The compiler tells no signs.
            _ if element.mlir != dtype.mlir => format!(
                "the descriptor copies elements of `{element}`, and the buffer has `{dtype}`; allocate it with the `dtype` of the descriptor"
            ),
            Some(SharedLayout::Nvmma(theirs)) if *is_layout_told && of_copy(theirs) != of_copy(buffer) => format!(
                "the descriptor has {}, and the buffer {}; allocate it with the `layout` of the descriptor",
                in_words(theirs),
                in_words(buffer)
            ),
            _ => return,
        };
        self.refuse(frame, expr, Code::InvalidOperand, message);
    }

    fn memory_call(&mut self, frame: &mut Frame, expr: ExprId, name: &str, args: Args) -> Value {
        match name {
            "allocate_shared_memory" => self.allocate_shared_memory(frame, expr, &args),
            "mbarrier.allocate_mbarrier" => self.allocate_mbarrier(frame, expr, &args),
            "allocate_tensor_memory" => self.allocate_tensor_memory(frame, expr, &args),
            "tma.make_tensor_descriptor" => self.make_tensor_descriptor(frame, expr, &args),
            "clc.load_result" => {
                let operands = ids(&args.all());
                let of = Type::Scalar { bits: 64 };
                let op = Emitted {
                    name: "clc.load_result",
                    effect: Effect::Reads,
                    operands: &operands,
                    of,
                    identity: 0,
                    kind: Kind::Plain,
                };
                Value::Scalar(Scalar { id: self.emit(frame, expr, op), dtype: Dtype::named("int64") })
            }
            "async_copy.load_shared_relaxed" => match args.get(0, "smem") {
                Some(Value::Shared(shared)) => {
                    let shared = shared.clone();
                    let layout = self.registers_of(args.get(1, "layout"));
                    let of = (shared.dtype, (*shared.shape).clone(), layout);
                    self.loaded(frame, expr, "local_load", shared.id, of)
                }
                _ => unknown("a load of a value that is not a buffer"),
            },
            _ => self.tensor_call(frame, expr, name, args),
        }
    }

    fn tensor_call(&mut self, frame: &mut Frame, expr: ExprId, name: &str, args: Args) -> Value {
        match name {
            "arange" => {
                let (start, end) = (args.get(0, "start").and_then(Value::int), args.get(1, "end").and_then(Value::int));
                let (Some(start), Some(end)) = (start, end) else {
                    let bounds = [args.get(0, "start"), args.get(1, "end")].into_iter().flatten();
                    return self.without_extents(bounds, "the bounds of `arange` are not known");
                };
                self.arange(frame, expr, start, end, args.get(2, "layout"))
            }
            "full" | "zeros" => {
                let Some(shape) = args.get(0, "shape").and_then(Value::extents) else {
                    return self.without_extents(args.get(0, "shape"), "the shape of a tensor is not known");
                };
                let is_full = name == "full";
                let Some(Value::Dtype(dtype)) = args.get(1 + usize::from(is_full), "dtype").cloned() else {
                    let dtype = args.get(1 + usize::from(is_full), "dtype");
                    return unknown_for(dtype, "the element type of a tensor is not known");
                };
                let value =
                    if is_full { args.get(1, "value").cloned().unwrap_or(Value::Int(0)) } else { Value::Int(0) };
                let layout = self.layout_or_auto(args.get(2 + usize::from(is_full), "layout"));
                let operands = self.operands(frame, expr, std::slice::from_ref(&value));
                if shape.is_empty() {
                    return Value::Scalar(Scalar { id: operands.first().copied().unwrap_or(super::ValueId(0)), dtype });
                }
                let filled = self.filled(frame, expr, "splat", &operands, (dtype, shape.clone(), layout), 0);
                if let (Value::Tensor(Tensor { id, .. }), Some(value)) = (&filled, value.int()) {
                    self.note_axes(*id, Some(AxisInfo::constant(value).splat(&shape)));
                }
                filled
            }
            "zeros_like" | "full_like" => match args.get(0, "input") {
                Some(Value::Tensor(tensor)) => {
                    let dtype = match args.named("dtype") {
                        Some(Value::Dtype(dtype)) => *dtype,
                        _ => tensor.dtype,
                    };
                    let layout = match args.named("layout") {
                        Some(layout) => self.layout_or_auto(Some(layout)),
                        None => tensor.layout.clone(),
                    };
                    let shape = (*tensor.shape).clone();
                    self.filled(frame, expr, "splat", &[], (dtype, shape, layout), 0)
                }
                like => unknown_for(like, "zeros like something"),
            },
            "make_block_ptr" | "advance" => match self.removed_block_pointers(frame, expr, name) {
                Some(reason) => Value::Unknown(reason),
                None if name == "advance" => self.advance(frame, expr, &args),
                None => self.make_block_pointer(frame, expr, &args),
            },
            "load" | "atomic_load" => match self.through_block(frame, expr, &args, true) {
                Some(args) => self.load(frame, expr, args.get(0, "pointer"), &args),
                None => self.load(frame, expr, args.get(0, "pointer"), &args),
            },
            "buffer_load" => self.buffer_load(frame, expr, &args),
            "convert_layout" => self.convert_layout(frame, expr, &args),
            "set_auto_layout" => self.set_auto_layout(&args),
            "expand_dims" => match (args.get(0, "input"), args.get(1, "axis").and_then(Value::int)) {
                (Some(Value::Tensor(tensor)), Some(axis)) => {
                    let rank = tensor.shape.len() as i64;
                    let axis = if axis < 0 { axis + rank + 1 } else { axis }.clamp(0, rank);
                    Value::Tensor(self.expand_dims(frame, expr, &tensor.clone(), axis as usize))
                }
                (Some(Value::Scalar(scalar)), Some(0 | -1)) if self.launch.dialect.leaves_layouts() => {
                    self.splat(frame, expr, *scalar, vec![1])
                }
                (input, _) => unknown_for(input, "`expand_dims` of something"),
            },
            "broadcast_to" | "broadcast" => match (args.get(0, "input"), args.get(1, "shape")) {
                (Some(value), Some(Value::Tensor(other))) => {
                    let shape = (*other.shape).clone();
                    self.broadcast_to(frame, expr, &value.clone(), shape)
                }
                (Some(value), Some(_)) => {
                    let shape = args.get(1, "shape").and_then(Value::extents).or_else(|| {
                        args.positional[1..]
                            .iter()
                            .map(|part| part.int().and_then(|it| u64::try_from(it).ok()))
                            .collect()
                    });
                    match shape {
                        Some(shape) => self.broadcast_to(frame, expr, &value.clone(), shape),
                        None => unknown_for(&args.positional, "a shape that is not known"),
                    }
                }
                _ => unknown_for(&args.positional, "`broadcast` of something"),
            },
            "reshape" | "view" | "ravel" => {
                let Some(Value::Tensor(tensor)) = args.get(0, "input").cloned() else {
                    return unknown_for(args.get(0, "input"), "`reshape` of something");
                };
                let shape = if name == "ravel" {
                    Some(vec![elements(&tensor.shape)])
                } else {
                    args.get(1, "shape").and_then(Value::extents).or_else(|| {
                        let parts = args.positional.get(1..)?;
                        parts.iter().map(|part| part.int().and_then(|it| u64::try_from(it).ok())).collect()
                    })
                };
                match shape {
                    Some(shape) => self.reshaped(frame, expr, &tensor, shape),
                    None => unknown_for(&args.all(), "a shape that is not known"),
                }
            }
            "permute" | "trans" => {
                let Some(Value::Tensor(tensor)) = args.get(0, "input").cloned() else {
                    return unknown_for(args.get(0, "input"), "`permute` of something");
                };
                let order = args.get(1, "dims").and_then(Value::extents).or_else(|| {
                    let parts = args.positional.get(1..)?;
                    (!parts.is_empty())
                        .then(|| parts.iter().map(|it| it.int().and_then(|it| u64::try_from(it).ok())).collect())?
                });
                let order = order.unwrap_or_else(|| (0..tensor.shape.len() as u64).rev().collect());
                self.permuted(frame, expr, &tensor, &order.iter().map(|&axis| axis as u32).collect::<Vec<_>>())
            }
            "join" => match (args.get(0, "a").cloned(), args.get(1, "b").cloned()) {
                (Some(Value::Tensor(one)), Some(Value::Tensor(two))) => {
                    let both = self.in_one_layout(frame, expr, &[Value::Tensor(one), Value::Tensor(two)]);
                    let [Value::Tensor(one), Value::Tensor(two)] = both.as_slice() else {
                        return unknown("`join` of something");
                    };
                    let mut shape = (*one.shape).clone();
                    shape.push(2);
                    let layout = self.unify(&one.layout, &two.layout);
                    let (hardware, of) = (self.launch.hardware, (*one.shape).clone());
                    let layout = self.inferred(&layout, identity("join"), |layout| {
                        inference::join(&super::registers::narrow(&of)?, layout, &hardware)
                    });
                    let op = Emitted {
                        name: "join",
                        effect: Effect::None,
                        operands: &[one.id, two.id],
                        of: Type::Tensor,
                        identity: identity(&shape),
                        kind: Kind::Plain,
                    };
                    let id = self.emit(frame, expr, op);
                    Value::Tensor(Tensor { id, dtype: one.dtype, shape: Rc::new(shape), layout })
                }
                _ => unknown("`join` of something"),
            },
            "split" => match args.get(0, "a").cloned() {
                Some(Value::Tensor(tensor)) => {
                    let shape = tensor.shape[..tensor.shape.len().saturating_sub(1)].to_vec();
                    let (hardware, of) = (self.launch.hardware, (*tensor.shape).clone());
                    // Each thread must have both elements of a pair.
                    let tensor = match self.anchored(&tensor.layout) {
                        Registers::Loaded(key) | Registers::Chosen(key) if !self.has_pairs(&tensor) => {
                            self.in_layout(frame, expr, &tensor, identity(("pairs", key)))
                        }
                        Registers::Flexible if self.launch.dialect == Dialect::Tlx => {
                            self.in_layout(frame, expr, &tensor, identity(("pairs", tensor.id)))
                        }
                        _ => tensor,
                    };
                    let layout = self.inferred(&tensor.layout, identity("split"), |layout| {
                        inference::split(&super::registers::narrow(&of)?, layout, &hardware)
                    });
                    let one = self.viewed(frame, expr, "split 0", &tensor, shape.clone(), layout.clone());
                    let two = self.viewed(frame, expr, "split 1", &tensor, shape, layout);
                    // Two elements give two numbers.
                    let half = |half: Tensor| match half.shape.is_empty() {
                        true => Value::Scalar(Scalar { id: half.id, dtype: half.dtype }),
                        false => Value::Tensor(half),
                    };
                    Value::tuple([half(one), half(two)])
                }
                _ => unknown("`split` of something"),
            },
            "associative_scan" | "cumsum" | "cumprod" => self.scan(frame, expr, name, &args),
            "gather" => self.gather(frame, expr, &args),
            "histogram" => self.histogram(frame, expr, &args),
            "dot_fma" | "mma_v2" | "mfma" | "mfma_scaled" | "wmma" | "wmma_scaled" | "warpgroup_mma" => {
                let position = if name.ends_with("_scaled") { 6 } else { 2 };
                match args.get(position, "acc").or_else(|| args.named("c")).cloned() {
                    Some(Value::Tensor(acc)) => {
                        let operands = ids(&args.all());
                        let id = self.reads(frame, expr, "dot", &operands);
                        Value::Tensor(Tensor { id, ..acc })
                    }
                    Some(Value::Unknown(reason)) => self.unknown_call(frame, expr, reason, &args),
                    _ => self.unknown_call(frame, expr, Reason::new("a product without an accumulator"), &args),
                }
            }
            "warpgroup_mma_wait" => {
                let deps = args.get(1, "deps").cloned().unwrap_or(Value::None);
                let passed = self.passed_on(frame, expr, "warpgroup_mma_wait", &deps);
                match passed.elements() {
                    Some([one]) => one.clone(),
                    _ => passed,
                }
            }
            "fp4_to_fp" => {
                match (args.get(0, "src"), args.get(1, "elem_type"), args.get(2, "axis").and_then(Value::int)) {
                    (Some(Value::Tensor(tensor)), Some(Value::Dtype(dtype)), Some(axis)) => {
                        let (tensor, dtype) = (tensor.clone(), *dtype);
                        let mut shape = (*tensor.shape).clone();
                        if let Some(extent) = usize::try_from(axis).ok().and_then(|axis| shape.get_mut(axis)) {
                            *extent *= 2;
                        }
                        let layout = Registers::Unknown(Reason::new("the layout of unpacked fp4 elements"));
                        let viewed = self.viewed(frame, expr, "fp4_to_fp", &tensor, shape, layout);
                        Value::Tensor(Tensor { dtype, ..viewed })
                    }
                    _ => unknown("`fp4_to_fp` of something"),
                }
            }
            "softmax" => self.softmax(frame, expr, &args),
            "sort" | "topk" | "flip" => self.rearranged(frame, expr, name, &args),
            "dot" => self.dot(frame, expr, &args),
            "dot_scaled" => self.dot_scaled(frame, expr, &args),
            "tcgen05_mma_barrier_count" => unknown("the arrivals of a barrier"),
            "interleave" => match self.tensor_call(frame, expr, "join", args) {
                Value::Tensor(pairs) => {
                    let mut shape = (*pairs.shape).clone();
                    shape.pop();
                    if let Some(last) = shape.last_mut() {
                        *last *= 2;
                    }
                    self.reshaped(frame, expr, &pairs, shape)
                }
                other => other,
            },
            _ => {
                let Value::Unknown(reason) = not_modelled(name) else { return Value::None };
                match PURE.iter().find(|&&known| known == name) {
                    Some(name) => self.unknown_result(frame, expr, name, reason, &args),
                    None => self.unknown_call(frame, expr, reason, &args),
                }
            }
        }
    }

    pub(super) fn arange(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        start: i64,
        end: i64,
        layout: Option<&Value>,
    ) -> Value {
        let layout = self.layout_or_auto(layout);
        let shape = vec![end.saturating_sub(start).max(0) as u64];
        let extent = shape[0];
        let range = self.filled(frame, expr, "arange", &[], (Dtype::named("int32"), shape, layout), start as u64);
        if let Value::Tensor(Tensor { id, .. }) = range {
            self.note_axes(id, Some(AxisInfo::range(start, extent)));
        }
        range
    }

    /// A call that is not known makes the kernel inexact, unless its result is unused: then its operands are dead, too.
    fn unknown_result(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        name: &'static str,
        reason: Reason,
        args: &Args,
    ) -> Value {
        self.note(frame, expr, reason.clone());
        let operands = self.operands(frame, expr, &args.all());
        let Some(Value::Tensor(first)) = args.positional.first() else {
            return self.unknown_call(frame, expr, reason, args);
        };
        let op = Emitted {
            name,
            effect: Effect::None,
            operands: &operands,
            of: Type::Tensor,
            identity: identity(expr),
            kind: Kind::Plain,
        };
        let id = self.emit(frame, expr, op);
        let layout = self.choice_for(id);
        let shape = match (name, first.shape.as_slice()) {
            ("cat", [extent]) => vec![extent * 2],
            _ => return Value::Unknown(reason),
        };
        Value::Tensor(Tensor { id, dtype: first.dtype, shape: Rc::new(shape), layout })
    }

    /// What the library does by exchanging elements in rounds, each a reduction or a conversion: none takes more than all elements.
    fn rearranged(&mut self, frame: &Frame, expr: ExprId, name: &str, args: &Args) -> Value {
        let Some(Value::Tensor(of)) = args.get(0, "x").cloned() else {
            return unknown_for(args.get(0, "x"), "elements of something in another order");
        };
        let mut shape = (*of.shape).clone();
        if name == "topk" {
            let kept = args.get(1, "k").and_then(Value::int).and_then(|kept| u64::try_from(kept).ok());
            match (shape.last_mut(), kept) {
                (Some(last), Some(kept)) => *last = kept.min(*last),
                _ => return unknown_for(args.get(1, "k"), "`topk` of how many"),
            }
        }
        let reason = Reason::new("what `sort`, `topk` and `flip` exchange through shared memory is not modelled");
        let kind = self.asks(Asked::UpTo(bytes_of(&of.shape, of.dtype.bits.max(32)), reason));
        let operands = self.operands(frame, expr, &args.all());
        let identity = identity(("rearranged", name, &shape));
        let op =
            Emitted { name: "rearranged", effect: Effect::None, operands: &operands, of: Type::Tensor, identity, kind };
        let id = self.emit(frame, expr, op);
        let layout = self.choice_for(id);
        Value::Tensor(Tensor { id, dtype: of.dtype, shape: Rc::new(shape), layout })
    }

    pub(super) fn descriptor_method(&mut self, frame: &mut Frame, expr: ExprId, name: &str, args: Args) -> Value {
        if self.launch.dialect.leaves_layouts()
            && matches!(name, "load" | "store")
            && let Some((Value::Descriptor(descriptor), rest)) = args.positional.split_first()
        {
            let rest = Args { positional: rest.to_vec(), named: args.named.clone() };
            return self.descriptor_access(frame, expr, name, &descriptor.clone(), &rest);
        }
        let Value::Unknown(reason) = not_modelled(name) else { return Value::None };
        self.unknown_call(frame, expr, reason, &args)
    }

    fn each_element(&mut self, frame: &Frame, expr: ExprId, name: &'static str, args: &Args) -> Value {
        if name == "inline_asm_elementwise" {
            let given = args.get(2, "args").and_then(Value::elements).map(<[Value]>::to_vec).unwrap_or_default();
            let which = identity(args.get(0, "asm").map(super::python::text));
            if matches!(args.get(4, "is_pure"), Some(Value::Bool(false))) {
                self.effect(frame, expr, "inline_asm", ids(&given));
            }
            return match args.get(3, "dtype") {
                Some(Value::Dtype(dtype)) => self.each_as(frame, expr, name, which, &given, Some(*dtype)),
                Some(dtypes) if dtypes.elements().is_some() => {
                    let dtypes = dtypes.elements().unwrap_or_default().to_vec();
                    let one = |(number, dtype): (usize, &Value)| match dtype {
                        Value::Dtype(dtype) => {
                            self.each_as(frame, expr, name, identity((which, number)), &given, Some(*dtype))
                        }
                        _ => unknown("the type of a result"),
                    };
                    Value::tuple(dtypes.iter().enumerate().map(one).collect::<Vec<_>>())
                }
                _ => unknown("the type of a result"),
            };
        }
        if matches!(name, "multiple_of" | "max_contiguous" | "max_constancy") {
            // What the author says of a tensor is not followed.
            args.positional
                .first()
                .map(|value| ids(std::slice::from_ref(value)))
                .unwrap_or_default()
                .into_iter()
                .for_each(|id| self.note_axes(id, None));
            return args.positional.first().cloned().unwrap_or(Value::None);
        }
        let known = |value: &Value| matches!(value, Value::Int(_) | Value::Float(_));
        if args.positional.iter().all(known) && matches!(name, "maximum" | "minimum") {
            let name = if name == "maximum" { "max" } else { "min" };
            return super::python::call(name, &args.positional).unwrap_or_else(|| unknown("an extreme of something"));
        }
        self.elementwise(frame, expr, name, &args.all(), None)
    }

    fn cdiv(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let (Some(one), Some(two)) = (args.get(0, "x").cloned(), args.get(1, "div").cloned()) else {
            return unknown("`cdiv` of nothing");
        };
        match (one.int(), two.int()) {
            (Some(one), Some(two)) if two > 0 => {
                one.checked_add(two - 1).map_or_else(|| unknown("too large"), |sum| Value::Int(sum.div_euclid(two)))
            }
            _ => self.elementwise(frame, expr, "cdiv", &[one, two], None),
        }
    }

    fn where_(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let (Some(condition), Some(one), Some(two)) =
            (args.get(0, "condition").cloned(), args.get(1, "x").cloned(), args.get(2, "y").cloned())
        else {
            return unknown("`where` of nothing");
        };
        let dtype = self.promoted(&[one.clone(), two.clone()]);
        self.elementwise(frame, expr, "where", &[condition, one, two], Some(dtype))
    }
}

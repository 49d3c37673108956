//! The functions of Gluon, and those of Triton that it shares.

use std::rc::Rc;
use std::sync::Arc;

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Reason;
use tilefit_syntax::ast::{BinaryOp, ExprId};

use super::super::axis_info::AxisInfo;
use super::super::device::Compiler;
use super::super::language::Dtype;
use super::super::layouts::{self, Layout, inference, mma_v2_layout, mma_v2_layouts, mma_v3_layout};
use super::super::products::{Machine, Unit};
use super::super::program::{Bytes, Effect, Kind, Load, Memory, Product, Tile, Type, Use, ValueId, bytes_of, elements};
use super::super::shared_layout::{Cga, Nvmma, SharedLayout, TensorMemoryLayout, shape_of_cta};
use super::calls::Args;
use super::operators::{ids, unknown_for};
use super::registers::Asked;
use super::value::{Descriptor, Registers, Scalar, Shared, Tensor, TensorMemory, Value, unknown};
use super::{Dialect, Emitted, Frame, Made, Tracer, identity, not_modelled};

/// Functions on each element of tensors, whose result has the type of what they are given.
const ELEMENTWISE: [&str; 46] = [
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
    "rand",
    "randint",
    "randn",
    "philox",
    "debug_barrier_value",
    "cast_like",
    "relu",
];

/// Functions that do something to memory or to the order of things, and give nothing.
const EFFECTS: [&str; 58] = [
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
            self.triton_store(frame, expr, &args);
            return Value::None;
        }
        if leaves_layouts && let Some(value) = self.tlx_call(frame, expr, name, &args) {
            return value;
        }
        if let Some(value) = self.library_call(frame, expr, name, &args) {
            return value;
        }
        self.check_removed(frame, expr, name);
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
            "num_ctas" => Value::Int(self.launch.ctas as i64),
            "pointer_type" => match args.get(0, "element_ty") {
                Some(Value::Dtype(dtype)) => dtype.pointer_to().map_or_else(|| unknown("a pointer"), Value::Dtype),
                _ => unknown("a pointer to a value that is not a type"),
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
            "where" => self.where_(frame, expr, &args),
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
                    return unknown_for(bounds, "the bounds of `arange` are not known");
                };
                let layout = self.layout_or_auto(args.get(2, "layout"));
                let shape = vec![end.saturating_sub(start).max(0) as u64];
                let extent = shape[0];
                let range =
                    self.filled(frame, expr, "arange", &[], (Dtype::named("int32"), shape, layout), start as u64);
                if let Value::Tensor(Tensor { id, .. }) = range {
                    self.note_axes(id, Some(AxisInfo::range(start, extent)));
                }
                range
            }
            "full" | "zeros" => {
                let Some(shape) = args.get(0, "shape").and_then(Value::extents) else {
                    return unknown_for(args.get(0, "shape"), "the shape of a tensor is not known");
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
            "load" | "atomic_load" => self.load(frame, expr, args.get(0, "pointer"), &args),
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
                    Value::tuple([Value::Tensor(one), Value::Tensor(two)])
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
                        let op = Emitted {
                            name: "dot",
                            effect: Effect::Reads,
                            operands: &operands,
                            of: Type::Tensor,
                            identity: 0,
                            kind: Kind::Plain,
                        };
                        let id = self.emit(frame, expr, op);
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
                if let Some(reason) = self.block_pointers(frame, expr, name) {
                    return self.unknown_call(frame, expr, reason, &args);
                }
                let Value::Unknown(reason) = not_modelled(name) else { return Value::None };
                match PURE.iter().find(|&&known| known == name) {
                    Some(name) => self.unknown_result(frame, expr, name, reason, &args),
                    None => self.unknown_call(frame, expr, reason, &args),
                }
            }
        }
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

    /// `tl.dot_scaled`: at most what it takes where its operands are unpacked and scaled to 16 bits first, as devices without an instruction for it do.
    fn dot_scaled(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let side = |places: [usize; 4], names: [&str; 4]| {
            let at = |nth: usize| args.get(places[nth], names[nth]).cloned();
            let is_packed = matches!(at(2), Some(Value::Str(format)) if &*format == "e2m1");
            let along_k = at(3).and_then(|it| it.truth()) != Some(false);
            (at(0), at(1), is_packed, along_k)
        };
        let left = side([0, 1, 2, 8], ["lhs", "lhs_scale", "lhs_format", "lhs_k_pack"]);
        let right = side([3, 4, 5, 9], ["rhs", "rhs_scale", "rhs_format", "rhs_k_pack"]);
        let (Some(Value::Tensor(one)), Some(Value::Tensor(two))) = (&left.0, &right.0) else {
            let reason = super::operators::first_unknown(&args.all());
            let reason = reason.unwrap_or_else(|| Reason::new("a scaled product of something else than tensors"));
            return self.unknown_call(frame, expr, reason, args);
        };
        let doubled = |shape: &[u64], (is_packed, axis): (bool, usize)| {
            let mut shape = shape.to_vec();
            if let Some(extent) = shape.len().checked_sub(axis).and_then(|axis| shape.get_mut(axis)) {
                *extent *= 1 + u64::from(is_packed);
            }
            shape
        };
        let shapes = [
            doubled(&one.shape, (left.2, if left.3 { 1 } else { 2 })),
            doubled(&two.shape, (right.2, if right.3 { 2 } else { 1 })),
        ];
        let mut operands = Vec::new();
        for ((tensor, scale), shape) in [(one, &left.1), (two, &right.1)].into_iter().zip(shapes) {
            let mut made_of = vec![tensor.id];
            made_of.extend(scale.iter().flat_map(|scale| ids(std::slice::from_ref(scale))));
            let reason = Reason::new("how the operands of `tl.dot_scaled` are unpacked and scaled is not modelled");
            let kind = self.asks(Asked::UpTo(bytes_of(&shape, 32), reason));
            let identity = identity(("scaled", &shape));
            let op =
                Emitted { name: "scaled", effect: Effect::None, operands: &made_of, of: Type::Tensor, identity, kind };
            let id = self.emit(frame, expr, op);
            let layout = self.choice_for(id);
            operands.push(Value::Tensor(Tensor { id, dtype: Dtype::named("bfloat16"), shape: Rc::new(shape), layout }));
        }
        operands.extend(args.get(6, "acc").cloned().filter(|acc| !matches!(acc, Value::None)));
        let mut of_dot = Args::of(operands);
        of_dot.named.extend(args.named("out_dtype").map(|dtype| ("out_dtype".into(), dtype.clone())));
        self.program.is_guessed = true;
        match self.dot(frame, expr, &of_dot) {
            Value::Tensor(tensor) => Value::Tensor(Tensor { layout: self.choice_for(tensor.id), ..tensor }),
            other => other,
        }
    }

    /// `tl.softmax`, as the library writes it.
    fn softmax(&mut self, frame: &mut Frame, expr: ExprId, args: &Args) -> Value {
        let Some(of @ Value::Tensor(_)) = args.get(0, "x").cloned() else {
            return unknown_for(args.get(0, "x"), "`softmax` of something");
        };
        let axis = args.get(1, "dim").filter(|axis| !matches!(axis, Value::None)).cloned().unwrap_or(Value::Int(0));
        let reduced = |tracer: &mut Self, frame: &mut Frame, name: &str, value: &Value| {
            let mut args = Args::of([value.clone(), axis.clone()]);
            args.named.push(("keep_dims".into(), Value::Bool(true)));
            tracer.language_call(frame, expr, name, args)
        };
        let most = reduced(self, frame, "max", &of);
        let less = self.binary(frame, expr, BinaryOp::Sub, &of, &most);
        let powers = self.each_as(frame, expr, "unary", identity("exp"), std::slice::from_ref(&less), None);
        let sum = reduced(self, frame, "sum", &powers);
        self.binary(frame, expr, BinaryOp::Div, &powers, &sum)
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

    /// `tl.dot`: what it takes of shared memory is found when all is followed.
    fn dot(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        self.program.multiplies = true;
        let (Some(Value::Tensor(one)), Some(Value::Tensor(two))) =
            (args.get(0, "input").cloned(), args.get(1, "other").cloned())
        else {
            let reason = super::operators::first_unknown(&args.all());
            let reason = reason.unwrap_or_else(|| Reason::new("a product of something else than tensors"));
            return self.unknown_call(frame, expr, reason, args);
        };
        if self.check_product(frame, expr, [&one, &two], args) {
            return unknown("a product that the compiler refuses");
        }
        if let Some(reason) = self.open_type([&one, &two]) {
            return self.unknown_call(frame, expr, reason, args);
        }
        self.product(frame, expr, [&one, &two], args)
    }

    fn product(&mut self, frame: &Frame, expr: ExprId, [one, two]: [&Tensor; 2], args: &Args) -> Value {
        let (mut shape, columns) = ((*one.shape).clone(), two.shape.last().copied());
        if let (Some(last), Some(columns)) = (shape.last_mut(), columns) {
            *last = columns;
        }
        let out = args.named("out_dtype").or_else(|| args.positional.get(6));
        let dtype = match (args.get(2, "acc"), out) {
            (Some(Value::Tensor(acc)), _) => acc.dtype,
            (_, Some(Value::Dtype(dtype))) => *dtype,
            _ if !one.dtype.is_floating() => Dtype::named("int32"),
            _ if one.dtype.bits == 64 => one.dtype,
            _ => Dtype::named("float32"),
        };
        let is_single = one.dtype.is_floating() && one.dtype.bits == 32;
        let (is_exact, parts) = match (args.get(3, "input_precision"), args.get(4, "allow_tf32")) {
            (Some(Value::Str(precision)), _) => match &**precision {
                "tf32" => (false, 1),
                "tf32x3" if is_single && !self.is_amd() => (false, 2),
                "bf16x3" | "bf16x6" if is_single && !self.is_amd() => (false, 3),
                _ => (true, 1),
            },
            (_, Some(allowed)) => (allowed.truth() != Some(true), 1),
            _ => (self.is_amd(), 1),
        };
        // The rest of the call is no value that it takes.
        let mut taken = vec![Value::Tensor(one.clone()), Value::Tensor(two.clone())];
        taken.extend(args.get(2, "acc").cloned());
        let operands = self.operands(frame, expr, &taken);
        let op = Emitted {
            name: "dot",
            effect: Effect::None,
            operands: &operands,
            of: Type::Tensor,
            identity: identity((&shape, dtype, is_exact, parts)),
            kind: Kind::Plain,
        };
        let id = self.emit(frame, expr, op);
        let tile = |shape: &[u64], dtype: Dtype| Tile { shape: shape.to_vec(), bits: dtype.bits, dtype: dtype.name };
        let product = Product {
            operands: [tile(&one.shape, one.dtype), tile(&two.shape, two.dtype)],
            result: tile(&shape, dtype),
            is_left_at_hand: false,
            is_exact,
            parts,
            needs: [None, None],
            stays: [false; 2],
            warps: None,
        };
        // What becomes of a tensor that is multiplied with itself is not modelled, nor what is done where the author says how often sums of few bits are
        // added up exactly.
        let is_told = args.get(5, "max_num_imprecise_acc").is_some_and(|most| !matches!(most, Value::None));
        let is_guessed = one.id == two.id || is_told && one.dtype.is_float8();
        self.program.is_guessed |= is_guessed;
        let of_instruction = self.layout_of_product(id, &product);
        let is_elsewhere = match args.get(2, "acc") {
            Some(Value::Tensor(acc)) if self.machine().is_in_tensor_memory(&product) => {
                self.is_summed_elsewhere(acc, &of_instruction)
            }
            _ => false,
        };
        let is_other = is_guessed || is_elsewhere || parts > 1;
        let layout = if is_other { self.choice_for(id) } else { of_instruction };
        let is_left_at_hand = one.dtype.bits == 16 && self.feeds(&one.layout, &layout);
        let needs = [(0, one), (1, two)].map(|(nth, operand)| self.is_exchanged(nth, operand, &layout));
        let warps = match self.uncontested(&layout).as_deref() {
            Some(Layout::Mma { warps_per_cta, .. }) => Some(warps_per_cta.clone()),
            _ => None,
        };
        let ways: Vec<Arc<Layout>> = match self.uncontested(&layout) {
            Some(layout) => vec![layout],
            // The warps may lie in any of the ways that there are.
            None if self.machine().unit(&product) == Unit::TensorCores => match super::registers::narrow(&shape) {
                Ok(shape) => mma_v2_layouts(&shape, self.warps as u32).map(Arc::new).collect(),
                Err(_) => Vec::new(),
            },
            None => Vec::new(),
        };
        let stays = [(0, one), (1, two)]
            .map(|(nth, operand)| ways.iter().any(|way| self.exchanged_bytes(nth, operand, way.clone()) == Some(0)));
        let product = Product { is_left_at_hand, needs, stays, warps, ..product };
        self.program.products.insert(id, product);
        Value::Tensor(Tensor { id, dtype, shape: Rc::new(shape), layout })
    }

    /// Whether threads have to exchange an operand before it is multiplied.
    fn is_exchanged(&self, nth: u32, operand: &Tensor, product: &Registers) -> Option<bool> {
        let (from, parent) = (self.uncontested(&operand.layout)?, self.uncontested(product)?);
        // Where warps have the same elements, the compiler finds ways within a warp that are not modelled.
        let is_spread = |layout: &Layout| match (layout, operand.shape.as_slice()) {
            (Layout::Mma { warps_per_cta, .. }, &[rows, columns]) => {
                rows >= 16 * u64::from(warps_per_cta[0]) && columns >= 8 * u64::from(warps_per_cta[1])
            }
            _ => false,
        };
        let across = |layout: &Layout| match (layout, operand.shape.as_slice()) {
            (Layout::Mma { warps_per_cta, .. }, &[rows, columns]) => match nth {
                0 => rows >= 16 * u64::from(warps_per_cta[0]),
                _ => columns >= 8 * u64::from(warps_per_cta[1]),
            },
            _ => false,
        };
        if !is_spread(&from) || !across(&parent) {
            return None;
        }
        self.exchanged_bytes(nth, operand, parent).map(|bytes| bytes > 0)
    }

    /// Bytes of shared memory through which threads exchange an operand before it is multiplied.
    fn exchanged_bytes(&self, nth: u32, operand: &Tensor, parent: Arc<Layout>) -> Option<u64> {
        let from = self.uncontested(&operand.layout)?;
        let k_width = 32 / operand.dtype.bits.clamp(1, 32);
        let to = Layout::DotOperand { operand: nth, parent, k_width };
        let shape = super::registers::narrow(&operand.shape).ok()?;
        layouts::conversion_bytes(&shape, operand.dtype.bits, &from, &to, &self.launch.hardware).ok()
    }

    /// Whether the result of a product, in its own layout, may go into another one from the left as it is: all warps are along the rows.
    fn feeds(&self, result: &Registers, product: &Registers) -> bool {
        let rows = |layout: &Registers| match self.uncontested(layout).as_deref() {
            Some(Layout::Mma { version, warps_per_cta, .. }) if warps_per_cta[1] == 1 => {
                Some((*version, warps_per_cta[0]))
            }
            _ => None,
        };
        rows(result).is_some() && rows(result) == rows(product)
    }

    /// The layout that tensor cores give a product, where that is known.
    /// Whether what a product adds to has another layout than that which its instruction gives. In which of them a loop carries it is not modelled.
    fn is_summed_elsewhere(&mut self, acc: &Tensor, of_instruction: &Registers) -> bool {
        let is_elsewhere = match self.uncontested(&acc.layout) {
            Some(layout) => self.uncontested(of_instruction) != Some(layout),
            None => false,
        };
        if is_elsewhere {
            let (carried, choice) = (self.resolved(&acc.layout), self.new_choice());
            self.autos.iter_mut().flatten().filter(|auto| **auto == carried).for_each(|auto| *auto = choice.clone());
        }
        is_elsewhere
    }

    fn machine(&self) -> Machine {
        Machine { hardware: self.launch.hardware, warps: self.warps, stages: 1, flattens: false }
    }

    fn layout_of_product(&mut self, id: ValueId, product: &Product) -> Registers {
        let shape = product.result.shape.clone();
        let region = self.regions.last().copied().unwrap_or_default();
        self.products.entry(region).or_default().push((id, shape.clone()));
        let here = self.learnt.products.get(&region).map_or(&[][..], Vec::as_slice);
        let is_tall = |shape: &Vec<u64>| shape.first() >= shape.last();
        // Which of several the compiler looks at first is not known.
        let agree = here.iter().all(|(_, other)| is_tall(other) == is_tall(&shape) && other.len() == shape.len());
        let machine = self.machine();
        let Ok(shape) = super::registers::narrow(&shape) else { return self.choice_for(id) };
        // Chained products get another layout.
        let (is_alone, is_chained) = (here.len() <= 1, self.learnt.chained.contains(&id));
        let is_leading = self.learnt.leading.contains(&id);
        let either_way = |layout: &dyn Fn(bool) -> Option<Layout>, is_other: bool| {
            layout(is_other).filter(|it| is_alone || is_chained || layout(true).as_ref() == Some(it))
        };
        let (warps, bits) = (self.warps as u32, product.operands[0].bits);
        let layout = match machine.unit(product) {
            Unit::TensorCores if self.learnt.related.to_none.contains(&id) => mma_v2_layout(&shape, warps, false),
            Unit::TensorCores if agree && self.learnt.related.to_others.contains(&id) => {
                mma_v2_layout(&shape, warps, true)
            }
            Unit::TensorCores if self.launch.dialect == Dialect::Triton && here.len() > 1 => {
                mma_v2_layout(&shape, warps, false)
                    .filter(|it| agree && mma_v2_layout(&shape, warps, true).as_ref() == Some(it))
            }
            Unit::TensorCores if agree => either_way(&|chained| mma_v2_layout(&shape, warps, chained), is_chained),
            Unit::Wgmma => either_way(&|leading| mma_v3_layout(&shape, bits, warps, leading), is_leading),
            Unit::Tcgen05 if self.launch.dialect == Dialect::Triton => {
                return self
                    .rows_of_threads(&product.result.shape, Dtype::named("float32"))
                    .unwrap_or_else(|| self.choice_for(id));
            }
            _ => None,
        };
        match layout {
            Some(layout) => self.given_by_instruction(layout),
            None => self.choice_for(id),
        }
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

    fn layout_or_auto(&mut self, layout: Option<&Value>) -> Registers {
        match layout {
            None | Some(Value::None) if self.launch.dialect.leaves_layouts() => Registers::Flexible,
            None | Some(Value::None) => self.new_auto(),
            // Each use of `AutoLayout()` is one of its own.
            Some(Value::Registers(Registers::Auto(u32::MAX))) => self.new_auto(),
            layout => self.registers_of(layout),
        }
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
        let dtype = matches!(name, "rand" | "randn").then(|| Dtype::named("float32"));
        self.elementwise(frame, expr, name, &args.all(), dtype)
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

    fn load(&mut self, frame: &Frame, expr: ExprId, pointer: Option<&Value>, args: &Args) -> Value {
        let is_volatile = args.named("volatile").and_then(Value::truth) == Some(true);
        let effect = if is_volatile { Effect::Writes } else { Effect::Reads };
        // What is loaded through other caches is loaded again.
        let hints = ["cache_modifier", "eviction_policy"].map(|name| match args.named(name) {
            Some(Value::Str(hint)) if !hint.is_empty() => Some(hint.clone()),
            _ => None,
        });
        let identity = identity(hints);
        let mut operands = self.operands(frame, expr, &args.all());
        let told = pointer.and_then(|pointer| self.as_pointer(pointer));
        let pointer = told.as_ref().or(pointer);
        if let Some(reason) = pointer.and_then(|pointer| self.untold_pointer(pointer)) {
            return Value::Unknown(reason);
        }
        self.check_access(frame, expr, pointer, args, true);
        match pointer {
            Some(Value::Tensor(tensor)) => {
                self.note_pipelined_load(frame, expr);
                operands = self.accessed(frame, expr, tensor, &args.all());
                // A mask and a default value have the layout of the pointers.
                for value in args.all() {
                    if let Value::Tensor(other) = value {
                        self.unify(&tensor.layout, &other.layout);
                    }
                }
                let op = Emitted {
                    name: "load",
                    effect,
                    operands: &operands,
                    of: Type::Tensor,
                    identity,
                    kind: Kind::Plain,
                };
                let id = self.emit(frame, expr, op);
                let element = tensor.dtype.element();
                let tile = Tile { shape: (*tensor.shape).clone(), bits: element.bits, dtype: element.name };
                let width = self.access_width(tensor, args.get(1, "mask"));
                self.widest.insert(id, element.bits);
                let (runs_along, assigned) = (self.runs_along(tensor), self.assigned());
                self.program.loads.insert(id, Load { tile, width, runs_along, assigned });
                let layout = match self.launch.dialect {
                    Dialect::Gluon => tensor.layout.clone(),
                    Dialect::Tlx | Dialect::Triton => Registers::Loaded(self.coalesced(tensor)),
                };
                Value::Tensor(Tensor { id, dtype: tensor.dtype.element(), layout, ..tensor.clone() })
            }
            Some(Value::Scalar(scalar)) => {
                let dtype = scalar.dtype.element();
                let of = dtype.scalar_type();
                let op = Emitted { name: "load", effect, operands: &operands, of, identity, kind: Kind::Plain };
                Value::Scalar(Scalar { id: self.emit(frame, expr, op), dtype })
            }
            Some(Value::Unknown(reason)) => Value::Unknown(reason.clone()),
            _ => unknown("a load of a value that is not a pointer"),
        }
    }

    /// Why it is not known what a pointer leads to.
    pub(super) fn untold_pointer(&mut self, pointer: &Value) -> Option<Reason> {
        match pointer {
            Value::Scalar(Scalar { id, dtype }) | Value::Tensor(Tensor { id, dtype, .. })
                if *dtype == Dtype::UNTYPED =>
            {
                Some(self.no_number(*id, "bf16"))
            }
            _ => None,
        }
    }

    fn buffer_load(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let operands = self.operands(frame, expr, &args.all());
        if let Some(reason) = args.get(0, "ptr").and_then(|pointer| self.untold_pointer(pointer)) {
            return Value::Unknown(reason);
        }
        match (args.get(0, "ptr"), args.get(1, "offsets")) {
            (Some(Value::Scalar(pointer)), Some(Value::Tensor(offsets))) => {
                let op = Emitted {
                    name: "buffer_load",
                    effect: Effect::Reads,
                    operands: &operands,
                    of: Type::Tensor,
                    identity: 0,
                    kind: Kind::Plain,
                };
                let id = self.emit(frame, expr, op);
                Value::Tensor(Tensor { id, dtype: pointer.dtype.element(), ..offsets.clone() })
            }
            _ => unknown("a load of a value that is not a pointer"),
        }
    }

    fn atomic(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let mut operands = self.operands(frame, expr, &args.all());
        let place = args.get(0, "pointer").or_else(|| args.named("ptr"));
        let told = place.and_then(|pointer| self.as_pointer(pointer));
        let place = told.as_ref().or(place);
        if let Some(reason) = place.and_then(|pointer| self.untold_pointer(pointer)) {
            return self.unknown_call(frame, expr, reason, args);
        }
        if let (Dialect::Triton, Some(reason)) = (self.launch.dialect, super::operators::first_unknown(&args.all())) {
            return self.unknown_call(frame, expr, reason, args);
        }
        if let (true, Some(Value::Tensor(pointers)), Some(Value::Tensor(value))) =
            (self.launch.dialect.leaves_layouts(), place, args.get(1, "val"))
        {
            // Atomic operations have layouts of their own.
            let value = Tensor { layout: self.choice_for(value.id), ..value.clone() };
            operands.extend(self.stored_globally(frame, expr, pointers, &value));
        }
        if let (true, Some(Value::Tensor(pointers))) = (self.launch.dialect.leaves_layouts(), place) {
            // Pointers that are made of what was loaded, such as the bins of a count, are not computed anew in it.
            let own = Registers::Loaded(self.coalesced(pointers));
            let others = args.all().into_iter().skip(1).filter(is_mask);
            for value in others.chain([Value::Tensor(pointers.clone())]) {
                if let Value::Tensor(tensor) = value {
                    operands.push(self.as_chosen(frame, expr, &tensor, &own).id);
                }
            }
        }
        let is_tensor = |value: &&Value| matches!(value, Value::Tensor(_));
        let tensor = match place {
            Some(Value::Tensor(tensor)) => Some(tensor.clone()),
            // `buffer_atomic_add(pointer, offsets, value)`
            _ => args.all().iter().find(is_tensor).and_then(|value| match value {
                Value::Tensor(tensor) => Some(tensor.clone()),
                _ => None,
            }),
        };
        let dtype = match place {
            Some(Value::Tensor(tensor)) => tensor.dtype.element(),
            Some(Value::Scalar(scalar)) => scalar.dtype.element(),
            Some(Value::Unknown(reason)) => return Value::Unknown(reason.clone()),
            _ => return unknown("an atomic operation on a value that is not a pointer"),
        };
        let (kind, of) = match &tensor {
            Some(tensor) => {
                let asked =
                    Asked::Atomic { shape: (*tensor.shape).clone(), bits: dtype.bits, layout: tensor.layout.clone() };
                (self.asks(asked), Type::Tensor)
            }
            None => (self.asks(Asked::ScalarAtomic { bits: dtype.bits, warps: self.warps }), dtype.scalar_type()),
        };
        let op = Emitted { name: "atomic", effect: Effect::Writes, operands: &operands, of, identity: 0, kind };
        let id = self.emit(frame, expr, op);
        match tensor {
            Some(tensor) if self.launch.dialect.leaves_layouts() => {
                Value::Tensor(Tensor { id, dtype, layout: self.choice_for(id), ..tensor })
            }
            Some(tensor) => Value::Tensor(Tensor { id, dtype, ..tensor }),
            None => Value::Scalar(Scalar { id, dtype }),
        }
    }

    fn convert_layout(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let Some(Value::Tensor(tensor)) = args.get(0, "value").cloned() else {
            return match args.get(0, "value") {
                Some(Value::Unknown(reason)) => Value::Unknown(reason.clone()),
                _ => unknown("a conversion of a value that is not a tensor"),
            };
        };
        let to = match args.get(1, "layout") {
            Some(layout) => self.layout_or_auto(Some(layout)),
            None => return unknown("a conversion to no layout"),
        };
        if self.is_same(&tensor.layout, &to) {
            return Value::Tensor(tensor);
        }
        let asked = Asked::Conversion {
            shape: (*tensor.shape).clone(),
            bits: tensor.dtype.bits,
            from: tensor.layout.clone(),
            to: to.clone(),
        };
        let kind = self.asks(asked);
        let op = Emitted {
            name: "convert_layout",
            effect: Effect::None,
            operands: &[tensor.id],
            of: Type::Tensor,
            identity: identity(format!("{to:?}")),
            kind,
        };
        Value::Tensor(Tensor { id: self.emit(frame, expr, op), layout: to, ..tensor })
    }

    fn set_auto_layout(&mut self, args: &Args) -> Value {
        match (args.get(0, "value"), args.get(1, "layout")) {
            (Some(Value::Tensor(tensor)), Some(layout)) => {
                let layout = self.registers_of(Some(layout));
                self.unify(&tensor.layout, &layout);
                Value::Tensor(Tensor { layout, ..tensor.clone() })
            }
            (Some(Value::Unknown(reason)), _) => Value::Unknown(reason.clone()),
            _ => unknown("a layout of a value that is not a tensor"),
        }
    }

    fn reduction(
        &mut self,
        frame: &mut Frame,
        expr: ExprId,
        (name, params): (&'static str, &[&str]),
        args: &Args,
    ) -> Value {
        let given = |wanted: &str| {
            let position = params.iter().position(|&param| param == wanted)?;
            args.get(2 + position, wanted)
        };
        let inputs = match args.get(0, "input") {
            Some(Value::Tensor(tensor)) => vec![tensor.clone()],
            Some(Value::Unknown(reason)) => return Value::Unknown(reason.clone()),
            Some(tuple) => match tensors(tuple) {
                Some(tensors) => tensors,
                None => return unknown("a reduction of a value that is not a tensor"),
            },
            None => return unknown("a reduction of nothing"),
        };
        let Some(first) = inputs.first().cloned() else { return unknown("a reduction of nothing") };
        let axis = match args.get(1, "axis") {
            None | Some(Value::None) => None,
            Some(axis) => match axis.int() {
                Some(axis) => Some(if axis < 0 { axis + first.shape.len() as i64 } else { axis }),
                None => return unknown("the axis of a reduction is not known"),
            },
        };
        let returns_indices = given("return_indices").and_then(Value::truth) == Some(true);
        let with_index = matches!(name, "argmax" | "argmin") || returns_indices;
        let compiler = self.launch.hardware.compiler;
        let mut inputs: Vec<Tensor> = inputs
            .into_iter()
            .map(|input| {
                let dtype = match with_index {
                    true => compared(input.dtype, compiler),
                    false => accumulated(name, input.dtype, given("dtype")),
                };
                if dtype == input.dtype {
                    return input;
                }
                match self.elementwise(frame, expr, "cast", &[Value::Tensor(input.clone())], Some(dtype)) {
                    Value::Tensor(tensor) => tensor,
                    _ => input,
                }
            })
            .collect();
        if axis.is_none() {
            let mut flat = Vec::new();
            for input in &inputs {
                match self.reshaped(frame, expr, input, vec![elements(&input.shape)]) {
                    Value::Tensor(tensor) => flat.push(tensor),
                    other => return other,
                }
            }
            inputs = flat;
        }
        let axis = axis.unwrap_or(0);
        let rank = inputs[0].shape.len();
        if !usize::try_from(axis).is_ok_and(|axis| axis < rank) {
            self.demand(frame, expr, false, || format!("a tensor of {rank} dimensions has no axis {axis}"));
            return unknown(format!("a reduction along axis {axis} of a tensor with {rank} dimensions"));
        }
        let axis = axis as usize;
        let mut bits: Vec<u32> = inputs.iter().map(|input| input.dtype.bits).collect();
        if with_index {
            bits.push(32);
        }
        let keeps = given("keep_dims").and_then(Value::truth) == Some(true);
        if let [input] = inputs.as_slice()
            && name == "sum"
            && let Some(product) = self.summed_product(frame, expr, input, axis)
        {
            return match product {
                Value::Tensor(tensor) if keeps => Value::Tensor(self.expand_dims(frame, expr, &tensor, axis)),
                product => product,
            };
        }
        let inputs = self.tensors_in_one_layout(frame, expr, inputs);
        let shape = (*inputs[0].shape).clone();
        let mut rest = shape.clone();
        rest.remove(axis);
        let layout = inputs[0].layout.clone();
        // In a loop that adds them up the compiler may spread them over threads otherwise (`OptimizeThreadLocality.cpp`).
        if self.carries
            && self.launch.dialect == Dialect::Triton
            && let Registers::Loaded(key) = self.resolved(&layout)
        {
            self.contested.insert(key);
        }
        let kind = self.asks(Asked::Reduction { shape: shape.clone(), axis, bits, layout: layout.clone() });
        let sliced = self.sliced(&layout, axis as u32);
        let of = |dtype: Dtype| if rest.is_empty() { dtype.scalar_type() } else { Type::Tensor };
        let mut dtypes: Vec<Dtype> = inputs.iter().map(|input| input.dtype).collect();
        if with_index {
            dtypes.push(Dtype::named("int32"));
        }
        let results: Vec<super::ValueId> = dtypes.iter().map(|&dtype| self.new_value(of(dtype))).collect();
        let operands: Vec<super::ValueId> = inputs.iter().map(|input| input.id).collect();
        let op = super::Op {
            name: "reduce",
            at: self.site(frame, expr),
            effect: Effect::None,
            operands,
            results: results.clone(),
            identity: identity((name, axis, &shape)),
            kind,
        };
        self.push(op);
        let mut made = Vec::new();
        for (&id, &dtype) in results.iter().zip(&dtypes) {
            let value = if rest.is_empty() {
                Value::Scalar(Scalar { id, dtype })
            } else {
                let tensor = Tensor { id, dtype, shape: Rc::new(rest.clone()), layout: sliced.clone() };
                Value::Tensor(if keeps { self.expand_dims(frame, expr, &tensor, axis) } else { tensor })
            };
            made.push(value);
        }
        match name {
            "argmax" | "argmin" => made.pop().unwrap_or(Value::None),
            _ if made.len() == 1 => made.remove(0),
            _ => Value::tuple(made),
        }
    }

    /// The compiler makes a product of `sum(a[:, :, None] * b[None, :, :], axis=1)` (`CombineBroadcastMulReducePattern` in `Combine.cpp`).
    fn summed_product(&mut self, frame: &Frame, expr: ExprId, input: &Tensor, axis: usize) -> Option<Value> {
        const LEAST: u64 = 16;
        let &[rows, _, columns] = input.shape.as_slice() else { return None };
        let is_short = input.dtype.is_floating() && input.dtype.bits <= 32;
        if self.launch.dialect != Dialect::Triton || axis != 1 || !is_short || rows < LEAST || columns < LEAST {
            return None;
        }
        let factors = self.multiplied.get(&input.id)?.map(|factor| self.expanded_from.get(&factor).cloned());
        let [Some((one, 2)), Some((two, 0))] = factors else { return None };
        if one.dtype != two.dtype {
            return None;
        }
        if input.dtype.bits < 32 && input.dtype != Dtype::ANY {
            let message = format!(
                "the compiler makes a product of this sum, which it does for `float32` only and not for `{}`: sum `float32`, or write `tl.dot`",
                input.dtype.name
            );
            self.refuse(frame, expr, Code::InvalidOperand, message);
            return Some(unknown("a product that the compiler refuses"));
        }
        self.program.multiplies = true;
        // It may be narrower than any that an author writes.
        self.program.is_guessed = true;
        let args = Args::of([Value::Tensor(one.clone()), Value::Tensor(two.clone())]);
        Some(match self.product(frame, expr, [&one, &two], &args) {
            Value::Tensor(tensor) => Value::Tensor(Tensor { layout: self.choice_for(tensor.id), ..tensor }),
            other => other,
        })
    }

    fn scan(&mut self, frame: &Frame, expr: ExprId, name: &str, args: &Args) -> Value {
        let Some(inputs) = args.get(0, "input").and_then(|value| match value {
            Value::Tensor(tensor) => Some(vec![tensor.clone()]),
            tuple => tensors(tuple),
        }) else {
            return unknown("a scan of a value that is not a tensor");
        };
        let (Some(first), Some(axis)) = (inputs.first(), args.get(1, "axis").map_or(Some(0), Value::int)) else {
            return unknown("a scan of nothing");
        };
        let axis = if axis < 0 { axis + first.shape.len() as i64 } else { axis }.max(0) as usize;
        let first = self.along_axis(frame, expr, first);
        let mut inputs = [&[first], &inputs[1..]].concat();
        if name != "associative_scan" {
            for input in &mut inputs {
                let dtype = scanned(name, input.dtype, args.get(3, "dtype"), self.launch.hardware.compiler);
                let value = Value::Tensor(input.clone());
                if dtype != input.dtype
                    && let Value::Tensor(cast) = self.elementwise(frame, expr, "cast", &[value], Some(dtype))
                {
                    *input = cast;
                }
            }
        }
        let inputs = self.tensors_in_one_layout(frame, expr, inputs);
        let first = &inputs[0];
        let bits = inputs.iter().map(|input| input.dtype.bits).collect();
        let kind = self.asks(Asked::Scan { shape: (*first.shape).clone(), axis, bits, layout: first.layout.clone() });
        let results: Vec<super::ValueId> = inputs.iter().map(|_| self.new_value(Type::Tensor)).collect();
        let op = super::Op {
            name: "scan",
            at: self.site(frame, expr),
            effect: Effect::None,
            operands: inputs.iter().map(|input| input.id).collect(),
            results: results.clone(),
            identity: identity((axis, "scan")),
            kind,
        };
        // Its input may be converted in its place.
        self.widened.extend(&results);
        self.push(op);
        let made = inputs.iter().zip(results).map(|(input, id)| Value::Tensor(Tensor { id, ..input.clone() }));
        let made: Vec<Value> = made.collect();
        if let [one] = made.as_slice() { one.clone() } else { Value::tuple(made) }
    }

    fn gather(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let (Some(Value::Tensor(source)), Some(Value::Tensor(index)), Some(axis)) =
            (args.get(0, "src"), args.get(1, "index"), args.get(2, "axis").and_then(Value::int))
        else {
            return unknown("`gather` of something");
        };
        let (source, index) = (source.clone(), index.clone());
        let is_whole = !index.dtype.is_floating();
        self.demand(frame, expr, is_whole, || {
            format!("`gather` takes indices that are integers, and no `{}`", index.dtype)
        });
        let (source, index) = self.gathered(frame, expr, source, index);
        let axis = if axis < 0 { axis + source.shape.len() as i64 } else { axis }.max(0) as usize;
        let kind = self.asks(Asked::Gather {
            source: ((*source.shape).clone(), source.layout.clone()),
            index: ((*index.shape).clone(), index.layout.clone()),
            axis,
            bits: source.dtype.bits,
        });
        let op = Emitted {
            name: "gather",
            effect: Effect::None,
            operands: &[source.id, index.id],
            of: Type::Tensor,
            identity: axis as u64,
            kind,
        };
        let id = self.emit(frame, expr, op);
        let layout = match self.launch.dialect {
            Dialect::Gluon => index.layout.clone(),
            Dialect::Tlx | Dialect::Triton => self.choice_for(id),
        };
        Value::Tensor(Tensor { id, dtype: source.dtype, layout, ..index })
    }

    /// The compiler of TLX gathers in a layout in which all of a column is in one warp, if there is any.
    fn gathered(&mut self, frame: &Frame, expr: ExprId, source: Tensor, index: Tensor) -> (Tensor, Tensor) {
        if self.launch.dialect == Dialect::Gluon {
            return (source, index);
        }
        let choice = self.new_choice();
        (self.as_chosen(frame, expr, &source, &choice), self.as_chosen(frame, expr, &index, &choice))
    }

    fn histogram(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let (Some(Value::Tensor(input)), Some(bins)) =
            (args.get(0, "input"), args.get(1, "num_bins").and_then(Value::int))
        else {
            return unknown("`histogram` of something");
        };
        let input = input.clone();
        self.check_histogram(frame, expr, &input);
        let bins = bins.max(0) as u64;
        let bytes = super::super::layouts::histogram_bytes(bins as u32, 32, self.warps as u32, &self.launch.hardware);
        let kind = self.asks(Asked::Fixed(bytes));
        let layout = self.layout_or_auto(args.get(3, "layout"));
        let op = Emitted {
            name: "histogram",
            effect: Effect::None,
            operands: &[input.id],
            of: Type::Tensor,
            identity: bins,
            kind,
        };
        let id = self.emit(frame, expr, op);
        Value::Tensor(Tensor { id, dtype: Dtype::named("int32"), shape: Rc::new(vec![bins]), layout })
    }

    fn allocate_shared_memory(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let (Some(dtype), Some(shape), Some(layout)) =
            (args.get(0, "element_ty"), args.get(1, "shape"), args.get(2, "layout"))
        else {
            return unknown("a buffer without a type, a shape or a layout");
        };
        let operands = args.get(3, "value").map(|value| ids(std::slice::from_ref(value))).unwrap_or_default();
        let (dtype, shape, layout) = match (dtype, shape.extents(), layout) {
            (Value::Dtype(dtype), Some(shape), Value::SharedLayout(layout)) => (*dtype, shape, layout.clone()),
            (Value::Unknown(reason), ..) => return self.unsized_(frame, expr, "the element type", reason),
            (_, None, _) => {
                let parts = shape.elements().unwrap_or(std::slice::from_ref(shape));
                let reason = super::operators::first_unknown(parts)
                    .unwrap_or_else(|| Reason::new("it is computed by the kernel"));
                return self.unsized_(frame, expr, "the shape", &reason);
            }
            (_, _, Value::Unknown(reason)) => return self.unsized_(frame, expr, "the layout", reason),
            _ => return self.unsized_(frame, expr, "the layout", &Reason::new("it is not a layout of shared memory")),
        };
        self.check_shape(frame, expr, &shape, &layout, dtype);
        let is_barrier = matches!(*layout, SharedLayout::Barrier { .. });
        let use_ = if is_barrier { Use::Barrier } else { Use::Data };
        self.shared_buffer(frame, expr, "allocate_shared_memory", (dtype, shape, layout), use_, &operands)
    }

    /// Says what the compiler refuses of a shape under a layout.
    pub(super) fn check_shape(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        shape: &[u64],
        layout: &SharedLayout,
        dtype: Dtype,
    ) {
        if !self.check_rank(frame, expr, shape, layout) {
            return;
        }
        let rank = layout.rank();
        // Triton 3.8 has other rules here, which were not compared.
        if self.launch.hardware.compiler < Compiler::V3_9 {
            return;
        }
        let covered = shape_of_cta(&shape[shape.len() - rank..], layout.cga());
        if let Some(extent) = covered.iter().find(|extent| !extent.is_power_of_two()) {
            let message = format!("extent {extent} is not a power of two, and the layout needs one");
            return self.refuse(frame, expr, Code::InvalidShape, message);
        }
        if let SharedLayout::Nvmma(Nvmma { swizzle, element_bits, transposed, fp4_padded, .. }) = layout
            && *swizzle > 0
            && *element_bits > 0
        {
            let contiguous = if *transposed { covered.first() } else { covered.last() };
            let extent = contiguous.copied().unwrap_or(0) * if *fp4_padded { 2 } else { 1 };
            let least = swizzle * 8 / element_bits;
            if extent < least {
                let message = format!(
                    "{extent} elements of {element_bits} bits are too few for a swizzle of {swizzle} bytes, which takes {least}; `NVMMASharedLayout.get_default_for({shape:?}, gl.{dtype})` chooses one that fits"
                );
                self.refuse(frame, expr, Code::InvalidShape, message);
            }
        }
    }

    /// Whether a layout speaks of as many dimensions as it must.
    pub(super) fn check_rank(&mut self, frame: &Frame, expr: ExprId, shape: &[u64], layout: &SharedLayout) -> bool {
        let rank = layout.rank();
        let is_right = rank == shape.len() || rank + 1 == shape.len();
        if !is_right {
            let message = format!(
                "a buffer of {} dimensions has a layout of {rank}: a layout speaks of all dimensions, or of all but the first",
                shape.len()
            );
            self.refuse(frame, expr, Code::InvalidShape, message);
        }
        is_right
    }

    pub(super) fn unsized_(&mut self, frame: &Frame, expr: ExprId, what: &str, reason: &Reason) -> Value {
        let reason = reason.clone().of(&format!("{what} of a buffer is not known"));
        self.note(frame, expr, reason.clone());
        Value::Unknown(reason)
    }

    pub(super) fn shared_buffer(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        function: &'static str,
        (dtype, shape, layout): (Dtype, Vec<u64>, Rc<SharedLayout>),
        use_: Use,
        operands: &[super::ValueId],
    ) -> Value {
        let size = match layout.size(&shape, u64::from(dtype.bits.max(8))) {
            Ok(size) => size,
            Err(reason) => return self.unsized_(frame, expr, "the size", &reason),
        };
        let size = match self.uncertain {
            0 => Bytes::Exactly(size),
            _ => Bytes::Between(0, size, Reason::new("it is not known whether a buffer is made")),
        };
        let covered = layout.rank().max(1).min(shape.len());
        let (counted, rounded) = shape.split_at(if use_ == Use::Barrier { 0 } else { shape.len() - covered });
        let rounded: Vec<u64> = rounded.iter().map(|extent| extent.next_power_of_two()).collect();
        let rounded = layout.size(&[counted, &rounded].concat(), u64::from(dtype.bits.max(8))).unwrap_or(size.high());
        let memory = Memory::Shared { size, alignment: layout.alignment(), fork: Bytes::Exactly(rounded) };
        let made = Made { function, shape: shape.clone(), dtype: dtype.name, memory, use_ };
        let of = Type::Shared { rank: shape.len() as u32 };
        let id = self.allocate(frame, expr, made, of, operands);
        Value::Shared(Shared { id, dtype, shape: Rc::new(shape), layout: Some(layout) })
    }

    fn allocate_mbarrier(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let ctas = self.launch.ctas;
        let is_pair = args.get(1, "two_ctas").and_then(Value::truth) == Some(true);
        let count = if is_pair { ctas / 2 } else { ctas }.max(1);
        let shape = match args.get(0, "batch") {
            None | Some(Value::None) => vec![count],
            Some(batch) => match batch.int().and_then(|batch| u64::try_from(batch).ok()) {
                Some(batch) => vec![batch, count],
                None => {
                    let reason = super::operators::first_unknown(std::slice::from_ref(batch));
                    let reason = reason.unwrap_or_else(|| Reason::new("it is computed by the kernel"));
                    return self.unsized_(frame, expr, "the number of barriers", &reason);
                }
            },
        };
        let layout = Rc::new(SharedLayout::Barrier { cga: barrier_cga(ctas, is_pair) });
        self.shared_buffer(frame, expr, "allocate_mbarrier", (Dtype::BARRIER, shape, layout), Use::Barrier, &[])
    }

    fn allocate_tensor_memory(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let (dtype, shape, layout) = (args.get(0, "element_ty"), args.get(1, "shape"), args.get(2, "layout"));
        let operands = args.get(3, "value").map(|value| ids(std::slice::from_ref(value))).unwrap_or_default();
        let (Some(Value::Dtype(dtype)), Some(shape), Some(Value::TensorLayout(layout))) =
            (dtype, shape.and_then(Value::extents), layout)
        else {
            let reason = super::operators::first_unknown(&args.all());
            let reason = reason.unwrap_or_else(|| Reason::new("it is computed by the kernel"));
            return self.unsized_(frame, expr, "the shape", &reason);
        };
        let (dtype, layout) = (*dtype, layout.clone());
        let (columns, rows) = match layout.extent(&shape, u64::from(dtype.bits)) {
            Ok(extent) => extent,
            Err(reason) => return self.unsized_(frame, expr, "the size", &reason),
        };
        let made = Made {
            function: "allocate_tensor_memory",
            shape: shape.clone(),
            dtype: dtype.name,
            memory: Memory::Tensor { columns, rows },
            use_: Use::Data,
        };
        let id = self.allocate(frame, expr, made, Type::TensorMemory, &operands);
        Value::TensorMemory(TensorMemory { id, dtype, shape: Rc::new(shape), layout: Some(layout) })
    }

    /// A descriptor that the kernel makes: 128 bytes while it is made.
    fn make_tensor_descriptor(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let operands = self.operands(frame, expr, &args.all());
        let (base, block) = (args.get(0, "base"), args.get(3, "block_shape").and_then(Value::extents));
        let (Some(Value::Scalar(base)), Some(block)) = (base, block) else {
            return self.unknown_call(frame, expr, Reason::new("the block of a descriptor is not known"), args);
        };
        let dtype = match self.led_to(base) {
            Ok(dtype) => dtype,
            Err(reason) => return self.unknown_call(frame, expr, reason, args),
        };
        if let Some(Value::SharedLayout(layout)) = args.get(4, "layout")
            && !matches!(**layout, SharedLayout::Nvmma(_))
        {
            let message = format!(
                "a descriptor has an `NVMMASharedLayout`; `gl.NVMMASharedLayout.get_default_for({block:?}, gl.{dtype})` is one that fits"
            );
            self.refuse(frame, expr, Code::InvalidOperand, message);
        }
        let layout = match args.get(4, "layout") {
            Some(Value::SharedLayout(layout)) => Some(layout.clone()),
            None | Some(Value::None) => Some(Rc::new(super::arguments::default_layout(&block, dtype))),
            _ => None,
        };
        let kind = self.asks(Asked::Fixed(128));
        let of = Type::Descriptor;
        // It is made for whoever uses it, and once for all that are equal.
        let op = Emitted {
            name: "make_tensor_descriptor",
            effect: Effect::None,
            operands: &operands,
            of,
            identity: identity((&block, format!("{layout:?}"))),
            kind,
        };
        let id = self.emit(frame, expr, op);
        Value::Descriptor(Descriptor { id, dtype, block: Rc::new(block), layout, is_layout_told: true })
    }

    /// Layouts, which Python makes while the kernel is compiled.
    fn layout_call(&mut self, name: &str, args: &Args) -> Option<Value> {
        let narrow = |position: usize, name: &str| -> Option<Vec<u32>> {
            let extents = args.get(position, name)?.extents()?;
            extents.into_iter().map(|extent| u32::try_from(extent).ok()).collect()
        };
        let number = |position: usize, name: &str| args.get(position, name).and_then(Value::int);
        let truth = |position: usize, name: &str| args.get(position, name).and_then(Value::truth).unwrap_or(false);
        let cga = |position: usize| -> Option<Cga> {
            match args.get(position, "cga_layout") {
                None | Some(Value::None) => Some(Vec::new()),
                Some(bases) => bases.elements()?.iter().map(Value::extents).collect(),
            }
        };
        let bases = |position: usize, name: &str| -> Option<Vec<Vec<u32>>> {
            let all = args.get(position, name)?.elements()?;
            let narrow = |basis: &Value| -> Option<Vec<u32>> {
                basis.extents()?.into_iter().map(|extent| u32::try_from(extent).ok()).collect()
            };
            all.iter().map(narrow).collect()
        };
        let known = |layout: Option<Layout>| match layout {
            Some(layout) => Value::Registers(Registers::Known(Arc::new(layout))),
            None => super::operators::first_unknown(&args.all())
                .map_or_else(|| unknown(format!("`{name}` of an unknown value")), Value::Unknown),
        };
        let shared = |layout: Option<SharedLayout>| match layout {
            Some(layout) => Value::SharedLayout(Rc::new(layout)),
            None => super::operators::first_unknown(&args.all())
                .map_or_else(|| unknown(format!("`{name}` of an unknown value")), Value::Unknown),
        };
        Some(match name {
            "AutoLayout" => Value::Registers(Registers::Auto(u32::MAX)),
            "CoalescedLayout" | "AMDWMMALayout" => {
                Value::Registers(Registers::Unknown(Reason::new(format!("`{name}` is chosen by the compiler"))))
            }
            "BlockedLayout" => known((|| {
                Some(Layout::Blocked {
                    size_per_thread: narrow(0, "size_per_thread")?,
                    threads_per_warp: narrow(1, "threads_per_warp")?,
                    warps_per_cta: narrow(2, "warps_per_cta")?,
                    order: narrow(3, "order")?,
                })
            })()),
            "SliceLayout" => match (number(0, "dim"), args.get(1, "parent")) {
                (Some(dim), Some(Value::Registers(Registers::Known(parent)))) => {
                    known(u32::try_from(dim).ok().map(|dim| Layout::Slice { dim, parent: parent.clone() }))
                }
                (_, Some(Value::Registers(Registers::Unknown(reason)))) => {
                    Value::Registers(Registers::Unknown(reason.clone()))
                }
                _ => known(None),
            },
            "DistributedLinearLayout" => known((|| {
                Some(Layout::Linear {
                    register: bases(0, "reg_bases")?,
                    lane: bases(1, "lane_bases")?,
                    warp: bases(2, "warp_bases")?,
                })
            })()),
            "DotOperandLayout" => match args.get(1, "parent") {
                Some(Value::Registers(Registers::Known(parent))) => known((|| {
                    Some(Layout::DotOperand {
                        operand: u32::try_from(number(0, "operand_index")?).ok()?,
                        parent: parent.clone(),
                        k_width: u32::try_from(number(2, "k_width")?).ok()?,
                    })
                })()),
                Some(Value::Registers(Registers::Unknown(reason))) => {
                    Value::Registers(Registers::Unknown(reason.clone()))
                }
                _ => known(None),
            },
            "NVMMADistributedLayout" => known((|| {
                let version = narrow(0, "version")?;
                Some(Layout::Mma {
                    version: (*version.first()?, version.get(1).copied().unwrap_or(0)),
                    warps_per_cta: narrow(1, "warps_per_cta")?,
                    instr_shape: narrow(2, "instr_shape")?,
                })
            })()),
            "AMDMFMALayout" => known((|| {
                let warps_per_cta = narrow(3, "warps_per_cta")?;
                let tiles = narrow(usize::MAX, "tiles_per_warp").unwrap_or_else(|| vec![1; warps_per_cta.len()]);
                Some(Layout::Mfma {
                    version: u32::try_from(number(0, "version")?).ok()?,
                    instr_shape: narrow(1, "instr_shape")?,
                    transposed: truth(2, "transposed"),
                    warps_per_cta,
                    tiles_per_warp: tiles,
                    element_bits: number(usize::MAX, "element_bitwidth")
                        .and_then(|bits| u32::try_from(bits).ok())
                        .unwrap_or(32),
                })
            })()),
            "NVMMASharedLayout" => shared((|| {
                Some(SharedLayout::Nvmma(Nvmma {
                    swizzle: u64::try_from(number(0, "swizzle_byte_width")?).ok()?,
                    element_bits: u64::try_from(number(1, "element_bitwidth")?).ok()?,
                    rank: args
                        .get(2, "rank")
                        .map_or(Some(2), Value::int)
                        .and_then(|rank| usize::try_from(rank).ok())?,
                    transposed: truth(3, "transposed"),
                    fp4_padded: truth(4, "fp4_padded"),
                    cga: cga(5)?,
                }))
            })()),
            "NVMMASharedLayout.get_default_for" => shared((|| {
                let shape = args.get(0, "block_shape")?.extents()?;
                let Some(Value::Dtype(dtype)) = args.get(1, "dtype") else { return None };
                let (transposed, fp4_padded, cga) = (truth(2, "transposed"), truth(3, "fp4_padded"), cga(4)?);
                let element_bits = u64::from(dtype.bits);
                Some(SharedLayout::Nvmma(Nvmma {
                    swizzle: Nvmma::default_swizzle(&shape, element_bits, transposed, fp4_padded, &cga),
                    element_bits,
                    rank: shape.len(),
                    transposed,
                    fp4_padded,
                    cga,
                }))
            })()),
            "SwizzledSharedLayout" => {
                shared((|| Some(SharedLayout::Swizzled { order: args.get(3, "order")?.extents()?, cga: cga(4)? }))())
            }
            "PaddedSharedLayout" => shared((|| {
                Some(SharedLayout::Padded {
                    pairs: pairs(args.get(0, "interval_padding_pairs")?)?,
                    rank: args.get(3, "shape")?.extents()?.len(),
                    cga: cga(2)?,
                })
            })()),
            "PaddedSharedLayout.with_identity_for" => shared((|| {
                Some(SharedLayout::Padded {
                    pairs: pairs(args.get(0, "interval_padding_pairs")?)?,
                    rank: args.get(1, "shape")?.extents()?.len(),
                    cga: cga(3)?,
                })
            })()),
            "SharedLinearLayout" => shared((|| {
                let offset: Option<Vec<Vec<u64>>> =
                    args.get(0, "offset_bases")?.elements()?.iter().map(Value::extents).collect();
                let block: Option<Cga> = match args.get(1, "block_bases") {
                    None | Some(Value::None) => Some(Vec::new()),
                    Some(bases) => bases.elements()?.iter().map(Value::extents).collect(),
                };
                let alignment = args.get(2, "alignment").map_or(Some(16), Value::int)?;
                Some(SharedLayout::Linear { offset: offset?, cga: block?, alignment: u64::try_from(alignment).ok()? })
            })()),
            "MBarrierLayout" => shared(cga(0).map(|cga| SharedLayout::Barrier { cga })),
            "MBarrierLayout.multicta" => shared((|| {
                let ctas = u64::try_from(number(0, "num_ctas")?).ok()?;
                Some(SharedLayout::Barrier { cga: barrier_cga(ctas, truth(1, "two_cta")) })
            })()),
            "TensorMemoryLayout" => {
                let layout = (|| {
                    let block = args.get(0, "block")?.extents()?;
                    Some(TensorMemoryLayout::Blocks {
                        block: [*block.first()?, *block.get(1)?],
                        column_stride: match args.get(1, "col_stride") {
                            Some(stride) => u64::try_from(stride.int()?).ok()?,
                            None => 1,
                        },
                        cga: cga(2)?,
                        two_ctas: truth(3, "two_ctas"),
                        fp4_padded: truth(4, "fp4_padded"),
                    })
                })();
                match layout {
                    Some(layout) => Value::TensorLayout(Rc::new(layout)),
                    None => super::operators::first_unknown(&args.all())
                        .map_or_else(|| unknown("a layout of tensor memory that is not known"), Value::Unknown),
                }
            }
            "TensorMemoryScalesLayout" => Value::TensorLayout(Rc::new(TensorMemoryLayout::Scales { cga: cga(0)? })),
            _ => return None,
        })
    }
}

fn is_mask(value: &Value) -> bool {
    matches!(value, Value::Tensor(tensor) if tensor.dtype.bits == 1)
}

fn tensors(value: &Value) -> Option<Vec<Tensor>> {
    let tensor = |value: &Value| match value {
        Value::Tensor(tensor) => Some(tensor.clone()),
        _ => None,
    };
    value.elements()?.iter().map(tensor).collect()
}

fn pairs(value: &Value) -> Option<Vec<(u64, u64)>> {
    let pair = |pair: &Value| match pair.extents()?[..] {
        [interval, pad] => Some((interval, pad)),
        _ => None,
    };
    value.elements()?.iter().map(pair).collect()
}

/// `MBarrierLayout.multicta`
fn barrier_cga(ctas: u64, is_pair: bool) -> Cga {
    let mut bases = Vec::new();
    let mut ctas = ctas;
    if is_pair {
        bases.push(vec![0]);
        ctas /= 2;
    }
    bases.extend((0..ctas.max(1).ilog2()).map(|bit| vec![1 << bit]));
    bases
}

/// The element type in which a reduction computes (`triton/language/standard.py`).
fn accumulated(name: &str, dtype: Dtype, asked: Option<&Value>) -> Dtype {
    if let Some(Value::Dtype(asked)) = asked {
        return *asked;
    }
    let is_signed = dtype.name.starts_with("int") && dtype.bits > 1;
    match name {
        "sum" if !dtype.is_floating() && dtype.bits < 32 => Dtype::named(if is_signed { "int32" } else { "uint32" }),
        "max" | "min" if dtype.bits < 32 => Dtype::named(if dtype.is_floating() { "float32" } else { "int32" }),
        _ => dtype,
    }
}

/// The element type in which elements are compared where their indices are wanted: their own. What becomes of others is seen by [`accumulated`].
fn compared(dtype: Dtype, compiler: Compiler) -> Dtype {
    // `_promote_bfloat16_to_float32`
    let is_promoted = compiler < Compiler::V3_9 && dtype.name == "bfloat16";
    if is_promoted { Dtype::named("float32") } else { dtype }
}

/// The element type in which `cumsum` and `cumprod` compute: 3.8 widens `bfloat16`, and integers of sums only; 3.9 widens integers of both.
fn scanned(name: &str, dtype: Dtype, asked: Option<&Value>, compiler: Compiler) -> Dtype {
    match name {
        "cumprod" if compiler < Compiler::V3_9 => compared(dtype, compiler),
        _ => accumulated("sum", compared(dtype, compiler), asked),
    }
}

//! The functions of TLX: each is an operation of the program, and what it says of memory is one of the [`Facts`].
//!
//! Layouts of registers are the compiler's choice here.

mod allocations;
pub(super) mod amd;
mod facts;
mod groups;
mod layouts;
mod tasks;
mod views;

use std::rc::Rc;

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Example, Finding, Origin, Reason};
use tilefit_syntax::ast::{BinaryOp, Expr, ExprId};

use super::super::language::Dtype;
use super::super::layouts::{Layout, tensor_memory_register_layout};
use super::super::program::{Adds, BufferId, Bytes, Effect, Kind, Memory, Op, TensorProduct, Type, Use, ValueId};
use super::super::shared_layout::{SharedLayout, TensorMemoryLayout};
use super::super::tensor_memory::HALF;
use super::super::tlx::SpecId;
use super::super::tlx::storage_alias::SpecMemory;
use super::arguments::default_layout;
use super::calls::Args;
use super::value::{Registers, Scalar, Shared, Tensor, TensorMemory, Value, unknown};
use super::{Emitted, Frame, Made, Tracer, identity};
pub(super) use facts::Facts;
use facts::{Fact, View};

/// Functions that do something to memory or to the order of things, and give nothing.
const EFFECTS: [&str; 38] = [
    "local_store",
    "local_scatter",
    "tmem_copy",
    "async_load_commit_group",
    "async_load_wait_group",
    "async_descriptor_load",
    "async_descriptor_store",
    "async_descriptor_store_wait",
    "async_descriptor_prefetch_tensor",
    "async_descriptor_load_multicast",
    "barrier_wait",
    "barrier_arrive",
    "barrier_expect_bytes",
    "warp_barrier_arrive",
    "warp_barrier_wait",
    "tcgen05_commit",
    "fence",
    "fence_async_shared",
    "named_barrier_wait",
    "named_barrier_arrive",
    "cluster_barrier",
    "cluster_barrier_arrive",
    "cluster_barrier_wait",
    "async_remote_shmem_store",
    "remote_shmem_store",
    "clc_producer",
    "async_store",
    "fence_mbarrier_init_cluster",
    "async_descriptor_reduce",
    "prefetch",
    "vote_ballot_sync_effect",
    "set_buffer_overlap",
    "async_load_wait",
    "global_barrier",
    "fence_proxy",
    "async_descriptor_store_reduce",
    "tma_store_wait",
    "nanosleep",
];

impl Tracer<'_> {
    /// `None` where it is no function of TLX.
    pub(super) fn tlx_call(&mut self, frame: &mut Frame, expr: ExprId, name: &str, args: &Args) -> Option<Value> {
        if let Some(&effect) = EFFECTS.iter().find(|&&known| known == name) {
            if name.starts_with("async_descriptor_") {
                self.check_offsets(frame, expr, args);
                self.takes_descriptor(args);
            }
            if let ("local_store", Some(Value::TensorMemory(memory)), Some(Value::Tensor(value))) =
                (name, args.get(0, "dst"), args.get(1, "src"))
            {
                // Tensor memory is written from one layout of registers.
                let needed = self.rows_of_threads(&memory.shape, memory.dtype);
                let is_free = matches!(self.resolved(&value.layout), Registers::Flexible);
                if !is_free && !needed.is_some_and(|needed| self.is_free(value, &needed)) {
                    self.converted(frame, expr, value, "tensor memory");
                    self.conversion(frame, expr, value, value.dtype.bits);
                }
            }
            if name == "tmem_copy" {
                args.all().iter().for_each(|value| self.holds_scales(value));
            }
            let operands = self.operands(frame, expr, &args.all());
            let effect = match (effect, args.get(0, "dst")) {
                ("local_store", Some(Value::TensorMemory(_))) => "tmem_store",
                _ => effect,
            };
            self.effect(frame, expr, effect, operands);
            return Some(Value::None);
        }
        if let Some(layout) = layouts::layout(name, args) {
            return Some(layout);
        }
        if let Some(value) = self.tlx_amd_call(frame, expr, name, args) {
            return Some(value);
        }
        Some(match name {
            "storage_alias_spec" => self.storage_alias_spec(frame, expr, args),
            "reuse_group" => self.reuse_group(frame, expr, args),
            "local_alloc" => {
                let args = of_elements(frame, expr, args);
                let buffer = self.add_allocation(frame, expr, &args);
                let made = self.local_alloc(frame, expr, &args.settled());
                self.with_fact(made, Some(Fact::Buffers(vec![View { buffer, form: None }])))
            }
            "alloc_barriers" | "alloc_warp_barrier" => {
                let buffer = match name {
                    "alloc_barriers" => self.add_barriers(frame, expr, args),
                    _ => self.add_warp_barriers(frame, expr, args),
                };
                let count = args.get(0, "num_barriers").cloned().unwrap_or(Value::Int(1));
                let made = self.alloc_barriers(frame, expr, &count);
                self.with_fact(made, Some(Fact::Buffers(vec![View { buffer, form: None }])))
            }
            "clc_create_context" => {
                self.add_clc_context(frame, expr, args);
                self.clc_context(frame, expr, args)
            }
            "clc_consumer" => self.clc_consumer(frame, expr, args),
            "vote_ballot_sync" => match args.get(1, "pred") {
                Some(pred) => {
                    let of = Some(Dtype::named("int32"));
                    self.elementwise(frame, expr, "vote_ballot_sync", std::slice::from_ref(&pred.clone()), of)
                }
                None => unknown("`vote_ballot_sync` without `pred`"),
            },
            "local_view" => match (args.get(0, "local_allocated_buffers"), args.get(1, "buffer_idx")) {
                (Some(buffer), Some(index)) => self.view_at(frame, expr, &buffer.clone(), &index.clone()),
                _ => unknown("`local_view` without a buffer or an index"),
            },
            "local_slice" | "subslice" | "local_trans" | "local_reshape" | "local_reinterpret" | "remote_view" => {
                let fact = self.fact_of_view(frame, expr, name, args);
                let view = self.tlx_view(frame, expr, name, &args.settled(), fact.as_ref());
                self.with_fact(view, fact)
            }
            "local_load" => self.local_load(frame, expr, &args.settled()),
            "local_gather" => match (args.positional.first(), args.positional.get(1)) {
                (Some(Value::Shared(shared)), Some(Value::Tensor(indices))) => {
                    let layout = self.choice_for(indices.id);
                    let of = (shared.dtype, (*indices.shape).clone(), layout);
                    self.loaded(frame, expr, "local_gather", shared.id, of)
                }
                _ => unknown("a gather of a value that is not a buffer"),
            },
            "async_load" => {
                let operands = match args.get(0, "src").cloned() {
                    Some(Value::Tensor(pointers)) => self.accessed(frame, expr, &pointers, &args.all()),
                    _ => self.operands(frame, expr, &args.all()),
                };
                self.effect(frame, expr, "async_load", operands);
                Value::None
            }
            "async_dot" | "async_dot_scaled" => {
                self.reads_operands(args, name == "async_dot_scaled");
                self.async_dot(frame, expr, name, &args.settled())
            }
            "async_dot_wait" => match args.get(1, "inp") {
                Some(value) => self.passed_on(frame, expr, "async_dot_wait", &value.clone()),
                None => Value::None,
            },
            "get_bufidx_phase" => match (args.get(0, "accum_cnt"), args.get(1, "NUM_BUFFERS")) {
                (Some(count), Some(ring)) => self.slot_and_phase(frame, expr, &count.clone(), &ring.clone()),
                _ => unknown("`get_bufidx_phase` without a count or `NUM_BUFFERS`"),
            },
            "async_task_replica_id" => match self.replica {
                Some(replica) => Value::Int(replica as i64),
                None => unknown("the number of a replica outside a task"),
            },
            "dtype_of" => match args.positional.first() {
                Some(Value::Dtype(dtype)) => Value::Dtype(dtype.element()),
                Some(Value::Scalar(scalar)) => match self.scalar_type(&scalar.clone()) {
                    Ok(dtype) => Value::Dtype(dtype.element()),
                    Err(reason) => Value::Unknown(reason),
                },
                Some(Value::Descriptor(descriptor)) => Value::Dtype(descriptor.dtype),
                Some(Value::Shared(shared)) => Value::Dtype(shared.dtype),
                Some(Value::TensorMemory(memory)) => Value::Dtype(memory.dtype),
                Some(Value::Tensor(tensor)) => Value::Dtype(tensor.dtype.element()),
                Some(Value::Unknown(reason)) => Value::Unknown(reason.clone()),
                _ => unknown("`dtype_of` of this value is not modelled"),
            },
            "size_of" => match args.positional.first() {
                Some(Value::Dtype(dtype)) => Value::Int(dtype.bytes() as i64),
                Some(Value::Unknown(reason)) => Value::Unknown(reason.clone()),
                _ => unknown("`size_of` of this value is not modelled"),
            },
            "thread_id" | "cluster_cta_rank" | "cluster_size_1d" | "clock64" => {
                let name = if name == "thread_id" { "thread_id" } else { "cluster_cta_rank" };
                self.scalar(frame, expr, name, Dtype::named("int32"), &args.all())
            }
            "get_fp8_format_name" => match args.positional.first() {
                Some(Value::Dtype(dtype)) => Value::str(if dtype.name == "float8e5" { "e5m2" } else { "e4m3" }),
                _ => unknown("`get_fp8_format_name` of this value is not modelled"),
            },
            "make_tensor_descriptor" => self.device_descriptor(frame, expr, args),
            // As they were called before descriptors had methods.
            "load_tensor_descriptor" | "store_tensor_descriptor" => {
                let Some(Value::Descriptor(descriptor)) = args.get(0, "desc").cloned() else {
                    return None;
                };
                let positional = args.positional.iter().skip(1).cloned().collect();
                let rest = Args { positional, named: args.named.clone() };
                let name = if name == "load_tensor_descriptor" { "load" } else { "store" };
                self.descriptor_access(frame, expr, name, &descriptor, &rest)
            }
            // They are in global memory.
            "allocate_tensor_descriptor" => match Dtype::named("int8").pointer_to() {
                Some(dtype) => self.scalar(frame, expr, "allocate_tensor_descriptor", dtype, &args.all()),
                None => unknown("a pointer to descriptors"),
            },
            "reinterpret_tensor_descriptor" => self.descriptor_at(frame, expr, args),
            "stoch_round" | "to" => return None,
            _ => return None,
        })
    }

    /// An argument that stands where a descriptor belongs is no number.
    pub(super) fn takes_descriptor(&mut self, args: &Args) {
        for place in ["desc", "tensor_desc"] {
            if let Some(&Value::Scalar(Scalar { id, dtype: Dtype::UNTYPED })) = args.get(0, place) {
                self.no_number(id, Example::Descriptor);
            }
        }
    }

    /// Offsets into what a descriptor leads to have 32 bits.
    fn check_offsets(&mut self, frame: &Frame, expr: ExprId, args: &Args) {
        let offsets = args.get(2, "offsets").and_then(Value::elements).unwrap_or_default();
        let wide = offsets.iter().find_map(|offset| match offset {
            Value::Scalar(scalar) if scalar.dtype.bits > 32 => Some(scalar.dtype),
            _ => None,
        });
        if let Some(dtype) = wide {
            let message =
                format!("an offset of a descriptor has 32 bits, and this is an {dtype}: `.to(tl.int32)` makes it one");
            self.refuse(frame, expr, Code::InvalidOperand, message);
        }
    }

    /// The memory that several allocations share. It is as large as those make it (`storage_alias.rs`).
    fn storage_alias_spec(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let spec = self.add_spec(frame, expr, args);
        let is_tensor = args.get(0, "storage").is_some_and(is_tmem);
        let said = args.get(1, "buffer_size_bytes").filter(|said| !matches!(said, Value::None));
        let said = said.map(|said| said.int());
        let equal = self.specs.iter().find(|(other, _)| *other == said && said != Some(None) && !is_tensor);
        let equal = equal.map(|(_, first)| first.clone());
        if let Some(first) = &equal
            && let Some(merged) = self.merged_spec(frame, expr, spec, first)
        {
            return self.with_fact(merged, Some(Fact::Spec(spec)));
        }
        let (dtype, shape) = (Dtype::named(if is_tensor { "int32" } else { "int8" }), vec![0]);
        let value = if is_tensor {
            let memory = Memory::Tensor { columns: 0, rows: 128 };
            let (function, use_) = ("storage_alias_spec", Use::Data);
            let made = Made { function, shape: shape.clone(), dtype: dtype.name, memory, use_ };
            let id = self.allocate(frame, expr, made, Type::TensorMemory, &[]);
            Value::TensorMemory(TensorMemory { id, dtype, shape: Rc::new(shape), layout: None })
        } else {
            let layout = Rc::new(SharedLayout::Swizzled { order: vec![0], cga: Vec::new() });
            let value = self.shared_buffer(frame, expr, "storage_alias_spec", (dtype, shape, layout), Use::Data, &[]);
            if let Value::Shared(shared) = &value {
                self.specs.push((said, shared.clone()));
            }
            value
        };
        if let Value::Shared(Shared { id, .. }) | Value::TensorMemory(TensorMemory { id, .. }) = &value
            && let Some(&buffer) = self.allocated.get(id)
        {
            let may_be_merged = equal.is_some() && self.launch.merges_specs.is_none();
            self.facts.specs.push(SpecMemory { spec, buffer, may_be_merged });
        }
        self.with_fact(value, Some(Fact::Spec(spec)))
    }

    /// A spec that is equal to a former one, which Triton 3.8 takes for the same: its operation has no effect there, and what is computed
    /// twice is computed once. Says so; `None` where it is, or may be, a spec of its own.
    fn merged_spec(&mut self, frame: &Frame, expr: ExprId, spec: SpecId, first: &Shared) -> Option<Value> {
        if self.launch.merges_specs != Some(true) || self.uncertain > 0 {
            return None;
        }
        let message = "Triton 3.8 makes one spec of this one and an equal one above: their buffers share memory; another `buffer_size_bytes` keeps them apart";
        self.findings.push(Finding::new(Code::MergedSpecs, frame.call.unwrap_or(Origin::Expr(expr)), message));
        let buffer = *self.allocated.get(&first.id)?;
        self.facts.specs.push(SpecMemory { spec, buffer, may_be_merged: false });
        let (shape, dtype, layout) = ((*first.shape).clone(), first.dtype, first.layout.clone());
        let merged = self.view(frame, expr, "merged spec", first, &[], shape, dtype, layout);
        if let Value::Shared(shared) = &merged {
            self.allocated.insert(shared.id, buffer);
        }
        Some(merged)
    }

    fn local_alloc(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let (dtype, shape) = (args.get(1, "dtype").cloned(), args.get(0, "shape").cloned());
        let num = args.get(2, "num").cloned().unwrap_or(Value::Int(1));
        let parts = [dtype.clone().unwrap_or(Value::None), num.clone()];
        let extents = shape.as_ref().and_then(Value::extents);
        let (Some(Value::Dtype(dtype)), Some(extents), Some(num)) =
            (dtype, extents, num.int().and_then(|num| u64::try_from(num).ok()))
        else {
            let all: Vec<Value> = parts
                .into_iter()
                .chain(shape.iter().flat_map(|shape| shape.elements().unwrap_or_default().to_vec()))
                .collect();
            let reason =
                super::operators::first_unknown(&all).unwrap_or_else(|| Reason::new("it is computed by the kernel"));
            return self.unsized_(frame, expr, "the shape", &reason);
        };
        let mut full = vec![num];
        full.extend(&extents);
        let is_tensor = args.get(3, "storage").is_some_and(is_tmem);
        let layout = self.tlx_layout(&extents, dtype, args.get(5, "layout"));
        match (args.get(4, "reuse").cloned(), is_tensor) {
            (Some(Value::Shared(base)), _) => match layout {
                Ok(layout) => {
                    let bytes = layout.size(&full, u64::from(dtype.bits.max(8)));
                    let view = self.view(frame, expr, "reinterpret", &base, &[], full, dtype, Some(layout));
                    self.grow(base.id, &view, bytes);
                    view
                }
                Err(reason) => self.unsized_(frame, expr, "the layout", &reason),
            },
            (Some(Value::TensorMemory(base)), _) => {
                let identity = identity((&full, dtype));
                let op = Emitted {
                    name: "reinterpret",
                    effect: Effect::None,
                    operands: &[base.id],
                    of: Type::TensorMemory,
                    identity,
                    kind: Kind::View,
                };
                let layout = Some(Rc::new(tensor_layout(&extents, dtype)));
                Value::TensorMemory(TensorMemory {
                    id: self.emit(frame, expr, op),
                    dtype,
                    shape: Rc::new(full),
                    layout,
                })
            }
            (Some(Value::Unknown(reason)), _) => self.unsized_(frame, expr, "the base", &reason),
            (_, true) => {
                let layout = tensor_layout(&extents, dtype);
                let (columns, rows) = match layout.extent(&full, u64::from(dtype.bits)) {
                    Ok(extent) => extent,
                    Err(reason) => return self.unsized_(frame, expr, "the size", &reason),
                };
                let memory = Memory::Tensor { columns, rows };
                let made =
                    Made { function: "local_alloc", shape: full.clone(), dtype: dtype.name, memory, use_: Use::Data };
                let id = self.allocate(frame, expr, made, Type::TensorMemory, &[]);
                Value::TensorMemory(TensorMemory { id, dtype, shape: Rc::new(full), layout: Some(Rc::new(layout)) })
            }
            (_, false) => match layout {
                Ok(layout) => {
                    let id = BufferId(self.program.buffers.len() as u32);
                    let made = self.shared_buffer(frame, expr, "local_alloc", (dtype, full, layout), Use::Data, &[]);
                    let is_pinned = !matches!(args.get(5, "layout"), None | Some(Value::None));
                    if matches!(made, Value::Shared(_)) && extents.len() > 1 && !is_pinned {
                        self.unpinned.insert(id, u64::from(dtype.bits.max(8)));
                    }
                    made
                }
                Err(reason) => self.unsized_(frame, expr, "the layout", &reason),
            },
        }
    }

    /// The fork gives a buffer the memory of the largest that is laid over it; Triton 3.8 refuses one of another size.
    fn grow(&mut self, base: ValueId, view: &Value, bytes: Result<u64, Reason>) {
        let (Some(&id), Value::Shared(view)) = (self.allocated.get(&base), view) else { return };
        self.allocated.insert(view.id, id);
        if let (Memory::Shared { fork: Bytes::Exactly(fork), .. }, Ok(bytes)) =
            (&mut self.program.buffers[id.0 as usize].memory, bytes)
        {
            *fork = (*fork).max(bytes);
        }
    }

    /// The layout of an allocation: what is said, else what the front end chooses.
    fn tlx_layout(&self, shape: &[u64], dtype: Dtype, said: Option<&Value>) -> Result<Rc<SharedLayout>, Reason> {
        match said {
            Some(Value::SharedLayout(layout)) => return Ok(ordered(layout, shape.len())),
            Some(Value::Unknown(reason)) => return Err(reason.clone()),
            Some(Value::None) | None => {}
            Some(_) => return Err(Reason::new("this layout is not modelled")),
        }
        let is_plain = shape.len() < 2 || self.is_amd();
        Ok(Rc::new(if is_plain {
            SharedLayout::Swizzled { order: (0..shape.len() as u64).rev().collect(), cga: Vec::new() }
        } else {
            default_layout(shape, dtype)
        }))
    }

    fn alloc_barriers(&mut self, frame: &Frame, expr: ExprId, count: &Value) -> Value {
        let Some(count) = count.int().and_then(|count| u64::try_from(count).ok()) else {
            let reason = super::operators::first_unknown(std::slice::from_ref(count));
            let reason = reason.unwrap_or_else(|| Reason::new("it is computed by the kernel"));
            return self.unsized_(frame, expr, "the number of barriers", &reason);
        };
        let layout = Rc::new(SharedLayout::Barrier { cga: Vec::new() });
        let of = (Dtype::BARRIER, vec![count, 1], layout);
        let barriers = self.shared_buffer(frame, expr, "alloc_barriers", of, Use::Barrier, &[]);
        // Barriers are made ready where they are made, which is use enough for them to stay.
        self.effect(frame, expr, "init_barrier", super::operators::ids(std::slice::from_ref(&barriers)));
        barriers
    }

    /// Two arrays of barriers, and 16 bytes for each response.
    fn clc_context(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let stages = args.named("num_stages").or(args.positional.get(1)).cloned().unwrap_or(Value::Int(1));
        let full = self.alloc_barriers(frame, expr, &stages);
        let empty = self.alloc_barriers(frame, expr, &stages);
        let count = stages.int().and_then(|stages| u64::try_from(stages).ok()).unwrap_or(1);
        let layout = Rc::new(SharedLayout::Swizzled { order: vec![0], cga: Vec::new() });
        let of = (Dtype::BARRIER, vec![count, 2], layout);
        let responses = self.shared_buffer(frame, expr, "clc_create_context", of, Use::Data, &[]);
        Value::tuple([full, empty, responses])
    }

    /// Which program to take over, which is a number, or three.
    fn clc_consumer(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let operands = self.operands(frame, expr, &args.all());
        let mut program = || {
            let (effect, of) = (Effect::Reads, Type::Scalar { bits: 32 });
            let (operands, kind) = (&operands, Kind::Plain);
            let id = self.emit(frame, expr, Emitted { name: "clc_query", effect, operands, of, identity: 0, kind });
            Value::Scalar(Scalar { id, dtype: Dtype::named("int32") })
        };
        let programs = match args.get(4, "return_3d").and_then(Value::truth) {
            Some(true) => Value::tuple([program(), program(), program()]),
            _ => program(),
        };
        self.effect(frame, expr, "clc_consumer", operands);
        programs
    }

    /// `fact`: what is known of the view.
    fn tlx_view(&mut self, frame: &Frame, expr: ExprId, name: &str, args: &Args, fact: Option<&Fact>) -> Value {
        let Some(base) = args.positional.first().cloned() else { return unknown(format!("`{name}` without a buffer")) };
        let operands = self.operands(frame, expr, &args.positional[1..]);
        let extents = fact.and_then(Fact::extents);
        let shape_of = |shape: &[u64]| extents.clone().unwrap_or_else(|| shape.to_vec());
        let dtype_of = |dtype: Dtype| match args.get(1, "dtype") {
            Some(Value::Dtype(dtype)) if name == "local_reinterpret" => *dtype,
            _ => dtype,
        };
        match base {
            Value::Shared(shared) => {
                let (shape, dtype) = (shape_of(&shared.shape), dtype_of(shared.dtype));
                self.view(frame, expr, "view", &shared, &operands, shape, dtype, None)
            }
            Value::TensorMemory(memory) => {
                let (shape, dtype) = (shape_of(&memory.shape), dtype_of(memory.dtype));
                let kind = if matches!(name, "local_slice" | "subslice") { Kind::ShortView } else { Kind::View };
                let mut all = vec![memory.id];
                all.extend(operands);
                let identity = identity((name, &shape, dtype));
                let op = Emitted {
                    name: "view",
                    effect: Effect::None,
                    operands: &all,
                    of: Type::TensorMemory,
                    identity,
                    kind,
                };
                Value::TensorMemory(TensorMemory {
                    id: self.emit(frame, expr, op),
                    dtype,
                    shape: Rc::new(shape),
                    layout: None,
                })
            }
            Value::Unknown(reason) => Value::Unknown(reason),
            _ => unknown("a view of a value that is not a buffer"),
        }
    }

    fn local_load(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let is_pinned = !matches!(args.get(2, "layout"), None | Some(Value::None));
        let pinned = identity(format!("{:?}", args.get(2, "layout")));
        let or_pinned = |layout| if is_pinned { Registers::Chosen(pinned) } else { layout };
        match args.positional.first() {
            Some(Value::Shared(Shared { id, dtype, shape, .. })) => {
                let of = (*dtype, (**shape).clone(), or_pinned(Registers::Flexible));
                self.loaded(frame, expr, "local_load", *id, of)
            }
            Some(Value::TensorMemory(TensorMemory { id, dtype, shape, .. })) => {
                let layout = self.rows_of_threads(shape, *dtype).unwrap_or_else(|| self.choice_for(*id));
                self.loaded(frame, expr, "tmem_load", *id, (*dtype, (**shape).clone(), or_pinned(layout)))
            }
            Some(Value::Unknown(reason)) => self.unknown_call(frame, expr, reason.clone(), args),
            _ => unknown("a load of a value that is not a buffer"),
        }
    }

    /// Which slot of a ring a count is at, and whether it goes round for an even or an odd time.
    fn slot_and_phase(&mut self, frame: &Frame, expr: ExprId, count: &Value, ring: &Value) -> Value {
        let slot = self.binary(frame, expr, BinaryOp::Mod, count, ring);
        let round = self.binary(frame, expr, BinaryOp::FloorDiv, count, ring);
        let phase = self.binary(frame, expr, BinaryOp::BitAnd, &round, &Value::Int(1));
        Value::tuple([slot, phase])
    }

    fn async_dot(&mut self, frame: &Frame, expr: ExprId, name: &str, args: &Args) -> Value {
        let acc = args.get(2, "acc").cloned().unwrap_or(Value::None);
        let operands = match acc {
            Value::TensorMemory(_) => Vec::new(),
            _ => self.operands(frame, expr, &args.all()),
        };
        match acc {
            Value::Tensor(acc) if name == "async_dot" => {
                self.operand_in_registers(frame, expr, args);
                let id = self.reads(frame, expr, "dot", &operands);
                let product = self.product_layout(id, &acc.shape, args.get(0, "A"));
                // What is summed up has the layout of the product.
                if matches!(self.resolved(&acc.layout), Registers::Auto(_)) {
                    self.unify(&acc.layout, &product);
                }
                let layout = match self.resolved(&acc.layout) {
                    Registers::Chosen(key) => Registers::Chosen(key),
                    _ => product,
                };
                Value::Tensor(Tensor { id, layout, ..acc })
            }
            Value::TensorMemory(of) => {
                let first = if name == "async_dot" { 3 } else { 7 };
                let barriers = args.named("mBarriers").or(args.positional.get(first + 2)).cloned();
                let barriers = barriers.filter(|barriers| {
                    !matches!(barriers, Value::None) && barriers.elements().is_none_or(|all| !all.is_empty())
                });
                let adds = args.get(first, "use_acc").cloned();
                self.tensor_product(frame, expr, "async_dot", (args, &of, adds), barriers.is_none());
                if let Some(barriers) = barriers {
                    let barriers = self.operands(frame, expr, std::slice::from_ref(&barriers));
                    self.effect(frame, expr, "tcgen05_commit", barriers);
                }
                Value::TensorMemory(of)
            }
            Value::Unknown(reason) => self.unknown_call(frame, expr, reason, args),
            _ => match product(args) {
                Some((shape, dtype)) => {
                    self.operand_in_registers(frame, expr, args);
                    let id = self.reads(frame, expr, "dot", &operands);
                    let layout = self.product_layout(id, &shape, args.get(0, "A"));
                    Value::Tensor(Tensor { id, dtype, shape: Rc::new(shape), layout })
                }
                None => self.unknown_call(frame, expr, Reason::new("a product of something without a shape"), args),
            },
        }
    }

    /// A product whose result is in tensor memory.
    pub(super) fn tensor_product(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        name: &'static str,
        (args, acc, adds): (&Args, &TensorMemory, Option<Value>),
        is_waited_for: bool,
    ) {
        let operands = self.operands(frame, expr, &args.all());
        let place = |id: ValueId| operands.iter().position(|&operand| operand == id);
        let half = match args.positional.first().or_else(|| args.named("A")).or_else(|| args.named("a")) {
            Some(Value::TensorMemory(left)) if rows(left) == Some(HALF) => place(left.id),
            _ => None,
        };
        let adds = match adds {
            None | Some(Value::None) => Adds::Always,
            Some(Value::Scalar(scalar)) => place(scalar.id).map_or(Adds::Unknown, Adds::If),
            Some(value) => match value.truth() {
                Some(true) => Adds::Always,
                Some(false) => Adds::Never,
                None => Adds::Unknown,
            },
        };
        let Some(accumulator) = place(acc.id) else { return self.effect(frame, expr, name, operands) };
        let product = TensorProduct { accumulator, half, adds, is_waited_for };
        let (at, kind) = (self.site(frame, expr), Kind::TensorProduct(product));
        self.push(Op { name, at, effect: Effect::Writes, operands, results: Vec::new(), identity: 0, kind });
    }

    /// The layout of the result of a product of Hopper: all warps along the rows, 16 of them each.
    fn product_layout(&mut self, id: ValueId, shape: &[u64], operand: Option<&Value>) -> Registers {
        let bits = match operand {
            Some(Value::Shared(shared)) => shared.dtype.bits,
            Some(Value::Tensor(tensor)) => tensor.dtype.bits,
            _ => 0,
        };
        match (shape, bits) {
            (&[rows, columns], 8 | 16 | 32) if rows >= 16 * self.warps && self.warps.is_multiple_of(4) => {
                let instr_shape = vec![16, columns.min(256) as u32, 256 / bits];
                let warps_per_cta = vec![self.warps as u32, 1];
                self.given_by_instruction(Layout::Mma { version: (3, 0), warps_per_cta, instr_shape })
            }
            _ => self.choice_for(id),
        }
    }

    /// The layout in which tensor memory is loaded and stored: a row for each thread, where there are as many.
    pub(super) fn rows_of_threads(&mut self, shape: &[u64], dtype: Dtype) -> Option<Registers> {
        let shape = super::registers::narrow(shape).ok()?;
        let [rows @ (64 | 128), columns] = shape[..] else { return None };
        if self.warps != 4 || dtype.is_scale() {
            return None;
        }
        let of = [rows, columns];
        let layout = tensor_memory_register_layout(&of, of, 1, dtype.bits, 4, "32x32b", false).ok()?;
        Some(self.given_by_instruction(layout))
    }

    fn is_of_product(&self, layout: &Registers) -> bool {
        self.as_given(layout).is_some_and(|layout| matches!(*layout, Layout::Mma { .. }))
    }

    /// The left operand of a product may stay in registers.
    fn operand_in_registers(&mut self, frame: &Frame, expr: ExprId, args: &Args) {
        match args.get(0, "A").cloned() {
            // Elements of 16 bits are in the right threads already.
            Some(Value::Tensor(operand)) if self.is_of_product(&operand.layout) && operand.dtype.bits == 16 => {}
            Some(Value::Tensor(operand)) if self.is_of_product(&operand.layout) => {
                self.conversion(frame, expr, &operand, operand.dtype.bits);
            }
            // It may go through a buffer of its own, which is made where it is loaded.
            Some(Value::Tensor(_)) => {
                let reason = "what an operand of `async_dot` in registers takes of shared memory is not modelled";
                self.note(frame, expr, Reason::new(reason));
            }
            _ => {}
        }
    }
}

/// The arguments of an allocation. A descriptor may be told as a pointer, and its type is that of its elements: `desc.dtype`.
fn of_elements(frame: &Frame, call: ExprId, args: &Args) -> Args {
    let mut args = args.clone();
    let [_, dtype] = facts::written(frame, call, ["shape", "dtype"]);
    let is_of_value =
        dtype.is_some_and(|at| matches!(frame.ast.expr(at), Expr::Attribute { name, .. } if name == "dtype"));
    let named = args.named.iter_mut().find(|(name, _)| &**name == "dtype").map(|(_, value)| value);
    if let Some(Value::Dtype(dtype)) = named.or(args.positional.get_mut(1)).filter(|_| is_of_value) {
        *dtype = dtype.element();
    }
    args
}

/// A swizzle without an order goes by rows.
fn ordered(layout: &Rc<SharedLayout>, rank: usize) -> Rc<SharedLayout> {
    match &**layout {
        SharedLayout::Swizzled { order, cga } if order.is_empty() => {
            Rc::new(SharedLayout::Swizzled { order: (0..rank as u64).rev().collect(), cga: cga.clone() })
        }
        _ => layout.clone(),
    }
}

/// The shape and the type of what a product without an accumulator gives.
fn product(args: &Args) -> Option<(Vec<u64>, Dtype)> {
    let operand = |position, name| match args.get(position, name)? {
        Value::Shared(Shared { shape, dtype, .. }) | Value::Tensor(Tensor { shape, dtype, .. }) => {
            Some((shape.clone(), *dtype))
        }
        Value::TensorMemory(TensorMemory { shape, dtype, .. }) => Some((shape.clone(), *dtype)),
        _ => None,
    };
    let ((left, dtype), (right, _)) = (operand(0, "A")?, operand(1, "B")?);
    let (&[m, _], &[_, n]) = (left.as_slice(), right.as_slice()) else { return None };
    let sum = match args.get(9, "out_dtype") {
        Some(Value::Dtype(dtype)) => *dtype,
        _ => Dtype::named(if dtype.name.contains("int") { "int32" } else { "float32" }),
    };
    Some((vec![m, n], sum))
}

/// The rows that what is in tensor memory takes, where that is known.
fn rows(memory: &TensorMemory) -> Option<u32> {
    let bits = u64::from(memory.dtype.bits);
    let extent = match &memory.layout {
        Some(layout) => layout.extent(&memory.shape, bits),
        None => tensor_layout(&memory.shape, memory.dtype).extent(&memory.shape, bits),
    };
    extent.ok().map(|(_, rows)| rows)
}

fn is_tmem(storage: &Value) -> bool {
    matches!(storage, Value::Language(name) if &**name == "tmem")
}

/// The layout of an allocation in tensor memory: one block, or scales.
fn tensor_layout(shape: &[u64], dtype: Dtype) -> TensorMemoryLayout {
    if dtype.is_scale() {
        return TensorMemoryLayout::Scales { cga: Vec::new() };
    }
    let [m, n] = shape[shape.len().saturating_sub(2)..] else {
        return TensorMemoryLayout::Blocks {
            block: [0, 0],
            column_stride: 1,
            two_ctas: false,
            fp4_padded: false,
            cga: Vec::new(),
        };
    };
    TensorMemoryLayout::Blocks { block: [m, n], column_stride: 1, two_ctas: false, fp4_padded: false, cga: Vec::new() }
}

//! What takes memory: specs, buffers, barriers, CLC contexts.

use tilefit_syntax::ast::{Arg, Expr, ExprId};

use tilefit_python::diagnostics::Code;
use tilefit_python::eval::Constant;
use tilefit_python::finding::{Origin, Reason};

use super::super::kernel::{Backing, Buffer, BufferId, BufferKind, Known, Layout, Op, Pair, Spec, SpecId};
use super::super::language::{self, Dtype, Storage};
use super::{Frame, Front, Value, arguments};

const NUM: &str = "`num` must be a constexpr without introducing any `ast.Assign` nodes";
const NUM_BARRIERS: &str = "the number of barriers must be a constexpr";
const ARRIVALS: &str = "a number of arrivals must be a constexpr";

impl Front {
    /// The name for an allocation, and where it stands.
    pub(super) fn named(&mut self, frame: &Frame<'_>, expr: ExprId) -> (String, Origin) {
        match &mut self.naming {
            Some(naming) => {
                naming.count += 1;
                let name = match naming.count {
                    1 => naming.name.clone(),
                    count => format!("{}[{}]", naming.name, count - 1),
                };
                (name, naming.at)
            }
            None => ("(unnamed)".to_owned(), self.at(frame, expr)),
        }
    }

    pub(super) fn storage(&mut self, frame: &mut Frame<'_>, arg: Option<ExprId>) -> Known<Storage> {
        let Some(arg) = arg else { return Ok(Storage::Smem) };
        let value = self.settled(frame, arg);
        match &value {
            Value::Constant(Constant::Unknown(reason)) => Err(reason.clone()),
            Value::Constant(constant) if Storage::from_constant(constant).is_some() => {
                Storage::from_constant(constant).ok_or_else(|| Reason::new(String::new()))
            }
            other => {
                let message = format!("storage must be a tlx.storage_kind, got {}", other.type_name());
                self.refuse(frame, arg, Code::Rejected, message);
                Err(Reason::new("the storage is not a tlx.storage_kind"))
            }
        }
    }

    pub(super) fn storage_alias_spec(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let [storage_arg, size_arg] = arguments(args, ["storage", "buffer_size_bytes"]);
        let storage = self.storage(frame, storage_arg);
        if storage == Ok(Storage::SmemCluster) {
            let message = "smemCluster storage is not supported for storage_alias_spec".to_owned();
            self.refuse(frame, storage_arg.unwrap_or(expr), Code::Rejected, message);
        }
        let explicit = size_arg.and_then(|arg| match self.value(frame, arg) {
            Value::Constant(Constant::None) => None,
            Value::Constant(Constant::Int(bytes)) => match u64::try_from(bytes) {
                Ok(bytes) if bytes > 0 => Some(Ok(bytes)),
                _ => {
                    let message = format!("buffer_size_bytes must be positive, got {bytes}");
                    self.refuse(frame, arg, Code::Rejected, message);
                    Some(Err(Reason::new("`buffer_size_bytes` is not positive")))
                }
            },
            Value::Constant(Constant::Unknown(reason)) => Some(Err(reason)),
            _ => Some(Err(Reason::new("`buffer_size_bytes` is not an integer"))),
        });
        let (name, name_at) = self.named(frame, expr);
        let id = SpecId(self.kernel.specs.len() as u32);
        let (at, certain) = (self.at(frame, expr), self.uncertain.is_none());
        self.kernel.ops.push(Op::Spec(id));
        let is_number = matches!(explicit, Some(Ok(_)));
        let tensor_size =
            size_arg.filter(|&arg| is_number && self.mentions_tensor(frame, arg)).map(|arg| self.at(frame, arg));
        self.kernel.specs.push(Spec { name, at, name_at, storage, explicit, tensor_size, certain });
        Value::Spec(id)
    }

    pub(super) fn local_alloc(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let [shape, dtype, num, storage_arg, reuse, layout] =
            arguments(args, ["shape", "dtype", "num", "storage", "reuse", "layout"]);
        let (name, name_at) = self.named(frame, expr);
        // What stands inside of the call is not what the assignment names.
        let naming = self.naming.take();
        let shape = self.shape(frame, shape);
        let dtype = match dtype.map(|dtype| self.value(frame, dtype)) {
            Some(Value::Constant(Constant::Unknown(reason))) => Err(reason),
            Some(Value::Constant(constant)) => {
                Dtype::from_constant(&constant).ok_or_else(|| Reason::new("the element type is not a `tl.dtype`"))
            }
            _ => Err(Reason::new("the element type is missing")),
        };
        let num = self.count(frame, num, Some(NUM));
        let mut storage = self.storage(frame, storage_arg);
        let layout_value = layout.map(|layout| self.value(frame, layout));
        let layout_kind = match &layout_value {
            None | Some(Value::Constant(Constant::None)) => Layout::Default,
            Some(Value::Constant(Constant::Member(name))) if name == language::REORDERED => Layout::Reordered,
            Some(_) => Layout::Unread,
        };
        if let (Some(layout), Ok(kind)) = (layout.filter(|_| layout_kind != Layout::Default), &storage)
            && *kind != Storage::Smem
        {
            let message = "User-specified layout encoding is only supported for shared memory (smem)".to_owned();
            self.refuse(frame, layout, Code::Rejected, message);
        } else if let (Some(layout), Some(value)) = (layout.filter(|_| layout_kind == Layout::Unread), &layout_value)
            && value.reason().is_none()
            && value.type_name() != "object"
        {
            let message = format!("`layout` must be a tlx.shared_layout_encoding, got {}", value.type_name());
            self.refuse(frame, layout, Code::Rejected, message);
        }
        let backing = self.backing(frame, reuse, &mut storage);
        if let (Ok(Storage::SmemCluster), Some(storage_arg)) = (&storage, storage_arg) {
            let message =
                "an allocation cannot live in smemCluster: the compiler takes it for tensor memory; use smem or tmem"
                    .to_owned();
            self.refuse(frame, storage_arg, Code::Rejected, message);
        }
        self.naming = naming;
        let (at, certain) = (self.at(frame, expr), self.uncertain.is_none());
        self.add(Buffer {
            name,
            at,
            name_at,
            storage,
            shape,
            dtype,
            num,
            backing,
            kind: BufferKind::Data,
            pair: Pair::None,
            layout: layout_kind,
            certain,
            used: false,
            scales: false,
        })
    }

    pub(super) fn add(&mut self, buffer: Buffer) -> Value {
        let id = BufferId(self.kernel.buffers.len() as u32);
        self.kernel.ops.push(Op::Buffer(id));
        self.kernel.buffers.push(buffer);
        Value::Buffer { id, view: None }
    }

    pub(super) fn shape(&mut self, frame: &mut Frame<'_>, arg: Option<ExprId>) -> Known<Vec<u64>> {
        let Some(arg) = arg else { return Err(Reason::new("the shape is missing")) };
        match self.value(frame, arg) {
            Value::Constant(Constant::Tuple(extents) | Constant::List(extents)) => {
                extents.into_iter().map(|extent| self.extent(frame, arg, extent)).collect()
            }
            Value::Constant(Constant::Unknown(reason)) => Err(reason),
            _ => Err(Reason::new("the shape is not a tuple")),
        }
    }

    pub(super) fn extent(&mut self, frame: &Frame<'_>, arg: ExprId, extent: Constant) -> Known<u64> {
        match extent {
            Constant::Int(extent) => u64::try_from(extent).map_err(|_| {
                let message = format!("shape must have power-of-2 and non-zero dimensions; got {extent}");
                self.refuse(frame, arg, Code::InvalidShape, message);
                Reason::new(format!("an extent of the shape is {extent}"))
            }),
            Constant::Unknown(reason) => Err(reason),
            _ => Err(Reason::new("an extent of the shape is not an integer")),
        }
    }

    /// The number of buffers or barriers.
    ///
    /// `demand` is what the front end says where it is no constexpr.
    pub(super) fn count(&mut self, frame: &mut Frame<'_>, arg: Option<ExprId>, demand: Option<&str>) -> Known<u64> {
        let Some(arg) = arg else { return Err(Reason::new("the number of buffers is missing")) };
        let value = self.value(frame, arg);
        if let Some(demand) = demand {
            if self.mentions_tensor(frame, arg) {
                let why = match frame.ast.expr(arg) {
                    Expr::Call { .. } => "a value computed at run time is a tensor",
                    _ => "a number that is assigned to a plain name is a tensor; annotate the name with `tl.constexpr`",
                };
                self.refuse(frame, arg, Code::Rejected, format!("{demand}: {why}"));
            } else if let Some(name) = self.argument_in(frame, arg, &value) {
                let reason = format!(
                    "{demand}: `{name}` is an argument without `tl.constexpr`, and is one only where 1 or a constexpr is passed"
                );
                self.note(self.at(frame, arg), Reason::new(reason));
            }
        }
        match value {
            Value::Constant(Constant::Int(num)) if num > 0 => Ok(num.unsigned_abs()),
            Value::Constant(Constant::Int(num)) => {
                let message = format!("shape must have power-of-2 and non-zero dimensions; there are {num} buffers");
                self.refuse(frame, arg, Code::InvalidShape, message);
                Err(Reason::new(format!("the number of buffers is {num}")))
            }
            Value::Constant(Constant::Unknown(reason)) => Err(reason),
            _ => Err(Reason::new("the number of buffers is not an integer")),
        }
    }

    /// What an allocation reuses. One that is in another storage is taken to be where its backing is.
    pub(super) fn backing(
        &mut self,
        frame: &mut Frame<'_>,
        reuse: Option<ExprId>,
        storage: &mut Known<Storage>,
    ) -> Backing {
        let Some(reuse) = reuse else { return Backing::Own };
        match self.settled(frame, reuse) {
            Value::Constant(Constant::None) => Backing::Own,
            Value::Constant(Constant::Unknown(reason)) => Backing::Unknown(reason),
            Value::Spec(spec) => {
                let theirs = self.kernel.spec(spec).storage.clone();
                if let (Ok(theirs), Ok(ours)) = (theirs, storage.clone())
                    && theirs != ours
                {
                    *storage = Ok(theirs);
                    let message = format!(
                        "storage_alias_spec storage ({theirs}) doesn't match local_alloc storage ({ours}); pass `storage=tlx.storage_kind.{theirs}`"
                    );
                    self.refuse(frame, reuse, Code::StorageMismatch, message);
                }
                Backing::Spec(spec)
            }
            Value::Buffer { id, view } => {
                let theirs = self.kernel.buffer(id).storage.clone();
                if let (Ok(theirs), Ok(ours)) = (theirs, storage.clone())
                    && theirs != ours
                {
                    *storage = Ok(theirs);
                    let message = format!(
                        "reuse tensor has different storage: `{}` is in {theirs}, this allocation in {ours}",
                        self.kernel.buffer(id).name
                    );
                    self.refuse(frame, reuse, Code::StorageMismatch, message);
                }
                if view.is_some() {
                    let message = format!(
                        "LocalAliasOp must refer to a local_alloc or local_alias op: this is a view; reuse `{}` itself",
                        self.kernel.buffer(id).name
                    );
                    self.refuse(frame, reuse, Code::Rejected, message);
                }
                Backing::Alias(id)
            }
            other => {
                let message =
                    format!("reuse must be a buffered_tensor or storage_alias_spec, got {}", other.type_name());
                self.refuse(frame, reuse, Code::Rejected, message);
                Backing::Unknown(Reason::new("`reuse` is not a buffer"))
            }
        }
    }

    /// `tlx.alloc_barriers`, whose barriers wait for a given count of arrivals.
    pub(super) fn barriers(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let [num, arrivals] = arguments(args, ["num_barriers", "arrive_count"]);
        let arrivals = self.arrivals(frame, arrivals);
        self.barrier_array(frame, expr, num, arrivals)
    }

    /// `tlx.alloc_warp_barrier`, at which each thread of its warps arrives.
    pub(super) fn warp_barriers(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let [num, warps, arrivals] = arguments(args, ["num_barriers", "num_warps", "num_arrivals"]);
        let (warps, arrivals) = (self.arrivals(frame, warps), self.arrivals(frame, arrivals));
        let threads = warps.zip(arrivals).and_then(|(warps, arrivals)| warps.checked_mul(32)?.checked_mul(arrivals));
        self.barrier_array(frame, expr, num, threads)
    }

    /// A count that is 1 where nothing is said; `None` where it is not known.
    fn arrivals(&mut self, frame: &mut Frame<'_>, arg: Option<ExprId>) -> Option<u64> {
        match arg {
            Some(arg) => self.count(frame, Some(arg), Some(ARRIVALS)).ok(),
            None => Some(1),
        }
    }

    fn barrier_array(
        &mut self,
        frame: &mut Frame<'_>,
        expr: ExprId,
        num: Option<ExprId>,
        arrivals: Option<u64>,
    ) -> Value {
        let (name, name_at) = self.named(frame, expr);
        let naming = self.naming.take();
        let num = self.count(frame, num, Some(NUM_BARRIERS));
        self.naming = naming;
        let at = self.at(frame, expr);
        self.words(name, at, name_at, BufferKind::Barrier { arrivals }, num)
    }

    /// An array of one dimension in shared memory.
    fn words(&mut self, name: String, at: Origin, name_at: Origin, kind: BufferKind, num: Known<u64>) -> Value {
        self.add(Buffer {
            name,
            at,
            name_at,
            storage: Ok(Storage::Smem),
            shape: Ok(Vec::new()),
            dtype: Ok(if kind == BufferKind::Response { Dtype::RESPONSE } else { Dtype::BARRIER }),
            num,
            backing: Backing::Own,
            kind,
            pair: Pair::None,
            layout: Layout::Default,
            certain: self.uncertain.is_none(),
            used: true,
            scales: false,
        })
    }

    /// Two arrays of barriers and one of 16-byte responses, each as long as there are stages.
    pub(super) fn clc_context(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let (name, name_at) = self.named(frame, expr);
        let [consumers, stages] = arguments(args, ["num_consumers", "num_stages"]);
        let consumers = consumers.and_then(|consumers| self.count(frame, Some(consumers), None).ok());
        let stages = match stages {
            Some(stages) => self.count(frame, Some(stages), None),
            None => Ok(1),
        };
        let at = self.at(frame, expr);
        for (part, kind) in [
            ("empty", BufferKind::Barrier { arrivals: consumers }),
            ("full", BufferKind::Barrier { arrivals: Some(1) }),
            ("responses", BufferKind::Response),
        ] {
            self.words(format!("{name}.{part}"), at, name_at, kind, stages.clone());
        }
        Value::unknown("a CLC context")
    }
}

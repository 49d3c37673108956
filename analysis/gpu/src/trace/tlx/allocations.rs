//! What takes memory: specs, buffers, barriers, CLC contexts.

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Reason;
use tilefit_syntax::ast::{Expr, ExprId};

use super::super::super::language::Dtype;
use super::super::super::shared_layout::SharedLayout;
use super::super::super::tlx::kernel::{Backing, Buffer, BufferId, BufferKind, Known, Layout, Op, Pair, Spec, SpecId};
use super::super::super::tlx::language::Storage;
use super::super::calls::Args;
use super::super::value::Value;
use super::super::{Frame, Tracer};
use super::facts::{Fact, View, given, type_of, written};

const NUM: &str = "`num` must be a constexpr without introducing any `ast.Assign` nodes";
const NUM_BARRIERS: &str = "the number of barriers must be a constexpr";
const ARRIVALS: &str = "a number of arrivals must be a constexpr";

impl Tracer<'_> {
    fn storage(&mut self, frame: &Frame, value: Option<&Value>, at: ExprId) -> Known<Storage> {
        let Some(value) = value else { return Ok(Storage::Smem) };
        match (value, Storage::of_value(value)) {
            (_, Some(storage)) => Ok(storage),
            (Value::Unknown(reason), None) => Err(reason.clone()),
            (other, None) => {
                let message = format!("storage must be a tlx.storage_kind, got {}", self.type_name(other));
                self.refuse_memory(frame, at, Code::Rejected, message);
                Err(Reason::new("the storage is not a tlx.storage_kind"))
            }
        }
    }

    pub(super) fn add_spec(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> SpecId {
        let [storage_arg, size_arg] = written(frame, expr, ["storage", "buffer_size_bytes"]);
        let [storage, size] = given(args, ["storage", "buffer_size_bytes"]);
        let storage = self.storage(frame, storage, storage_arg.unwrap_or(expr));
        if storage == Ok(Storage::SmemCluster) {
            let message = "smemCluster storage is not supported for storage_alias_spec".to_owned();
            self.refuse_memory(frame, storage_arg.unwrap_or(expr), Code::Rejected, message);
        }
        let explicit = match size {
            None | Some(Value::None) => None,
            Some(Value::Int(bytes)) => match u64::try_from(*bytes) {
                Ok(bytes) if bytes > 0 => Some(Ok(bytes)),
                _ => {
                    let message = format!("buffer_size_bytes must be positive, got {bytes}");
                    self.refuse_memory(frame, size_arg.unwrap_or(expr), Code::Rejected, message);
                    Some(Err(Reason::new("`buffer_size_bytes` is not positive")))
                }
            },
            Some(other) => {
                Some(Err(self.reason_of(other).unwrap_or_else(|| Reason::new("`buffer_size_bytes` is not an integer"))))
            }
        };
        let (name, name_at) = self.name_of_allocation(frame, expr);
        let is_number = matches!(explicit, Some(Ok(_)));
        let tensor_size = size_arg.filter(|&arg| is_number && self.mentions_tensor(frame, arg));
        let tensor_size = tensor_size.map(|arg| self.shown_at(frame, arg));
        let (at, certain) = (self.shown_at(frame, expr), self.is_certain());
        let kernel = &mut self.facts.kernel;
        let id = SpecId(kernel.specs.len() as u32);
        kernel.ops.push(Op::Spec(id));
        kernel.specs.push(Spec { name, at, name_at, storage, explicit, tensor_size, certain });
        id
    }

    pub(super) fn add_allocation(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> BufferId {
        let names = ["shape", "dtype", "num", "storage", "reuse", "layout"];
        let [shape_arg, _, num_arg, storage_arg, reuse_arg, layout_arg] = written(frame, expr, names);
        let [shape, dtype, num, storage, reuse, layout] = given(args, names);
        let (name, name_at) = self.name_of_allocation(frame, expr);
        let shape = self.shape_of(frame, shape, shape_arg.unwrap_or(expr));
        let dtype = type_of(dtype);
        let num = match num {
            Some(num) => self.count(frame, num, num_arg.unwrap_or(expr), Some(NUM)),
            None => Err(Reason::new("the number of buffers is missing")),
        };
        let mut storage = self.storage(frame, storage, storage_arg.unwrap_or(expr));
        let said = layout.filter(|layout| !matches!(layout, Value::None));
        let layout = match said {
            None => Layout::Default,
            // Another order of the same bytes.
            Some(Value::SharedLayout(layout)) if !matches!(**layout, SharedLayout::Padded { .. }) => Layout::Reordered,
            Some(_) => Layout::Unread,
        };
        let layout_at = layout_arg.unwrap_or(expr);
        if said.is_some() && storage.as_ref().is_ok_and(|storage| *storage != Storage::Smem) {
            let message = "User-specified layout encoding is only supported for shared memory (smem)".to_owned();
            self.refuse_memory(frame, layout_at, Code::Rejected, message);
        } else if let Some(said) = said.filter(|said| layout == Layout::Unread && self.reason_of(said).is_none())
            && self.type_name(said) != "object"
        {
            let message = format!("`layout` must be a tlx.shared_layout_encoding, got {}", self.type_name(said));
            self.refuse_memory(frame, layout_at, Code::Rejected, message);
        }
        let backing = self.backing(frame, reuse, reuse_arg.unwrap_or(expr), &mut storage);
        if let (Ok(Storage::SmemCluster), Some(storage_arg)) = (&storage, storage_arg) {
            let message =
                "an allocation cannot live in smemCluster: the compiler takes it for tensor memory; use smem or tmem"
                    .to_owned();
            self.refuse_memory(frame, storage_arg, Code::Rejected, message);
        }
        self.add_buffer(Buffer {
            name,
            at: self.shown_at(frame, expr),
            name_at,
            storage,
            shape,
            dtype,
            num,
            backing,
            kind: BufferKind::Data,
            pair: Pair::None,
            layout,
            certain: self.is_certain(),
            used: false,
            scales: false,
        })
    }

    fn add_buffer(&mut self, buffer: Buffer) -> BufferId {
        let kernel = &mut self.facts.kernel;
        let id = BufferId(kernel.buffers.len() as u32);
        kernel.ops.push(Op::Buffer(id));
        kernel.buffers.push(buffer);
        id
    }

    fn shape_of(&mut self, frame: &Frame, shape: Option<&Value>, at: ExprId) -> Known<Vec<u64>> {
        let Some(shape) = shape else { return Err(Reason::new("the shape is missing")) };
        match shape.elements() {
            Some(extents) => extents.iter().map(|extent| self.extent_of(frame, extent, at)).collect(),
            None => Err(self.reason_of(shape).unwrap_or_else(|| Reason::new("the shape is not a tuple"))),
        }
    }

    fn extent_of(&mut self, frame: &Frame, extent: &Value, at: ExprId) -> Known<u64> {
        match extent {
            Value::Int(extent) => u64::try_from(*extent).map_err(|_| {
                let message = format!("shape must have power-of-2 and non-zero dimensions; got {extent}");
                self.refuse_memory(frame, at, Code::InvalidShape, message);
                Reason::new(format!("an extent of the shape is {extent}"))
            }),
            other => {
                Err(self.reason_of(other).unwrap_or_else(|| Reason::new("an extent of the shape is not an integer")))
            }
        }
    }

    /// The number of buffers or barriers. `demand`: what the front end says where it is no constexpr.
    fn count(&mut self, frame: &Frame, value: &Value, at: ExprId, demand: Option<&str>) -> Known<u64> {
        if let Some(demand) = demand {
            if self.mentions_tensor(frame, at) {
                let why = match frame.ast.expr(at) {
                    Expr::Call { .. } => "a value computed at run time is a tensor",
                    _ => "a number that is assigned to a plain name is a tensor; annotate the name with `tl.constexpr`",
                };
                self.refuse_memory(frame, at, Code::Rejected, format!("{demand}: {why}"));
            } else if let Some(name) = self.argument_in(frame, at, value) {
                let reason = format!(
                    "{demand}: `{name}` is an argument without `tl.constexpr`, and is one only where 1 or a constexpr is passed"
                );
                self.note_memory(frame, at, Reason::new(reason));
            }
        }
        match value {
            Value::Int(num) if *num > 0 => Ok(num.unsigned_abs()),
            Value::Int(num) => {
                let message = format!("shape must have power-of-2 and non-zero dimensions; there are {num} buffers");
                self.refuse_memory(frame, at, Code::InvalidShape, message);
                Err(Reason::new(format!("the number of buffers is {num}")))
            }
            other => {
                Err(self.reason_of(other).unwrap_or_else(|| Reason::new("the number of buffers is not an integer")))
            }
        }
    }

    /// An argument of the kernel that a number comes from, if it is not annotated as a constexpr. What is 1 is specialised to one.
    fn argument_in<'f>(&self, frame: &'f Frame, expr: ExprId, value: &Value) -> Option<&'f str> {
        let name = frame.ast.name(expr).filter(|_| frame.call.is_none())?;
        let is_argument = self.facts.kernel.params.iter().any(|param| param.name == name && !param.is_constexpr);
        (is_argument && !matches!(value, Value::Int(1))).then_some(name)
    }

    /// What an allocation reuses. One that is in another storage is taken to be where its backing is.
    fn backing(&mut self, frame: &Frame, reuse: Option<&Value>, at: ExprId, storage: &mut Known<Storage>) -> Backing {
        let Some(reuse) = reuse.filter(|reuse| !matches!(reuse, Value::None)) else { return Backing::Own };
        match (self.fact(reuse).cloned(), reuse) {
            (Some(Fact::Spec(spec)), _) => {
                let theirs = self.facts.kernel.spec(spec).storage.clone();
                if let (Ok(theirs), Ok(ours)) = (theirs, storage.clone())
                    && theirs != ours
                {
                    *storage = Ok(theirs);
                    let message = format!(
                        "storage_alias_spec storage ({theirs}) doesn't match local_alloc storage ({ours}); pass `storage=tlx.storage_kind.{theirs}`"
                    );
                    self.refuse_memory(frame, at, Code::StorageMismatch, message);
                }
                Backing::Spec(spec)
            }
            (Some(Fact::Buffers(views)), _) => {
                let [View { buffer, form }] = views.as_slice() else {
                    return Backing::Unknown(Reason::new("a condition is known at run time only"));
                };
                let (name, theirs) =
                    (&self.facts.kernel.buffer(*buffer).name, &self.facts.kernel.buffer(*buffer).storage);
                if let (Ok(theirs), Ok(ours)) = (theirs.clone(), storage.clone())
                    && theirs != ours
                {
                    *storage = Ok(theirs);
                    let message = format!(
                        "reuse tensor has different storage: `{name}` is in {theirs}, this allocation in {ours}"
                    );
                    self.refuse_memory(frame, at, Code::StorageMismatch, message);
                }
                if form.is_some() {
                    let name = &self.facts.kernel.buffer(*buffer).name;
                    let message = format!(
                        "LocalAliasOp must refer to a local_alloc or local_alias op: this is a view; reuse `{name}` itself"
                    );
                    self.refuse_memory(frame, at, Code::Rejected, message);
                }
                Backing::Alias(*buffer)
            }
            (_, Value::Unknown(reason)) => Backing::Unknown(reason.clone()),
            (_, other) => {
                let message =
                    format!("reuse must be a buffered_tensor or storage_alias_spec, got {}", self.type_name(other));
                self.refuse_memory(frame, at, Code::Rejected, message);
                Backing::Unknown(Reason::new("`reuse` is not a buffer"))
            }
        }
    }

    /// `tlx.alloc_barriers`, whose barriers wait for a given count of arrivals.
    pub(super) fn add_barriers(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> BufferId {
        let [arrivals] = self.arrivals(frame, expr, args, ["num_barriers", "arrive_count"], [1]);
        self.add_barrier_array(frame, expr, args, arrivals)
    }

    /// `tlx.alloc_warp_barrier`, at which each thread of its warps arrives.
    pub(super) fn add_warp_barriers(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> BufferId {
        let names = ["num_barriers", "num_warps", "num_arrivals"];
        let [warps, arrivals] = self.arrivals(frame, expr, args, names, [1, 2]);
        let threads = warps.zip(arrivals).and_then(|(warps, arrivals)| warps.checked_mul(32)?.checked_mul(arrivals));
        self.add_barrier_array(frame, expr, args, threads)
    }

    /// Counts that are 1 where nothing is said; `None` where one is not known.
    fn arrivals<const N: usize, const M: usize>(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        args: &Args,
        names: [&str; N],
        places: [usize; M],
    ) -> [Option<u64>; M] {
        let (at, values) = (written(frame, expr, names), given(args, names));
        places.map(|place| match values[place] {
            Some(value) => self.count(frame, value, at[place].unwrap_or(expr), Some(ARRIVALS)).ok(),
            None => Some(1),
        })
    }

    fn add_barrier_array(&mut self, frame: &Frame, expr: ExprId, args: &Args, arrivals: Option<u64>) -> BufferId {
        let (name, name_at) = self.name_of_allocation(frame, expr);
        let [at] = written(frame, expr, ["num_barriers"]);
        let num = match args.get(0, "num_barriers") {
            Some(num) => self.count(frame, num, at.unwrap_or(expr), Some(NUM_BARRIERS)),
            None => Err(Reason::new("the number of buffers is missing")),
        };
        self.add_words(frame, expr, (name, name_at), BufferKind::Barrier { arrivals }, num)
    }

    /// An array of one dimension in shared memory.
    fn add_words(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        (name, name_at): (String, tilefit_python::finding::Origin),
        kind: BufferKind,
        num: Known<u64>,
    ) -> BufferId {
        self.add_buffer(Buffer {
            name,
            at: self.shown_at(frame, expr),
            name_at,
            storage: Ok(Storage::Smem),
            shape: Ok(Vec::new()),
            dtype: Ok(if kind == BufferKind::Response { Dtype::RESPONSE } else { Dtype::BARRIER }),
            num,
            backing: Backing::Own,
            kind,
            pair: Pair::None,
            layout: Layout::Default,
            certain: self.is_certain(),
            used: true,
            scales: false,
        })
    }

    /// Two arrays of barriers and one of 16-byte responses, each as long as there are stages.
    pub(super) fn add_clc_context(&mut self, frame: &Frame, expr: ExprId, args: &Args) {
        let (name, name_at) = self.name_of_allocation(frame, expr);
        let names = ["num_consumers", "num_stages"];
        let [consumers, stages] = given(args, names);
        let [consumers_at, stages_at] = written(frame, expr, names);
        let consumers = consumers.and_then(|value| self.count(frame, value, consumers_at.unwrap_or(expr), None).ok());
        let stages = match stages {
            Some(value) => self.count(frame, value, stages_at.unwrap_or(expr), None),
            None => Ok(1),
        };
        for (part, kind) in [
            ("empty", BufferKind::Barrier { arrivals: consumers }),
            ("full", BufferKind::Barrier { arrivals: Some(1) }),
            ("responses", BufferKind::Response),
        ] {
            self.add_words(frame, expr, (format!("{name}.{part}"), name_at), kind, stages.clone());
        }
    }
}

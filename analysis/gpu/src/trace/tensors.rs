//! Members and methods of tensors, buffers, descriptors, layouts and types; what the kernel makes of tensors.

use std::rc::Rc;

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Reason;
use tilefit_syntax::ast::ExprId;

use super::super::language::Dtype;
use super::super::layouts::{self, Layout, inference};
use super::super::possible::MOST_ELEMENTS;
use super::super::program::{Effect, Kind, Op, Type, ValueId, elements};
use super::super::shared_layout::SharedLayout;
use super::calls::{Args, class_method, is_property};
use super::operators::LONGEST;
use super::registers::{Asked, narrow};
use super::value::{Opaque, Registers, Scalar, Shared, Tensor, TensorMemory, Value, unknown};
use super::{Dialect, Emitted, Frame, Tracer, identity, python};

impl Tracer<'_> {
    /// `value.name`
    pub(super) fn member(&mut self, frame: &mut Frame, expr: ExprId, value: &Value, name: &str) -> Value {
        let method = || Value::method(value, name);
        match (value, name) {
            (Value::Unknown(reason), _) => Value::Unknown(reason.clone()),
            (Value::Record(record), _) => {
                if let Some((_, field)) = record.fields.iter().find(|(field, _)| **field == *name) {
                    return field.clone();
                }
                match is_property(&record.class, name) {
                    true => self.method(frame, expr, value, name, Args::default()),
                    false if class_method(&record.class, name).is_some() => method(),
                    false => unknown(format!("`{}` has no `{name}`", record.class.name)),
                }
            }
            (Value::Class(class), "__name__") => Value::Str(class.name.clone()),
            (Value::Class(_), _) => method(),
            (Value::Language(path), "warp_size") if &**path == "current_target" => {
                Value::Int(i64::from(self.launch.hardware.lanes()))
            }
            (Value::Language(path), _) => self.language_value(&format!("{path}.{name}")),
            (_, "value") => value.clone(),
            (
                Value::Tensor(_) | Value::Shared(_) | Value::TensorMemory(_) | Value::Descriptor(_),
                "type" | "block_type",
            ) => Value::type_of(value),
            (Value::Scalar(scalar), "type" | "dtype" | "scalar") => match self.scalar_type(&scalar.clone()) {
                Ok(dtype) => Value::Dtype(dtype),
                Err(reason) => Value::Unknown(reason),
            },
            (Value::Tensor(tensor), "dtype" | "scalar")
                if tensor.dtype == Dtype::UNTYPED && self.launch.dialect == Dialect::Triton =>
            {
                Value::Dtype(self.any())
            }
            (Value::BlockPointer(pointer), "dtype" | "type") => Value::Dtype(pointer.base.dtype),
            (Value::TypeOf(of), _) => self.of_type(frame, expr, of, name),
            (Value::Tensor(tensor), "T") => {
                let order: Vec<u32> = (0..tensor.shape.len() as u32).rev().collect();
                self.permuted(frame, expr, &tensor.clone(), &order)
            }
            (Value::Dtype(dtype), _) => of_dtype(*dtype, name).unwrap_or_else(method),
            (Value::Scalar(_), "shape") => Value::tuple([]),
            (Value::Descriptor(descriptor), "shape" | "strides") => {
                let operands = [descriptor.id];
                let rank = descriptor.block.len();
                let part = |i: usize| {
                    let op = Emitted {
                        name: "descriptor shape",
                        effect: Effect::None,
                        operands: &operands,
                        of: Type::Scalar { bits: 32 },
                        identity: identity((name, i)),
                        kind: Kind::Plain,
                    };
                    Value::Scalar(Scalar { id: self.emit(frame, expr, op), dtype: Dtype::named("int32") })
                };
                Value::list((0..rank).map(part).collect::<Vec<_>>())
            }
            (Value::Tensor(_) | Value::Shared(_) | Value::TensorMemory(_) | Value::Descriptor(_), _) => {
                match of_shaped(value, name) {
                    Value::Unknown(_) => method(),
                    known => known,
                }
            }
            (Value::Registers(layout), _) => self.of_registers(layout, name),
            (Value::SharedLayout(layout), _) => of_shared_layout(layout, name).unwrap_or_else(method),
            (Value::TensorLayout(layout), _) => of_tensor_layout(layout, name).unwrap_or_else(method),
            _ => method(),
        }
    }

    fn of_type(&mut self, frame: &Frame, expr: ExprId, of: &Value, name: &str) -> Value {
        match (of, name) {
            (Value::Tensor(_) | Value::Descriptor(_), "bytes") => {
                let message = "the type of a block has no `bytes`; did you mean `nbytes`?".to_owned();
                self.refuse(frame, expr, Code::Rejected, message);
                unknown("`bytes` of the type of a block")
            }
            (Value::Tensor(_) | Value::Shared(_) | Value::TensorMemory(_) | Value::Descriptor(_), _) => {
                match (of_shaped(of, name), name) {
                    (Value::Unknown(_), "get_reg_layout") => Value::method(of, "get_reg_layout"),
                    (known, _) => known,
                }
            }
            _ => unknown("the type of something"),
        }
    }

    fn of_registers(&self, layout: &Registers, name: &str) -> Value {
        let ints =
            |values: &[u32]| Value::list(values.iter().map(|&value| Value::Int(i64::from(value))).collect::<Vec<_>>());
        let Registers::Known(layout) = self.resolved(layout) else { return unknown("a layout that is not known") };
        match (&*layout, name) {
            (Layout::Blocked { size_per_thread, .. }, "size_per_thread") => ints(size_per_thread),
            (Layout::Blocked { threads_per_warp, .. }, "threads_per_warp") => ints(threads_per_warp),
            (
                Layout::Blocked { warps_per_cta, .. }
                | Layout::Mma { warps_per_cta, .. }
                | Layout::Mfma { warps_per_cta, .. },
                "warps_per_cta",
            ) => ints(warps_per_cta),
            (Layout::Blocked { order, .. }, "order") => ints(order),
            (Layout::Mma { instr_shape, .. } | Layout::Mfma { instr_shape, .. }, "instr_shape") => ints(instr_shape),
            (Layout::Slice { parent, .. } | Layout::DotOperand { parent, .. }, "parent") => {
                Value::Registers(Registers::Known(parent.clone()))
            }
            (Layout::Slice { dim, .. }, "dim") => Value::Int(i64::from(*dim)),
            (_, "cga_layout") => Value::list([]),
            _ => unknown(format!("`{name}` of a layout")),
        }
    }

    /// `tensor[:, None]`: `kept` says of each index whether it is a dimension that there was.
    pub(super) fn indexed(&mut self, frame: &Frame, expr: ExprId, tensor: Tensor, kept: &[bool]) -> Value {
        let mut value = tensor;
        for (axis, _) in kept.iter().enumerate().filter(|(_, kept)| !**kept) {
            value = self.expand_dims(frame, expr, &value, axis);
        }
        Value::Tensor(value)
    }

    pub(super) fn expand_dims(&mut self, frame: &Frame, expr: ExprId, tensor: &Tensor, axis: usize) -> Tensor {
        let layout = self.expanded(&tensor.layout, axis as u32);
        let mut shape = (*tensor.shape).clone();
        shape.insert(axis.min(shape.len()), 1);
        // What is no slice of anything becomes one.
        let tensor = match (self.resolved(&tensor.layout), &layout) {
            (Registers::Loaded(key) | Registers::Chosen(key), Registers::Chosen(of)) if !self.is_slice(key, axis) => {
                &self.in_layout(frame, expr, tensor, identity(("slice", of)))
            }
            _ => tensor,
        };
        let view = self.viewed(frame, expr, "expand_dims", tensor, shape, layout);
        self.expanded_from.insert(view.id, (tensor.clone(), axis));
        view
    }

    /// The elements of a tensor in another form.
    pub(super) fn viewed(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        name: &'static str,
        tensor: &Tensor,
        shape: Vec<u64>,
        layout: Registers,
    ) -> Tensor {
        let op = Emitted {
            name,
            effect: Effect::None,
            operands: &[tensor.id],
            of: Type::Tensor,
            identity: identity((name, &shape)),
            kind: Kind::Plain,
        };
        let id = self.emit(frame, expr, op);
        self.note_view(id, name, tensor, &shape);
        // What is seen from the other side is converted before it is cast, whatever it is made of.
        let is_turned = name == "permute" && self.launch.dialect == Dialect::Triton;
        let is_thin = name == "expand_dims" && self.launch.dialect == Dialect::Triton;
        let known = self.widest.get(&tensor.id).copied();
        if let Some(widest) = known.or((is_turned || is_thin).then_some(tensor.dtype.bits)) {
            self.widest.insert(id, widest);
        }
        if (is_thin && known.is_none()) || self.thin.contains(&tensor.id) {
            self.thin.insert(id);
        }
        for marked in [&mut self.widened, &mut self.single] {
            if marked.contains(&tensor.id) {
                marked.insert(id);
            }
        }
        if let Some(&cost) = self.costs.get(&tensor.id) {
            self.costs.insert(id, cost);
        }
        Tensor { id, dtype: tensor.dtype, shape: Rc::new(shape), layout }
    }

    pub(super) fn permuted(&mut self, frame: &Frame, expr: ExprId, tensor: &Tensor, order: &[u32]) -> Value {
        let shape: Option<Vec<u64>> = order.iter().map(|&axis| tensor.shape.get(axis as usize).copied()).collect();
        let Some(shape) = shape.filter(|shape| shape.len() == tensor.shape.len()) else {
            return unknown("`order` is not a permutation of the dimensions");
        };
        let hardware = self.launch.hardware;
        let order: Vec<usize> = order.iter().map(|&axis| axis as usize).collect();
        let layout = self.inferred(&tensor.layout, identity(("permute", &order)), |layout| {
            inference::transpose(&narrow(&tensor.shape)?, layout, &order, &hardware)
        });
        Value::Tensor(self.viewed(frame, expr, "permute", tensor, shape, layout))
    }

    pub(super) fn reshaped(&mut self, frame: &Frame, expr: ExprId, tensor: &Tensor, shape: Vec<u64>) -> Value {
        if elements(&shape) != elements(&tensor.shape) {
            self.demand(frame, expr, false, || {
                format!("a tensor of shape {:?} has not as many elements as one of {shape:?}", tensor.shape)
            });
            return unknown("a shape of another number of elements");
        }
        if shape == *tensor.shape {
            return Value::Tensor(tensor.clone());
        }
        let hardware = self.launch.hardware;
        let layout = self.inferred(&tensor.layout, identity(("reshape", &tensor.shape, &shape)), |layout| {
            inference::reshape(&narrow(&tensor.shape)?, layout, &narrow(&shape)?, &hardware)
        });
        Value::Tensor(self.viewed(frame, expr, "reshape", tensor, shape, layout))
    }

    pub(super) fn broadcast_to(&mut self, frame: &Frame, expr: ExprId, value: &Value, shape: Vec<u64>) -> Value {
        match value {
            Value::Tensor(tensor) if *tensor.shape == shape => value.clone(),
            Value::Tensor(tensor) => {
                self.check_block(frame, expr, &shape);
                let layout = tensor.layout.clone();
                Value::Tensor(self.viewed(frame, expr, "broadcast", tensor, shape, layout))
            }
            Value::Scalar(scalar) if self.launch.dialect.leaves_layouts() && !shape.is_empty() => {
                self.splat(frame, expr, *scalar, shape)
            }
            _ => value.clone(),
        }
    }

    /// One number in each element.
    pub(super) fn splat(&mut self, frame: &Frame, expr: ExprId, scalar: Scalar, shape: Vec<u64>) -> Value {
        let info = self.axes_of(scalar.id).map(|info| info.splat(&shape));
        let filled = self.filled(frame, expr, "splat", &[scalar.id], (scalar.dtype, shape, Registers::Flexible), 0);
        if let Value::Tensor(Tensor { id, .. }) = &filled {
            self.note_axes(*id, info);
        }
        filled
    }

    /// Triton refuses larger blocks (`validate_block_shape`). It refuses extents that are not powers of two as well; its forks for other
    /// hardware take some of them.
    pub(super) fn check_block(&mut self, frame: &Frame, expr: ExprId, shape: &[u64]) {
        if !self.launch.dialect.leaves_layouts() {
            return;
        }
        if let Some(extent) = shape.iter().find(|extent| !extent.is_power_of_two()) {
            let reason =
                format!("an extent of {extent}, which is not a power of two: only some versions of Triton take it");
            self.note(frame, expr, Reason::new(reason));
        } else if elements(shape) > MOST_ELEMENTS {
            let message = format!("a block has at most {MOST_ELEMENTS} elements, and this one has {}", elements(shape));
            self.refuse(frame, expr, Code::InvalidOperand, message);
        }
    }

    /// A tensor of numbers that one number or nothing gives.
    pub(super) fn filled(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        name: &'static str,
        operands: &[ValueId],
        (dtype, shape, layout): (Dtype, Vec<u64>, Registers),
        what: u64,
    ) -> Value {
        self.check_block(frame, expr, &shape);
        let identity = identity((what, dtype, &shape, format!("{layout:?}")));
        let op = Emitted { name, effect: Effect::None, operands, of: Type::Tensor, identity, kind: Kind::Plain };
        let id = self.emit(frame, expr, op);
        Value::Tensor(Tensor { id, dtype, shape: Rc::new(shape), layout })
    }

    pub(super) fn tensor_method(
        &mut self,
        frame: &mut Frame,
        expr: ExprId,
        object: &Value,
        name: &str,
        args: Args,
    ) -> Value {
        match name {
            "to" | "cast" => {
                let dtype = match args.get(0, "dtype") {
                    Some(Value::Dtype(dtype)) => *dtype,
                    Some(Value::Unknown(reason)) => return self.unknown_type(frame, expr, object, reason.clone()),
                    _ => return unknown("a cast to a value that is not a type"),
                };
                if let (Value::Tensor(Tensor { dtype: is, .. }) | Value::Scalar(Scalar { dtype: is, .. }), false) =
                    (object, args.named("bitcast").and_then(Value::truth) == Some(true))
                    && *is == dtype
                    && dtype != Dtype::ANY
                {
                    return object.clone();
                }
                match object {
                    Value::Int(_) | Value::Bool(_) | Value::Float(_) => {
                        let operand = self.constant(frame, expr, object);
                        let op = Emitted {
                            name: "constant",
                            effect: Effect::None,
                            operands: &[operand],
                            of: dtype.scalar_type(),
                            identity: identity(dtype),
                            kind: Kind::Constant,
                        };
                        Value::Scalar(Scalar { id: self.emit(frame, expr, op), dtype })
                    }
                    _ if args.named("bitcast").and_then(Value::truth) == Some(true) => {
                        self.elementwise(frame, expr, "bitcast", std::slice::from_ref(object), Some(dtype))
                    }
                    _ => {
                        let cast = self.cast(frame, expr, object, dtype);
                        if let (Value::Tensor(Tensor { id, .. }), Some(name)) = (&cast, self.type_of_what(frame, expr))
                            && dtype == Dtype::ANY
                        {
                            self.led.insert(*id, name);
                        }
                        cast
                    }
                }
            }
            "bit_length" => match object.int() {
                Some(value) => Value::Int(i64::from(u64::BITS - value.unsigned_abs().leading_zeros())),
                None => unknown("the bits of something"),
            },
            "is_canceled" => {
                self.scalar(frame, expr, "is_canceled", Dtype::named("int1"), std::slice::from_ref(object))
            }
            "program_id" if matches!(object, Value::Scalar(_)) => {
                self.scalar(frame, expr, "clc program_id", Dtype::named("int32"), std::slice::from_ref(object))
            }
            _ => {
                let mut with_self = args;
                with_self.positional.insert(0, object.clone());
                self.language_call(frame, expr, name, with_self)
            }
        }
    }

    /// A tensor whose element type is not known, which matters only where memory depends on it.
    fn unknown_type(&mut self, _: &Frame, _: ExprId, _: &Value, reason: Reason) -> Value {
        Value::Unknown(reason)
    }

    pub(super) fn view_at(&mut self, frame: &Frame, expr: ExprId, value: &Value, index: &Value) -> Value {
        if let Value::Scalar(scalar) = index
            && !matches!(scalar.dtype, Dtype::UNTYPED)
            && scalar.dtype.name != "int32"
        {
            let message = format!("indices are int32, and this one is {}", scalar.dtype);
            self.refuse(frame, expr, Code::InvalidOperand, message);
        }
        let fact = self.fact_of_element(frame, expr, value, index);
        let index = self.operands(frame, expr, std::slice::from_ref(index));
        let element = self.element_at(frame, expr, value, &index);
        self.with_fact(element, fact)
    }

    fn element_at(&mut self, frame: &Frame, expr: ExprId, value: &Value, index: &[ValueId]) -> Value {
        match value {
            Value::Shared(shared) => {
                let Some((_, shape)) = shared.shape.split_first() else { return unknown("an index into a scalar") };
                // In TLX an element of a list is a list of one.
                let shape = if self.launch.dialect.leaves_layouts() && shape.is_empty() { &[1] } else { shape };
                if let Some(layout) = shared.layout.clone() {
                    self.check_rank(frame, expr, shape, &layout);
                }
                self.view(frame, expr, "index", shared, index, shape.to_vec(), shared.dtype, shared.layout.clone())
            }
            Value::TensorMemory(memory) => {
                let Some((_, shape)) = memory.shape.split_first() else { return unknown("an index into a scalar") };
                self.tensor_view(
                    frame,
                    expr,
                    "index",
                    memory,
                    index,
                    shape.to_vec(),
                    memory.dtype,
                    memory.layout.clone(),
                )
            }
            // One of the descriptors that are allocated together.
            Value::Scalar(scalar) if scalar.dtype.is_pointer() => {
                self.scalar(frame, expr, "descriptor of several", scalar.dtype, std::slice::from_ref(value))
            }
            Value::Opaque(Opaque { reason: Some(reason), .. }) => Value::Unknown(reason.clone()),
            _ => unknown("an index into something that has none"),
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn view(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        name: &'static str,
        base: &Shared,
        with: &[ValueId],
        shape: Vec<u64>,
        dtype: Dtype,
        layout: Option<Rc<SharedLayout>>,
    ) -> Value {
        let mut operands = vec![base.id];
        operands.extend(with);
        let of = Type::Shared { rank: shape.len() as u32 };
        let identity = identity((name, &shape, dtype, format!("{layout:?}")));
        let op = Emitted { name, effect: Effect::None, operands: &operands, of, identity, kind: Kind::View };
        Value::Shared(Shared { id: self.emit(frame, expr, op), dtype, shape: Rc::new(shape), layout })
    }

    #[allow(clippy::too_many_arguments)]
    fn tensor_view(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        name: &'static str,
        base: &TensorMemory,
        with: &[ValueId],
        shape: Vec<u64>,
        dtype: Dtype,
        layout: Option<Rc<super::super::shared_layout::TensorMemoryLayout>>,
    ) -> Value {
        let mut operands = vec![base.id];
        operands.extend(with);
        let kind = if name == "slice" { Kind::ShortView } else { Kind::View };
        let identity = identity((name, &shape, dtype, format!("{layout:?}")));
        let op = Emitted { name, effect: Effect::None, operands: &operands, of: Type::TensorMemory, identity, kind };
        Value::TensorMemory(TensorMemory { id: self.emit(frame, expr, op), dtype, shape: Rc::new(shape), layout })
    }

    pub(super) fn memory_method(
        &mut self,
        frame: &mut Frame,
        expr: ExprId,
        object: &Value,
        name: &str,
        args: Args,
    ) -> Value {
        match (object, name) {
            (_, "set_buffer_overlap") => {
                // Where the members of a spec lie is found elsewhere: they use its memory, and no more of it.
                self.set_buffer_overlap(frame, expr, object, &args);
                Value::None
            }
            (_, "index") => match args.get(0, "index") {
                Some(index) => self.view_at(frame, expr, object, &index.clone()),
                None => unknown("`index` of nothing"),
            },
            (Value::Shared(shared), _) => self.shared_method(frame, expr, &shared.clone(), name, args),
            (Value::TensorMemory(memory), _) => self.tensor_memory_method(frame, expr, &memory.clone(), name, args),
            _ => unknown("a method of something"),
        }
    }

    fn shared_method(&mut self, frame: &mut Frame, expr: ExprId, shared: &Shared, name: &str, args: Args) -> Value {
        let object = Value::Shared(shared.clone());
        match name {
            "load" => {
                let layout = self.registers_of(args.get(0, "layout"));
                self.loaded(frame, expr, "local_load", shared.id, (shared.dtype, (*shared.shape).clone(), layout))
            }
            "store" => {
                let mut operands = vec![shared.id];
                operands.extend(self.operands(frame, expr, &args.all()));
                self.effect(frame, expr, "local_store", operands);
                Value::None
            }
            "gather" => match args.get(0, "indices") {
                Some(Value::Tensor(indices)) => {
                    let (shape, layout) = ((*indices.shape).clone(), indices.layout.clone());
                    let operands = [shared.id, indices.id];
                    let op = Emitted {
                        name: "local_gather",
                        effect: Effect::Reads,
                        operands: &operands,
                        of: Type::Tensor,
                        identity: identity(&shape),
                        kind: Kind::Plain,
                    };
                    let id = self.emit(frame, expr, op);
                    Value::Tensor(Tensor { id, dtype: shared.dtype, shape: Rc::new(shape), layout })
                }
                _ => unknown("indices that are not a tensor"),
            },
            // It writes nothing.
            "_keep_alive" => {
                self.effect(frame, expr, "keep_alive", vec![shared.id]);
                Value::None
            }
            "scatter" => {
                let mut operands = vec![shared.id];
                operands.extend(self.operands(frame, expr, &args.all()));
                self.effect(frame, expr, "local_scatter", operands);
                Value::None
            }
            name if name.starts_with("atomic_scatter_") => self.atomic_scatter(frame, expr, shared, &args),
            "slice" => {
                let (start, length) =
                    (args.get(0, "start").and_then(Value::int), args.get(1, "length").and_then(Value::int));
                let dim = args.get(2, "dim").map_or(Some(0), Value::int).and_then(|dim| usize::try_from(dim).ok());
                let (Some(start), Some(length), Some(dim)) = (start, length.and_then(|it| u64::try_from(it).ok()), dim)
                else {
                    return self.unknown_view(frame, expr, &object, "the bounds of a slice are not known");
                };
                let mut shape = (*shared.shape).clone();
                match shape.get_mut(dim) {
                    Some(extent) => *extent = length,
                    None => return self.unknown_view(frame, expr, &object, "a slice of a dimension that there is not"),
                }
                let start = self.constant(frame, expr, &Value::Int(start));
                self.view(frame, expr, "slice", shared, &[start], shape, shared.dtype, shared.layout.clone())
            }
            "permute" => {
                let order = args.get(0, "order").and_then(Value::extents);
                let shape = order.as_ref().and_then(|order| {
                    order.iter().map(|&axis| shared.shape.get(axis as usize).copied()).collect::<Option<Vec<_>>>()
                });
                let Some(shape) = shape else {
                    return self.unknown_view(frame, expr, &object, "an order that is not known");
                };
                let layout = shared.layout.as_ref().map(|layout| transposed(layout));
                self.view(frame, expr, "permute", shared, &[], shape, shared.dtype, layout.flatten())
            }
            "reshape" => match args.get(0, "shape").and_then(Value::extents) {
                Some(shape) => {
                    let layout = shared.layout.clone().filter(|layout| layout.rank() == shape.len());
                    self.view(frame, expr, "reshape", shared, &[], shape, shared.dtype, layout)
                }
                None => self.unknown_view(frame, expr, &object, "a shape that is not known"),
            },
            "reinterpret" | "_reinterpret" => {
                let dtype = match args.get(0, "dtype") {
                    Some(Value::Dtype(dtype)) => *dtype,
                    _ => shared.dtype,
                };
                let shape = args.get(1, "shape").and_then(Value::extents).unwrap_or_else(|| (*shared.shape).clone());
                let layout = match args.get(2, "layout") {
                    Some(Value::SharedLayout(layout)) => Some(layout.clone()),
                    Some(Value::None) | None => shared.layout.clone(),
                    _ => None,
                };
                self.view(frame, expr, "reinterpret", shared, &[], shape, dtype, layout)
            }
            _ => {
                let mut with_self = args;
                with_self.positional.insert(0, object);
                let reason = Reason::new(format!("`{name}` of a buffer is not modelled"));
                self.unknown_call(frame, expr, reason, &with_self)
            }
        }
    }

    /// A view; only its buffer is known.
    fn unknown_view(&mut self, frame: &Frame, expr: ExprId, object: &Value, reason: &str) -> Value {
        let args = Args { positional: vec![object.clone()], named: Vec::new() };
        self.unknown_call(frame, expr, Reason::new(reason), &args)
    }

    fn atomic_scatter(&mut self, frame: &Frame, expr: ExprId, shared: &Shared, args: &Args) -> Value {
        let values = args.all();
        // All operands are broadcast to the shape of the indices, or to a larger one.
        let tensors = values.iter().filter_map(|value| match value {
            Value::Tensor(tensor) => Some(tensor.clone()),
            _ => None,
        });
        let mut shape: Option<Vec<u64>> = None;
        let mut layout = None;
        for tensor in tensors {
            shape = match shape {
                None => Some((*tensor.shape).clone()),
                Some(shape) => super::operators::broadcast(&shape, &tensor.shape),
            };
            layout = Some(tensor.layout);
        }
        let (Some(shape), Some(layout)) = (shape, layout) else { return unknown("indices that are not a tensor") };
        let mut operands = vec![shared.id];
        operands.extend(self.operands(frame, expr, &values));
        let bits = shared.dtype.bits;
        let kind = self.asks(Asked::Atomic { shape: shape.clone(), bits, layout: layout.clone() });
        let op = Emitted {
            name: "atomic_scatter",
            effect: Effect::Writes,
            operands: &operands,
            of: Type::Tensor,
            identity: 0,
            kind,
        };
        let id = self.emit(frame, expr, op);
        Value::Tensor(Tensor { id, dtype: shared.dtype, shape: Rc::new(shape), layout })
    }

    /// A tensor that is read from a buffer.
    pub(super) fn loaded(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        name: &'static str,
        buffer: ValueId,
        (dtype, shape, layout): (Dtype, Vec<u64>, Registers),
    ) -> Value {
        let identity = identity((&shape, dtype, format!("{layout:?}")));
        let op =
            Emitted { name, effect: Effect::Reads, operands: &[buffer], of: Type::Tensor, identity, kind: Kind::Plain };
        let id = self.emit(frame, expr, op);
        self.costs.insert(id, super::operators::EXPENSIVE * u64::from(dtype.bits.max(8)));
        Value::Tensor(Tensor { id, dtype, shape: Rc::new(shape), layout })
    }

    pub(super) fn registers_of(&self, layout: Option<&Value>) -> Registers {
        match layout {
            Some(Value::Registers(layout)) => layout.clone(),
            Some(Value::Unknown(reason)) => Registers::Unknown(reason.clone()),
            _ => Registers::Unknown(Reason::new("a layout that is not known")),
        }
    }

    fn tensor_memory_method(
        &mut self,
        frame: &mut Frame,
        expr: ExprId,
        memory: &TensorMemory,
        name: &str,
        args: Args,
    ) -> Value {
        let object = Value::TensorMemory(memory.clone());
        match name {
            "load" | "load_min" | "load_max" => {
                let layout = match args.get(0, "layout") {
                    None | Some(Value::None) => self.register_layout(memory, None, "32x32b"),
                    layout => self.registers_of(layout),
                };
                let shape = (*memory.shape).clone();
                let all = self.loaded(frame, expr, "tmem_load", memory.id, (memory.dtype, shape, layout.clone()));
                if name == "load" {
                    return all;
                }
                let rows = vec![memory.shape.first().copied().unwrap_or(1)];
                let layout = self.sliced(&layout, 1);
                let reduced = self.loaded(frame, expr, "tmem_load_reduced", memory.id, (memory.dtype, rows, layout));
                Value::tuple([all, reduced])
            }
            "store" => {
                let mut operands = vec![memory.id];
                operands.extend(self.operands(frame, expr, &args.all()));
                self.effect(frame, expr, "tmem_store", operands);
                Value::None
            }
            "get_reg_layout" => {
                let warps = args.get(0, "num_warps").and_then(Value::int).and_then(|warps| u64::try_from(warps).ok());
                let variant = match args.get(1, "instr_variant") {
                    Some(Value::Str(variant)) => variant.to_string(),
                    _ => "32x32b".to_owned(),
                };
                Value::Registers(self.register_layout(memory, warps, &variant))
            }
            "slice" => {
                let (start, length) =
                    (args.get(0, "start").and_then(Value::int), args.get(1, "length").and_then(Value::int));
                let dim = args.get(2, "dim").map_or(Some(1), Value::int).and_then(|dim| usize::try_from(dim).ok());
                let (Some(start), Some(length), Some(dim)) = (start, length.and_then(|it| u64::try_from(it).ok()), dim)
                else {
                    return self.unknown_view(frame, expr, &object, "the bounds of a slice are not known");
                };
                let mut shape = (*memory.shape).clone();
                if let Some(extent) = shape.get_mut(dim) {
                    *extent = length;
                }
                let start = self.constant(frame, expr, &Value::Int(start));
                self.tensor_view(frame, expr, "slice", memory, &[start], shape, memory.dtype, memory.layout.clone())
            }
            "reinterpret" | "_reinterpret" => {
                let dtype = match args.get(0, "dtype") {
                    Some(Value::Dtype(dtype)) => *dtype,
                    _ => memory.dtype,
                };
                let shape = args.get(1, "shape").and_then(Value::extents).unwrap_or_else(|| (*memory.shape).clone());
                let layout = match args.get(2, "layout") {
                    Some(Value::TensorLayout(layout)) => Some(layout.clone()),
                    Some(Value::None) | None => memory.layout.clone(),
                    _ => None,
                };
                self.tensor_view(frame, expr, "reinterpret", memory, &[], shape, dtype, layout)
            }
            _ => {
                let mut with_self = args;
                with_self.positional.insert(0, object);
                let reason = Reason::new(format!("`{name}` of tensor memory is not modelled"));
                self.unknown_call(frame, expr, reason, &with_self)
            }
        }
    }

    /// The layout of registers that a buffer of tensor memory is loaded into.
    fn register_layout(&self, memory: &TensorMemory, warps: Option<u64>, variant: &str) -> Registers {
        use super::super::shared_layout::TensorMemoryLayout as Of;
        let found = || {
            let Some(Of::Blocks { block, column_stride, two_ctas, .. }) = memory.layout.as_deref() else {
                return Err(Reason::new("the layout of a load from tensor memory"));
            };
            let shape = narrow(&memory.shape)?;
            let block = [block[0] as u32, block[1] as u32];
            let warps = warps.unwrap_or(self.warps) as u32;
            let stride = *column_stride as u32;
            layouts::tensor_memory_register_layout(&shape, block, stride, memory.dtype.bits, warps, variant, *two_ctas)
        };
        match found() {
            Ok(layout) => Registers::Known(std::sync::Arc::new(layout)),
            Err(reason) => Registers::Unknown(reason),
        }
    }

    pub(super) fn value_method(
        &mut self,
        frame: &mut Frame,
        expr: ExprId,
        object: &Value,
        name: &str,
        args: Args,
    ) -> Value {
        let all = args.all();
        match (object, name) {
            (Value::Dtype(dtype), _) => {
                dtype_method(*dtype, name).unwrap_or_else(|| unknown(format!("`{name}` of a type")))
            }
            (Value::List(values), "append") => {
                let _ = values;
                unknown("a list that is changed in place")
            }
            (Value::Dict(pairs), "get") => {
                let found = all.first().and_then(|key| pairs.iter().find(|(known, _)| known.equals(key) == Some(true)));
                found.map_or_else(|| all.get(1).cloned().unwrap_or(Value::None), |(_, value)| value.clone())
            }
            (Value::Dict(pairs), "items") => Value::list(
                pairs.iter().map(|(key, value)| Value::tuple([key.clone(), value.clone()])).collect::<Vec<_>>(),
            ),
            (Value::Dict(pairs), "keys") => Value::list(pairs.iter().map(|(key, _)| key.clone()).collect::<Vec<_>>()),
            (Value::Dict(pairs), "values") => {
                Value::list(pairs.iter().map(|(_, value)| value.clone()).collect::<Vec<_>>())
            }
            (Value::Str(text), "startswith") => match all.first() {
                Some(Value::Str(prefix)) => Value::Bool(text.starts_with(&**prefix)),
                _ => unknown("a prefix that is not known"),
            },
            (Value::Str(text), "lower") => Value::str(&text.to_lowercase()),
            (Value::Str(text), "upper") => Value::str(&text.to_uppercase()),
            (Value::Str(text), "format") => {
                let put = |text: String, value: &Value| match text.len() {
                    0..=LONGEST => text.replacen("{}", &python::text(value), 1),
                    _ => text,
                };
                python::plain(all.iter().fold(text.to_string(), put))
            }
            (Value::Tuple(_) | Value::List(_), "index") => {
                let found = object.elements().and_then(|all_of| {
                    all_of.iter().position(|one| all.first().is_some_and(|it| it.equals(one) == Some(true)))
                });
                found.map_or_else(|| unknown("an element that is not in a list"), |at| Value::Int(at as i64))
            }
            (Value::BlockPointer(_), "advance") => {
                let mut with_self = args;
                with_self.positional.insert(0, object.clone());
                self.language_call(frame, expr, name, with_self)
            }
            (Value::Descriptor(_), _) => {
                let mut with_self = args;
                with_self.positional.insert(0, object.clone());
                self.descriptor_method(frame, expr, name, with_self)
            }
            _ => self.unknown_call(frame, expr, Reason::new(format!("`{name}` is not modelled")), &args),
        }
    }

    /// An operation whose results are as its operands are, such as one that waits for them.
    pub(super) fn passed_on(&mut self, frame: &Frame, expr: ExprId, name: &'static str, value: &Value) -> Value {
        let mut leaves = Vec::new();
        value.leaves(&mut leaves);
        let results: Vec<ValueId> = leaves.iter().map(|&(_, of)| self.new_value(of)).collect();
        let op = Op {
            name,
            at: self.site(frame, expr),
            effect: Effect::Writes,
            operands: leaves.iter().map(|&(id, _)| id).collect(),
            results: results.clone(),
            identity: 0,
            kind: Kind::View,
        };
        self.push(op);
        value.with_leaves(&mut results.into_iter())
    }
}

/// Members that a thing has and its type.
fn of_shaped(value: &Value, name: &str) -> Value {
    let (shape, dtype): (&[u64], Dtype) = match value {
        Value::Tensor(tensor) => (&tensor.shape, tensor.dtype),
        Value::Shared(shared) => (&shared.shape, shared.dtype),
        Value::TensorMemory(memory) => (&memory.shape, memory.dtype),
        Value::Descriptor(descriptor) => (&descriptor.block, descriptor.dtype),
        _ => return unknown("something without a shape"),
    };
    let elements = elements(shape);
    match name {
        "shape" | "block_shape" => Value::ints(shape),
        "dtype" | "element_ty" | "scalar" => Value::Dtype(dtype),
        "rank" => Value::Int(shape.len() as i64),
        "numel" => Value::Int(elements as i64),
        "nbytes" => Value::Int((elements.saturating_mul(u64::from(dtype.bits)) / 8) as i64),
        "nbytes_per_cta" => match value {
            Value::Shared(Shared { layout: Some(layout), .. })
            | Value::Descriptor(super::value::Descriptor { layout: Some(layout), .. }) => {
                match layout.size(shape, u64::from(dtype.bits)) {
                    Ok(bytes) => Value::Int(bytes as i64),
                    Err(reason) => Value::Unknown(reason),
                }
            }
            _ => unknown("the bytes of something whose layout is not known"),
        },
        "layout" => match value {
            Value::Tensor(tensor) => Value::Registers(tensor.layout.clone()),
            Value::Shared(Shared { layout: Some(layout), .. })
            | Value::Descriptor(super::value::Descriptor { layout: Some(layout), .. }) => {
                Value::SharedLayout(layout.clone())
            }
            Value::TensorMemory(TensorMemory { layout: Some(layout), .. }) => Value::TensorLayout(layout.clone()),
            _ => unknown("a layout that is not known"),
        },
        _ => unknown(format!("`{name}` of something with a shape")),
    }
}

fn of_dtype(dtype: Dtype, name: &str) -> Option<Value> {
    Some(match name {
        "primitive_bitwidth" | "int_bitwidth" | "fp_mantissa_width" | "itemsize" | "name" if dtype == Dtype::ANY => {
            unknown("the element type is not known")
        }
        "primitive_bitwidth" | "int_bitwidth" | "fp_mantissa_width" => Value::Int(i64::from(dtype.bits)),
        "itemsize" => Value::Int(dtype.bytes() as i64),
        "element_ty" => Value::Dtype(dtype.element()),
        "scalar" | "dtype" => Value::Dtype(dtype),
        "name" => Value::str(dtype.mlir),
        _ => return None,
    })
}

fn dtype_method(dtype: Dtype, name: &str) -> Option<Value> {
    let is_int = dtype.name.starts_with("int") || dtype.name.starts_with("uint");
    if dtype == Dtype::ANY && name.starts_with("is_") {
        return Some(unknown("the element type is not known"));
    }
    Some(Value::Bool(match name {
        "is_fp8" => dtype.is_float8(),
        "is_floating" => dtype.is_floating(),
        "is_int" => is_int,
        "is_bf16" => dtype.name == "bfloat16",
        "is_fp8e4nv" | "is_fp8e4b8" | "is_fp8e4b15" | "is_fp8e5" | "is_fp8e5b16" | "is_fp16" | "is_fp32"
        | "is_fp64" => dtype.name.strip_prefix("float") == name.strip_prefix("is_fp"),
        "is_int8" | "is_int16" | "is_int32" | "is_int64" | "is_uint8" | "is_uint16" | "is_uint32" | "is_uint64" => {
            Some(dtype.name) == name.strip_prefix("is_")
        }
        "is_int1" | "is_bool" => dtype.bits == 1,
        "is_ptr" => dtype.is_pointer(),
        "is_int_signed" => dtype.name.starts_with("int"),
        "is_int_unsigned" => dtype.name.starts_with("uint"),
        "is_standard_floating" => dtype.is_floating() && dtype.bits >= 16,
        "is_block" => false,
        _ => return None,
    }))
}

fn bases(cga: &[Vec<u64>]) -> Value {
    Value::list(cga.iter().map(|basis| Value::ints(basis)).collect::<Vec<_>>())
}

fn of_shared_layout(layout: &SharedLayout, name: &str) -> Option<Value> {
    Some(match (layout, name) {
        (_, "cga_layout") => bases(layout.cga()),
        (_, "rank") => Value::Int(layout.rank() as i64),
        (SharedLayout::Nvmma(layout), "swizzle_byte_width") => Value::Int(layout.swizzle as i64),
        (SharedLayout::Nvmma(layout), "element_bitwidth") => Value::Int(layout.element_bits as i64),
        (SharedLayout::Nvmma(layout), "transposed") => Value::Bool(layout.transposed),
        (SharedLayout::Nvmma(layout), "fp4_padded") => Value::Bool(layout.fp4_padded),
        (SharedLayout::Swizzled { order, .. }, "order") => Value::ints(order),
        _ => return None,
    })
}

fn of_tensor_layout(layout: &super::super::shared_layout::TensorMemoryLayout, name: &str) -> Option<Value> {
    use super::super::shared_layout::TensorMemoryLayout as Of;
    let (Of::Blocks { cga, .. } | Of::Scales { cga }) = layout;
    Some(match (layout, name) {
        (_, "cga_layout") => bases(cga),
        (Of::Blocks { block, .. }, "block") => Value::ints(block),
        (Of::Blocks { column_stride, .. }, "col_stride") => Value::Int(*column_stride as i64),
        (Of::Blocks { two_ctas, .. }, "two_ctas") => Value::Bool(*two_ctas),
        (Of::Blocks { fp4_padded, .. }, "fp4_padded") => Value::Bool(*fp4_padded),
        _ => return None,
    })
}

/// A layout of a buffer of two dimensions the other way round.
fn transposed(layout: &SharedLayout) -> Option<Rc<SharedLayout>> {
    match layout {
        SharedLayout::Nvmma(nvmma) if nvmma.rank == 2 => {
            let cga = nvmma.cga.iter().map(|basis| basis.iter().rev().copied().collect()).collect();
            let transposed = super::super::shared_layout::Nvmma { transposed: !nvmma.transposed, cga, ..nvmma.clone() };
            Some(Rc::new(SharedLayout::Nvmma(transposed)))
        }
        SharedLayout::Swizzled { order, cga } if order.len() == 2 => {
            let order = order.iter().map(|&dim| 1 - dim.min(1)).collect();
            let cga = cga.iter().map(|basis| basis.iter().rev().copied().collect()).collect();
            Some(Rc::new(SharedLayout::Swizzled { order, cga }))
        }
        _ => None,
    }
}

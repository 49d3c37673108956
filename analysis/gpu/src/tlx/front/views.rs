//! Views of buffers: what each looks like, and whether it lies in what it views.
//!
//! The conditions are those that both compilers refuse, the public wheel and the fork; what only one of them refuses is let pass.
//! A view of a view counts from the view.

use tilefit_syntax::ast::{Arg, ExprId};

use tilefit_python::diagnostics::Code;
use tilefit_python::eval::Constant;
use tilefit_python::finding::{Finding, Reason};

use super::super::kernel::{BufferId, BufferKind, Index, IndexValue, Known, Layout, Op};
use super::super::language::{Dtype, Storage};
use super::{Frame, Front, Value, arguments};

/// What a view looks like.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Form {
    /// Extents of the memory descriptor, with the number of buffers in front where none was chosen.
    extents: Known<Vec<u64>>,
    dtype: Known<Dtype>,
    /// The first extent counts the buffers of the allocation, each as large as it was allocated.
    counts_buffers: bool,
    /// A part of its buffer.
    is_slice: bool,
}

impl Form {
    /// Dimensions of one buffer.
    fn rank(&self) -> Option<usize> {
        Some(self.extents.as_ref().ok()?.len() - usize::from(self.counts_buffers))
    }

    fn bits(&self) -> Option<u64> {
        let (extents, dtype) = (self.extents.as_ref().ok()?, self.dtype.as_ref().ok()?);
        extents.iter().try_fold(u64::from(dtype.bits), |bits, extent| bits.checked_mul(*extent))
    }
}

impl Front {
    fn form(&self, id: BufferId, view: Option<Form>) -> Form {
        view.unwrap_or_else(|| {
            let buffer = self.kernel.buffer(id);
            let extents = buffer.num.clone().and_then(|num| {
                let shape = buffer.shape.clone()?;
                Ok([num].into_iter().chain(shape).collect())
            });
            Form { extents, dtype: buffer.dtype.clone(), counts_buffers: true, is_slice: false }
        })
    }

    /// Says what is wrong with a view. Of what a helper is given only its caller knows enough, so it is said at the call.
    fn refuse_view(&mut self, frame: &Frame<'_>, at: ExprId, code: Code, message: String) {
        if self.uncertain.is_none() {
            self.kernel.findings.push(Finding::new(code, self.at(frame, at), message));
        }
    }

    /// Follows a view of each value that a buffer may be.
    fn each(&mut self, value: Value, mut follow: impl FnMut(&mut Self, BufferId, Option<Form>) -> Value) -> Value {
        match value {
            Value::Buffer { id, view } => follow(self, id, view),
            Value::Either { values, reason } => {
                let mut of_value = |front: &mut Self, value: Value| match value {
                    Value::Buffer { id, view } => follow(front, id, view),
                    _ => Value::Constant(Constant::Unknown(reason.clone())),
                };
                let mut views = values.into_iter().map(|value| {
                    let inner = reason.clone();
                    self.uncertainly(inner, |front| of_value(front, value))
                });
                let first = views.next().unwrap_or_else(|| Value::unknown("`local_view` without a buffer"));
                let rest: Vec<_> = views.collect();
                rest.into_iter().fold(first, |one, other| one.or(other, &reason))
            }
            Value::Constant(constant @ Constant::Unknown(_)) => Value::Constant(constant),
            _ => Value::unknown("a view of a value that is not a buffer"),
        }
    }

    /// `tlx.local_view(buffer, index)`
    pub(super) fn local_view(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let [buffer, index] = arguments(args, ["local_allocated_buffers", "buffer_idx"]);
        let Some(buffer) = buffer else { return Value::unknown("a view without a buffer") };
        let base = self.value(frame, buffer);
        self.element_of(frame, expr, base, index)
    }

    /// One of the buffers of an allocation, or one row of a view.
    pub(super) fn element_of(
        &mut self,
        frame: &mut Frame<'_>,
        at: ExprId,
        base: Value,
        index: Option<ExprId>,
    ) -> Value {
        let chosen = index.map(|index| (index, self.value(frame, index)));
        let alternatives = match &base {
            Value::Either { values, .. } => values.len(),
            _ => 1,
        };
        let from = self.kernel.indices.len();
        let element = self.each(base, |front, id, view| front.index(frame, at, id, view, chosen.as_ref()));
        let added = &self.kernel.indices[from..];
        // Outside of each that the buffer may be is outside for certain.
        if alternatives > 1
            && self.uncertain.is_none()
            && added.len() == alternatives
            && added.iter().all(|index| self.is_outside(index))
        {
            self.kernel.indices[from].certain = true;
        }
        element
    }

    fn is_outside(&self, index: &Index) -> bool {
        match (&index.index, &self.kernel.buffer(index.buffer).num) {
            (IndexValue::Constant(index), Ok(num)) => !u64::try_from(*index).is_ok_and(|index| index < *num),
            _ => false,
        }
    }

    fn index(
        &mut self,
        frame: &Frame<'_>,
        at: ExprId,
        id: BufferId,
        view: Option<Form>,
        index: Option<&(ExprId, Value)>,
    ) -> Value {
        let form = self.form(id, view);
        match index {
            Some((index, value)) if form.counts_buffers => {
                let index = match value {
                    Value::Constant(Constant::Int(index)) => IndexValue::Constant(*index),
                    _ => IndexValue::Runtime(frame.call_site.is_none().then_some(*index)),
                };
                let (at, certain) = (self.at(frame, at), self.uncertain.is_none());
                let name = self.naming.as_ref().map(|naming| naming.name.clone());
                self.kernel.ops.push(Op::Index(self.kernel.indices.len()));
                self.kernel.indices.push(Index { name, at, buffer: id, index, certain });
            }
            Some((_, Value::Constant(Constant::Int(index)))) => {
                if let Ok([rows, ..]) = form.extents.as_deref()
                    && u64::try_from(*index).is_ok_and(|index| index >= *rows)
                {
                    let name = &self.kernel.buffer(id).name;
                    let message = format!(
                        "index {index} is outside this view of `{name}`, which has {rows} in its first dimension; nothing checks this at run time"
                    );
                    self.refuse_view(frame, at, Code::IndexOutOfRange, message);
                }
            }
            _ => {}
        }
        let extents = form.extents.map(|extents| match extents.as_slice() {
            [_, inner @ ..] if form.counts_buffers || !inner.is_empty() => inner.to_vec(),
            _ => vec![1],
        });
        Value::Buffer { id, view: Some(Form { extents, counts_buffers: false, ..form }) }
    }

    /// `tlx.local_slice(buffer, offsets, shape)`
    pub(super) fn local_slice(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let [buffer, offset, shape] = arguments(args, ["buffer", "offset", "shape"]);
        let base =
            buffer.map_or_else(|| Value::unknown("a slice without a buffer"), |buffer| self.value(frame, buffer));
        let offsets = self.integers(frame, offset);
        let sizes = self.integers(frame, shape);
        self.each(base, |front, id, view| {
            let form = front.form(id, view);
            match front.kernel.buffer(id).storage {
                Ok(Storage::Tmem) => front.columns_of(frame, expr, id, &form, &offsets, &sizes),
                Ok(Storage::Smem) => front.check_slice(frame, expr, id, &form, &offsets, &sizes),
                _ => {}
            }
            let extents = all_known(&sizes).ok_or_else(|| Reason::new("the shape of a slice is unknown"));
            Value::Buffer { id, view: Some(Form { extents, is_slice: true, counts_buffers: false, ..form }) }
        })
    }

    /// `tlx.subslice(buffer, offset, size)`: columns of tensor memory.
    pub(super) fn subslice(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let [buffer, offset, size] = arguments(args, ["local_allocated_buffer", "offset", "size"]);
        let base =
            buffer.map_or_else(|| Value::unknown("a slice without a buffer"), |buffer| self.value(frame, buffer));
        let [offset, size] = [offset, size].map(|arg| self.integer(frame, arg));
        self.each(base, |front, id, view| {
            let form = front.form(id, view);
            let name = front.kernel.buffer(id).name.clone();
            match &front.kernel.buffer(id).storage {
                Ok(Storage::Tmem) => front.check_columns(frame, expr, id, &form, offset, size),
                Ok(_) => {
                    let message = format!(
                        "subslice is only supported for tmem: `{name}` is in shared memory; use `tlx.local_slice`"
                    );
                    front.refuse_view(frame, expr, Code::InvalidView, message);
                }
                Err(_) => {}
            }
            let extents = form.extents.and_then(|mut extents| {
                let size = size.and_then(|size| u64::try_from(size).ok());
                let size = size.ok_or_else(|| Reason::new("the size of a slice is unknown"))?;
                extents.pop();
                extents.push(size);
                Ok(extents)
            });
            Value::Buffer { id, view: Some(Form { extents, is_slice: true, ..form }) }
        })
    }

    /// A slice of tensor memory has all rows.
    fn columns_of(
        &mut self,
        frame: &Frame<'_>,
        at: ExprId,
        id: BufferId,
        form: &Form,
        offsets: &Option<Vec<Option<i64>>>,
        sizes: &Option<Vec<Option<i64>>>,
    ) {
        let (Some(offsets), Some(sizes)) = (offsets, sizes) else { return };
        let name = self.kernel.buffer(id).name.clone();
        let ([row, column], [rows, columns]) = (offsets.as_slice(), sizes.as_slice()) else {
            let message =
                format!("a slice of tensor memory has two offsets and two extents, and `{name}` is in tensor memory");
            return self.refuse_view(frame, at, Code::InvalidView, message);
        };
        let inner = form.extents.as_ref().ok().and_then(|extents| extents.iter().rev().nth(1).copied());
        let all_rows = |rows: i64| inner.is_none_or(|inner| u64::try_from(rows).is_ok_and(|rows| rows == inner));
        if row.is_some_and(|row| row != 0) || rows.is_some_and(|rows| !all_rows(rows)) {
            let has = inner.map_or_else(String::new, |inner| format!(", which has {inner}"));
            let message = format!("a slice of tensor memory starts at row 0 and has all rows of `{name}`{has}");
            return self.refuse_view(frame, at, Code::InvalidView, message);
        }
        self.check_columns(frame, at, id, form, *column, *columns);
    }

    fn check_columns(
        &mut self,
        frame: &Frame<'_>,
        at: ExprId,
        id: BufferId,
        form: &Form,
        offset: Option<i64>,
        size: Option<i64>,
    ) {
        let name = self.kernel.buffer(id).name.clone();
        if let Some(size) = size.filter(|size| !u64::try_from(*size).is_ok_and(u64::is_power_of_two)) {
            let message = format!(
                "shape must have power-of-2 and non-zero dimensions: the slice of `{name}` is {size} columns wide"
            );
            return self.refuse_view(frame, at, Code::InvalidView, message);
        }
        let (Some(offset), Some(size)) = (offset, size) else { return };
        let width = form.extents.as_ref().ok().and_then(|extents| i64::try_from(*extents.last()?).ok());
        let Some(width) = width else { return };
        if offset < 0 || offset.saturating_add(size) > width {
            let message = format!(
                "Subslice range exceeds source shape: columns {offset} to {} of `{name}`, which has {width}",
                offset.saturating_add(size)
            );
            return self.refuse_view(frame, at, Code::InvalidView, message);
        }
        if offset % size != 0 {
            let message = format!(
                "The split offset may not touch the tile: column {offset} of `{name}` is not a multiple of the {size} columns of the slice"
            );
            self.refuse_view(frame, at, Code::InvalidView, message);
        }
    }

    /// Slices of shared memory.
    fn check_slice(
        &mut self,
        frame: &Frame<'_>,
        at: ExprId,
        id: BufferId,
        form: &Form,
        offsets: &Option<Vec<Option<i64>>>,
        sizes: &Option<Vec<Option<i64>>>,
    ) {
        let (Some(offsets), Some(sizes)) = (offsets, sizes) else { return };
        let buffer = self.kernel.buffer(id);
        let name = buffer.name.clone();
        let Ok(extents) = &form.extents else { return };
        let mut say = |code, message| self.refuse_view(frame, at, code, message);
        if offsets.len() != extents.len() || sizes.len() != extents.len() {
            let chosen = if form.counts_buffers { "; choose one of its buffers first" } else { "" };
            return say(
                Code::InvalidView,
                format!(
                    "local_slice offset and shape must match the source rank: {} and {} for `{name}`, which has {} dimensions here{chosen}",
                    offsets.len(),
                    sizes.len(),
                    extents.len()
                ),
            );
        }
        let size_of = |size: &Option<i64>| size.and_then(|size| u64::try_from(size).ok());
        let is_identity = sizes.iter().zip(extents).all(|(size, extent)| size_of(size) == Some(*extent));
        for (dim, ((offset, size), &extent)) in offsets.iter().zip(sizes).zip(extents).enumerate() {
            let Some(size) = size_of(size) else { continue };
            if size == 0 || size > extent {
                // Of a slice only the shape of what it is a slice of is compared.
                let code = if form.is_slice { Code::IndexOutOfRange } else { Code::InvalidView };
                return say(
                    code,
                    format!(
                        "shape must be less than or equal to allocShape: the slice has {size} in dimension {dim}, `{name}` has {extent} here"
                    ),
                );
            }
            let Some(offset) = *offset else { continue };
            let is_whole = size == extent;
            // What is negative is in no way of the verifier.
            let (code, message) = match u64::try_from(offset) {
                Ok(offset) if is_whole && !is_identity && offset != 0 && sizes.iter().all(Option::is_some) => (
                    Code::InvalidView,
                    format!(
                        "A non zero offset found in a dimension that is not being split: {offset} in dimension {dim}, where the slice of `{name}` has all {extent}"
                    ),
                ),
                Ok(offset) if !is_whole && size.is_power_of_two() && !offset.is_multiple_of(size) => (
                    Code::InvalidView,
                    format!(
                        "The split offset may not touch the tile: {offset} in dimension {dim} is not a multiple of {size}, the extent of the slice of `{name}`"
                    ),
                ),
                Ok(offset) if !is_whole && offset >= extent => (
                    Code::InvalidView,
                    format!(
                        "The split offset may not exceed the source shape: {offset} in dimension {dim}, `{name}` has {extent} here"
                    ),
                ),
                Ok(offset) if offset.saturating_add(size) <= extent => continue,
                _ => (
                    Code::IndexOutOfRange,
                    format!(
                        "the slice is outside `{name}`: {size} from {offset} in dimension {dim}, which has {extent}; nothing checks this at run time"
                    ),
                ),
            };
            return say(code, message);
        }
    }

    /// `tlx.local_trans(buffer, dims)`
    pub(super) fn local_trans(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let [buffer, dims] = arguments(args, ["input", "dims"]);
        let base =
            buffer.map_or_else(|| Value::unknown("a permutation without a buffer"), |buffer| self.value(frame, buffer));
        let order = match dims {
            Some(_) => self.integers(frame, dims).and_then(|dims| dims.into_iter().collect::<Option<Vec<_>>>()),
            None => Some(vec![1, 0]),
        };
        self.each(base, |front, id, view| {
            let form = front.form(id, view);
            let name = front.kernel.buffer(id).name.clone();
            let mut permuted = Err(Reason::new("an unknown permutation"));
            if let (Some(order), Some(rank)) = (&order, form.rank()) {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                if front.kernel.buffer(id).kind != BufferKind::Data {
                } else if order.len() != rank {
                    let message = format!(
                        "permute dims must have the same length as input shape: {} for `{name}`, which has {rank} dimensions here",
                        order.len()
                    );
                    front.refuse_view(frame, expr, Code::InvalidView, message);
                } else if sorted.iter().enumerate().any(|(at, dim)| usize::try_from(*dim) != Ok(at)) {
                    let message = format!(
                        "permute dims must be a permutation of 0, 1, ..., n-1, but were {order:?} for `{name}`, which has {rank} dimensions"
                    );
                    front.refuse_view(frame, expr, Code::InvalidView, message);
                } else if let Ok(extents) = &form.extents {
                    let (outer, inner) = extents.split_at(extents.len() - rank);
                    let inner = order.iter().map(|dim| inner[*dim as usize]);
                    permuted = Ok(outer.iter().copied().chain(inner).collect());
                }
            }
            Value::Buffer { id, view: Some(Form { extents: permuted, ..form }) }
        })
    }

    /// `tlx.local_reshape(buffer, shape)`
    pub(super) fn local_reshape(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let [buffer, shape] = arguments(args, ["src", "shape"]);
        let base =
            buffer.map_or_else(|| Value::unknown("a shape without a buffer"), |buffer| self.value(frame, buffer));
        let shape = self.integers(frame, shape).and_then(|shape| all_known(&Some(shape)));
        self.each(base, |front, id, view| {
            let form = front.form(id, view);
            let buffer = front.kernel.buffer(id);
            let name = buffer.name.clone();
            let count = |extents: &[u64]| extents.iter().try_fold(1_u64, |all, extent| all.checked_mul(*extent));
            let message = match (&buffer.storage, &shape, &form.extents) {
                (Ok(Storage::Tmem), ..) => {
                    Some(format!("TLX local_reshape only supports SMEM: `{name}` is in tensor memory"))
                }
                (Ok(Storage::Smem), Some(shape), Ok(extents)) if count(shape) != count(extents) => Some(format!(
                    "number of src and dst elements of reshape must be the same: {shape:?} does not have as many elements as {extents:?} of `{name}`"
                )),
                (Ok(Storage::Smem), ..) if form.is_slice => {
                    Some(format!("memdesc_reshape of memdesc_subslice: reshape `{name}` first, then take the slice"))
                }
                _ => None,
            };
            if let Some(message) = message {
                front.refuse_view(frame, expr, Code::InvalidView, message);
            }
            let counts_buffers = front.is_same_array(id, &form, shape.as_deref(), &form.dtype);
            let extents = shape.clone().ok_or_else(|| Reason::new("the shape of a view is unknown"));
            Value::Buffer { id, view: Some(Form { extents, counts_buffers, ..form }) }
        })
    }

    /// `tlx.local_reinterpret(buffer, dtype, shape, layout)`
    pub(super) fn local_reinterpret(&mut self, frame: &mut Frame<'_>, expr: ExprId, args: &[Arg]) -> Value {
        let [buffer, dtype, shape_arg, layout] = arguments(args, ["src", "dtype", "shape", "layout"]);
        let base = buffer.map_or_else(|| Value::unknown("a type without a buffer"), |buffer| self.value(frame, buffer));
        let dtype = match dtype.map(|dtype| self.value(frame, dtype)) {
            Some(Value::Constant(Constant::Unknown(reason))) => Err(reason),
            Some(Value::Constant(constant)) => {
                Dtype::from_constant(&constant).ok_or_else(|| Reason::new("the element type is not a `tl.dtype`"))
            }
            _ => Err(Reason::new("the element type is missing")),
        };
        let is_given = |value: &Value| *value != Value::Constant(Constant::None);
        let shape_value = shape_arg.map(|arg| self.value(frame, arg)).filter(is_given);
        let reshapes = shape_value.is_some();
        let shape = shape_arg.filter(|_| reshapes).and_then(|_| self.integers(frame, shape_arg));
        let shape = shape.and_then(|shape| all_known(&Some(shape)));
        let lays_out = layout.map(|layout| self.value(frame, layout)).is_some_and(|value| is_given(&value));
        self.each(base, |front, id, view| {
            let form = front.form(id, view);
            let buffer = front.kernel.buffer(id);
            let name = buffer.name.clone();
            let extents = match (reshapes, &shape) {
                (true, Some(shape)) => Ok(shape.clone()),
                (true, None) => Err(Reason::new("the shape of a view is unknown")),
                (false, _) => form.extents.clone(),
            };
            let is_array = form.counts_buffers;
            let counts_buffers = match reshapes {
                true => front.is_same_array(id, &form, shape.as_deref(), &dtype),
                false => is_array,
            };
            let is_read = buffer.kind == BufferKind::Data && buffer.layout != Layout::Unread && !lays_out;
            let to = Form { extents, dtype: dtype.clone(), counts_buffers, is_slice: form.is_slice };
            let message = match &buffer.storage {
                Ok(Storage::Tmem) if shape.is_some() => {
                    Some(format!("TLX local_reinterpret with reshaping only supports SMEM: `{name}` is in tensor memory"))
                }
                Ok(Storage::Smem) if form.is_slice => Some(format!(
                    "source and result must not be subviews; reinterpret `{name}` and then take a subview"
                )),
                // The shape of one buffer is another question where none was chosen.
                Ok(Storage::Smem) if is_read && (reshapes || !is_array) => match (form.bits(), to.bits()) {
                    (Some(from), Some(into)) if into > from => Some(format!(
                        "source and result must have the same logical storage size: this view takes {} bytes, `{name}` has {} here",
                        into / 8,
                        from / 8
                    )),
                    _ => None,
                },
                _ => None,
            };
            if let Some(message) = message {
                front.refuse_view(frame, expr, Code::InvalidView, message);
            }
            Value::Buffer { id, view: Some(to) }
        })
    }

    /// `tlx.remote_view(barrier, rank)`: the same in another CTA.
    pub(super) fn remote_view(&mut self, frame: &mut Frame<'_>, args: &[Arg]) -> Value {
        let values: Vec<_> = args.iter().map(|arg| self.value(frame, arg.value)).collect();
        let base = values.into_iter().next().unwrap_or_else(|| Value::unknown("a view without a buffer"));
        self.each(base, |front, id, view| {
            let form = front.form(id, view);
            Value::Buffer { id, view: Some(form) }
        })
    }

    /// Whether a view of an allocation of several buffers has the same buffers.
    fn is_same_array(&self, id: BufferId, form: &Form, shape: Option<&[u64]>, dtype: &Known<Dtype>) -> bool {
        let (Ok(num), Some(shape)) = (&self.kernel.buffer(id).num, shape) else { return false };
        let is_as_large = {
            let to = Form { extents: Ok(shape.to_vec()), dtype: dtype.clone(), ..form.clone() };
            form.bits().is_some() && form.bits() == to.bits()
        };
        form.counts_buffers && shape.len() > 1 && shape[0] == *num && is_as_large
    }

    fn integer(&mut self, frame: &mut Frame<'_>, arg: Option<ExprId>) -> Option<i64> {
        let arg = arg?;
        let is_tensor = self.mentions_tensor(frame, arg);
        match self.value(frame, arg) {
            Value::Constant(Constant::Int(value)) if !is_tensor => Some(value),
            _ => None,
        }
    }

    /// The integers of a list, each where it is known. A number that is a tensor is not: it may be another at run time.
    fn integers(&mut self, frame: &mut Frame<'_>, arg: Option<ExprId>) -> Option<Vec<Option<i64>>> {
        let arg = arg?;
        if let Some(elements) = frame.ast.elements(arg) {
            return Some(elements.iter().map(|&element| self.integer(frame, Some(element))).collect());
        }
        match self.value(frame, arg) {
            Value::Constant(Constant::Tuple(elements) | Constant::List(elements)) => {
                let integer = |element| match element {
                    Constant::Int(value) => Some(value),
                    _ => None,
                };
                Some(elements.into_iter().map(integer).collect())
            }
            _ => None,
        }
    }
}

fn all_known(integers: &Option<Vec<Option<i64>>>) -> Option<Vec<u64>> {
    integers.as_ref()?.iter().map(|integer| integer.and_then(|integer| u64::try_from(integer).ok())).collect()
}

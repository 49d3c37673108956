//! Views of buffers: what each looks like, and whether it lies in what it views.
//!
//! The conditions are those that both compilers refuse, the public wheel and the fork; what only one of them refuses is let pass.
//! A view of a view counts from the view.

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Reason;
use tilefit_syntax::ast::{Expr, ExprId};

use super::super::super::language::Dtype;
use super::super::super::tlx::kernel::{BufferId, BufferKind, Index, IndexValue, Known, Layout, Op};
use super::super::super::tlx::language::Storage;
use super::super::calls::Args;
use super::super::value::Value;
use super::super::{Frame, Tracer};
use super::facts::{Fact, Form, View, given, type_of, written};

/// A view before it is applied: to the buffer of that number, which looks like that.
type Follow<'f> = &'f mut dyn FnMut(&mut Tracer<'_>, BufferId, Form) -> Form;

impl Tracer<'_> {
    fn form(&self, view: &View) -> Form {
        view.form.clone().unwrap_or_else(|| {
            let buffer = self.facts.kernel.buffer(view.buffer);
            let extents = buffer.num.clone().and_then(|num| {
                let shape = buffer.shape.clone()?;
                Ok([num].into_iter().chain(shape).collect())
            });
            Form { extents, dtype: buffer.dtype.clone(), counts_buffers: true, is_slice: false }
        })
    }

    /// What a view of each buffer is that a value may be.
    fn viewed_as(&mut self, value: Option<&Value>, follow: Follow<'_>) -> Option<Fact> {
        let Fact::Buffers(views) = self.fact(value?)?.clone() else { return None };
        let is_open = views.len() > 1;
        self.facts.branches += u32::from(is_open);
        let mut found: Vec<View> = Vec::new();
        for view in views {
            let form = self.form(&view);
            let view = View { form: Some(follow(self, view.buffer, form)), ..view };
            if !found.contains(&view) {
                found.push(view);
            }
        }
        self.facts.branches -= u32::from(is_open);
        Some(Fact::Buffers(found))
    }

    /// What a function of TLX that makes views gives.
    pub(super) fn fact_of_view(&mut self, frame: &Frame, expr: ExprId, name: &str, args: &Args) -> Option<Fact> {
        match name {
            "local_slice" => self.local_slice(frame, expr, args),
            "subslice" => self.subslice(frame, expr, args),
            "local_trans" => self.local_trans(frame, expr, args),
            "local_reshape" => self.local_reshape(frame, expr, args),
            "local_reinterpret" => self.local_reinterpret(frame, expr, args),
            // The same in another CTA.
            _ => self.viewed_as(args.positional.first(), &mut |_, _, form| form),
        }
    }

    /// One of the buffers of an allocation, or one row of a view: `buffer[index]`, `tlx.local_view(buffer, index)`.
    pub(in crate::trace) fn fact_of_element(
        &mut self,
        frame: &Frame,
        at: ExprId,
        base: &Value,
        index: &Value,
    ) -> Option<Fact> {
        let alternatives = match self.fact(base)? {
            Fact::Buffers(views) => views.len(),
            Fact::Spec(_) | Fact::Group(_) => {
                let message = format!("a {} cannot be indexed; index the buffers that use it", self.type_name(base));
                self.refuse_memory(frame, at, Code::Rejected, message);
                return None;
            }
        };
        let from = self.facts.kernel.indices.len();
        let element =
            self.viewed_as(Some(base), &mut |tracer, buffer, form| tracer.index(frame, at, buffer, form, index));
        let kernel = &self.facts.kernel;
        let is_outside = |index: &Index| match (&index.index, &kernel.buffer(index.buffer).num) {
            (IndexValue::Constant(index), Ok(num)) => !u64::try_from(*index).is_ok_and(|index| index < *num),
            _ => false,
        };
        let added = &kernel.indices[from..];
        // Outside of each that the buffer may be is outside for certain.
        if alternatives > 1 && self.is_certain() && added.len() == alternatives && added.iter().all(is_outside) {
            self.facts.kernel.indices[from].certain = true;
        }
        element
    }

    fn index(&mut self, frame: &Frame, at: ExprId, buffer: BufferId, form: Form, index: &Value) -> Form {
        if form.counts_buffers {
            let value = match index {
                Value::Int(index) => IndexValue::Constant(*index),
                _ => IndexValue::Runtime(index_of(frame, at).filter(|_| frame.call.is_none())),
            };
            let name = self.named.as_ref().map(|(name, _)| name.to_string());
            let (at, certain) = (self.shown_at(frame, at), self.is_certain());
            let index = Index { name, at, buffer, index: value, certain };
            let kernel = &mut self.facts.kernel;
            // Replicas of a task are followed one by one.
            if self.replica.is_none_or(|replica| replica == 0) || !kernel.indices.contains(&index) {
                kernel.ops.push(Op::Index(kernel.indices.len()));
                kernel.indices.push(index);
            }
        } else if let (Value::Int(index), Ok([rows, ..])) = (index, form.extents.as_deref())
            && u64::try_from(*index).is_ok_and(|index| index >= *rows)
        {
            let name = &self.facts.kernel.buffer(buffer).name;
            let message = format!(
                "index {index} is outside this view of `{name}`, which has {rows} in its first dimension; nothing checks this at run time"
            );
            self.refuse_view(frame, at, Code::IndexOutOfRange, message);
        }
        let extents = form.extents.map(|extents| match extents.as_slice() {
            [_, inner @ ..] if form.counts_buffers || !inner.is_empty() => inner.to_vec(),
            _ => vec![1],
        });
        Form { extents, counts_buffers: false, ..form }
    }

    /// `tlx.local_slice(buffer, offsets, shape)`
    fn local_slice(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Option<Fact> {
        let names = ["buffer", "offset", "shape"];
        let ([buffer, offset, shape], [_, offset_at, shape_at]) = (given(args, names), written(frame, expr, names));
        let (offsets, sizes) = (self.integers(frame, offset, offset_at), self.integers(frame, shape, shape_at));
        self.viewed_as(buffer, &mut |tracer, id, form| {
            match tracer.facts.kernel.buffer(id).storage {
                Ok(Storage::Tmem) => tracer.columns_of(frame, expr, id, &form, &offsets, &sizes),
                Ok(Storage::Smem) => tracer.check_slice(frame, expr, id, &form, &offsets, &sizes),
                _ => {}
            }
            let extents = all_known(&sizes).ok_or_else(|| Reason::new("the shape of a slice is unknown"));
            Form { extents, is_slice: true, counts_buffers: false, ..form }
        })
    }

    /// `tlx.subslice(buffer, offset, size)`: columns of tensor memory.
    fn subslice(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Option<Fact> {
        let names = ["local_allocated_buffer", "offset", "size"];
        let ([buffer, offset, size], [_, offset_at, size_at]) = (given(args, names), written(frame, expr, names));
        let (offset, size) = (self.integer(frame, offset, offset_at), self.integer(frame, size, size_at));
        self.viewed_as(buffer, &mut |tracer, id, form| {
            let name = tracer.facts.kernel.buffer(id).name.clone();
            match &tracer.facts.kernel.buffer(id).storage {
                Ok(Storage::Tmem) => tracer.check_columns(frame, expr, id, &form, offset, size),
                Ok(_) => {
                    let message = format!(
                        "subslice is only supported for tmem: `{name}` is in shared memory; use `tlx.local_slice`"
                    );
                    tracer.refuse_view(frame, expr, Code::InvalidView, message);
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
            Form { extents, is_slice: true, ..form }
        })
    }

    /// A slice of tensor memory has all rows.
    fn columns_of(
        &mut self,
        frame: &Frame,
        at: ExprId,
        id: BufferId,
        form: &Form,
        offsets: &Option<Vec<Option<i64>>>,
        sizes: &Option<Vec<Option<i64>>>,
    ) {
        let (Some(offsets), Some(sizes)) = (offsets, sizes) else { return };
        let name = self.facts.kernel.buffer(id).name.clone();
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
        frame: &Frame,
        at: ExprId,
        id: BufferId,
        form: &Form,
        offset: Option<i64>,
        size: Option<i64>,
    ) {
        let name = self.facts.kernel.buffer(id).name.clone();
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
        frame: &Frame,
        at: ExprId,
        id: BufferId,
        form: &Form,
        offsets: &Option<Vec<Option<i64>>>,
        sizes: &Option<Vec<Option<i64>>>,
    ) {
        let (Some(offsets), Some(sizes)) = (offsets, sizes) else { return };
        let buffer = self.facts.kernel.buffer(id);
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
    fn local_trans(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Option<Fact> {
        let names = ["input", "dims"];
        let ([buffer, dims], [_, dims_at]) = (given(args, names), written(frame, expr, names));
        let order = match dims {
            Some(_) => {
                self.integers(frame, dims, dims_at).and_then(|dims| dims.into_iter().collect::<Option<Vec<_>>>())
            }
            None => Some(vec![1, 0]),
        };
        self.viewed_as(buffer, &mut |tracer, id, form| {
            let name = tracer.facts.kernel.buffer(id).name.clone();
            let mut permuted = Err(Reason::new("an unknown permutation"));
            if let (Some(order), Some(rank)) = (&order, form.rank()) {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                if tracer.facts.kernel.buffer(id).kind != BufferKind::Data {
                } else if order.len() != rank {
                    let message = format!(
                        "permute dims must have the same length as input shape: {} for `{name}`, which has {rank} dimensions here",
                        order.len()
                    );
                    tracer.refuse_view(frame, expr, Code::InvalidView, message);
                } else if sorted.iter().enumerate().any(|(at, dim)| usize::try_from(*dim) != Ok(at)) {
                    let message = format!(
                        "permute dims must be a permutation of 0, 1, ..., n-1, but were {order:?} for `{name}`, which has {rank} dimensions"
                    );
                    tracer.refuse_view(frame, expr, Code::InvalidView, message);
                } else if let Ok(extents) = &form.extents {
                    let (outer, inner) = extents.split_at(extents.len() - rank);
                    let inner = order.iter().map(|dim| inner[*dim as usize]);
                    permuted = Ok(outer.iter().copied().chain(inner).collect());
                }
            }
            Form { extents: permuted, ..form }
        })
    }

    /// `tlx.local_reshape(buffer, shape)`
    fn local_reshape(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Option<Fact> {
        let names = ["src", "shape"];
        let ([buffer, shape], [_, shape_at]) = (given(args, names), written(frame, expr, names));
        let shape = self.integers(frame, shape, shape_at).and_then(|shape| all_known(&Some(shape)));
        self.viewed_as(buffer, &mut |tracer, id, form| {
            let buffer = tracer.facts.kernel.buffer(id);
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
                tracer.refuse_view(frame, expr, Code::InvalidView, message);
            }
            let counts_buffers = tracer.is_same_array(id, &form, shape.as_deref(), &form.dtype);
            let extents = shape.clone().ok_or_else(|| Reason::new("the shape of a view is unknown"));
            Form { extents, counts_buffers, ..form }
        })
    }

    /// `tlx.local_reinterpret(buffer, dtype, shape, layout)`
    fn local_reinterpret(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Option<Fact> {
        let names = ["src", "dtype", "shape", "layout"];
        let [buffer, dtype, shape, layout] = given(args, names);
        let [.., shape_at, _] = written(frame, expr, names);
        let dtype = type_of(dtype);
        let is_given = |value: &&Value| !matches!(value, Value::None);
        let (shape, lays_out) = (shape.filter(is_given), layout.filter(is_given).is_some());
        let reshapes = shape.is_some();
        let shape = self.integers(frame, shape, shape_at).and_then(|shape| all_known(&Some(shape)));
        self.viewed_as(buffer, &mut |tracer, id, form| {
            let buffer = tracer.facts.kernel.buffer(id);
            let name = buffer.name.clone();
            let extents = match (reshapes, &shape) {
                (true, Some(shape)) => Ok(shape.clone()),
                (true, None) => Err(Reason::new("the shape of a view is unknown")),
                (false, _) => form.extents.clone(),
            };
            let is_array = form.counts_buffers;
            let counts_buffers = match reshapes {
                true => tracer.is_same_array(id, &form, shape.as_deref(), &dtype),
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
                tracer.refuse_view(frame, expr, Code::InvalidView, message);
            }
            to
        })
    }

    /// Whether a view of an allocation of several buffers has the same buffers.
    fn is_same_array(&self, id: BufferId, form: &Form, shape: Option<&[u64]>, dtype: &Known<Dtype>) -> bool {
        let (Ok(num), Some(shape)) = (&self.facts.kernel.buffer(id).num, shape) else { return false };
        let to = Form { extents: Ok(shape.to_vec()), dtype: dtype.clone(), ..form.clone() };
        let is_as_large = form.bits().is_some() && form.bits() == to.bits();
        form.counts_buffers && shape.len() > 1 && shape[0] == *num && is_as_large
    }

    /// A number that is a tensor is not known: it may be another at run time.
    fn integer(&self, frame: &Frame, value: Option<&Value>, at: Option<ExprId>) -> Option<i64> {
        let is_tensor = at.is_some_and(|at| self.mentions_tensor(frame, at));
        match value {
            Some(Value::Int(value)) if !is_tensor => Some(*value),
            _ => None,
        }
    }

    /// The integers of a list, each where it is known.
    fn integers(&self, frame: &Frame, value: Option<&Value>, at: Option<ExprId>) -> Option<Vec<Option<i64>>> {
        let elements = value?.elements()?;
        let written = at.and_then(|at| frame.ast.elements(at)).filter(|written| written.len() == elements.len());
        let place = |nth: usize| written.map(|written| written[nth]);
        Some(elements.iter().enumerate().map(|(nth, it)| self.integer(frame, Some(it), place(nth))).collect())
    }
}

fn all_known(integers: &Option<Vec<Option<i64>>>) -> Option<Vec<u64>> {
    integers.as_ref()?.iter().map(|integer| integer.and_then(|integer| u64::try_from(integer).ok())).collect()
}

/// The index that an expression chooses one of several buffers by.
fn index_of(frame: &Frame, expr: ExprId) -> Option<ExprId> {
    match frame.ast.expr(expr) {
        Expr::Subscript { index, .. } => Some(*index),
        _ => written(frame, expr, ["local_allocated_buffers", "buffer_idx"])[1],
    }
}

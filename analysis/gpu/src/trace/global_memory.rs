//! Global memory as kernels of Triton and of TLX access it: through pointers, and through descriptors, whose blocks go through buffers that no source
//! shows.
//!
//! Layouts of registers are the compiler's choice here. Where a tensor goes to global memory in another layout than it may have, the conversion takes
//! between nothing and its size.

use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;

use tilefit_python::finding::{Example, Reason};
use tilefit_syntax::ast::ExprId;

use super::super::axis_info::AxisInfo;
use super::super::language::Dtype;
use super::super::program::{Bytes, Effect, Kind, Load, Op, Tile, Type, Use, ValueId};
use super::arguments::default_layout;
use super::calls::Args;
use super::registers::Asked;
use super::value::{Descriptor, Registers, Scalar, Tensor, Value, unknown};
use super::{Dialect, Emitted, Frame, Tracer, identity};

impl Tracer<'_> {
    pub(super) fn load(&mut self, frame: &Frame, expr: ExprId, pointer: Option<&Value>, args: &Args) -> Value {
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
                self.note_loaded(id, tensor, args.get(1, "mask"));
                let element = tensor.dtype.element();
                let tile = Tile { shape: (*tensor.shape).clone(), bits: element.bits, dtype: element.name };
                let width = self.access_width(tensor, args.get(1, "mask"));
                self.widest.insert(id, element.bits);
                let (runs_along, assigned) = (self.runs_along(tensor), self.assigned());
                self.program.loads.insert(id, Load { tile, width, runs_along, assigned });
                let layout = match self.launch.dialect {
                    Dialect::Gluon => tensor.layout.clone(),
                    Dialect::Tlx | Dialect::Triton => {
                        let key = self.coalesced(tensor);
                        self.loaded_bits.insert(key, element.bits);
                        Registers::Loaded(key)
                    }
                };
                Value::Tensor(Tensor { id, dtype: tensor.dtype.element(), layout, ..tensor.clone() })
            }
            Some(Value::Scalar(scalar)) => {
                let dtype = scalar.dtype.element();
                let of = dtype.scalar_type();
                let op = Emitted { name: "load", effect, operands: &operands, of, identity, kind: Kind::Plain };
                let id = self.emit(frame, expr, op);
                if self.launch.dialect == Dialect::Triton {
                    self.note_axes(id, Some(AxisInfo::number(1)));
                }
                Value::Scalar(Scalar { id, dtype })
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
                Some(self.no_number(*id, Example::Elements))
            }
            _ => None,
        }
    }

    pub(super) fn buffer_load(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let operands = self.operands(frame, expr, &args.all());
        if let Some(reason) = args.get(0, "ptr").and_then(|pointer| self.untold_pointer(pointer)) {
            return Value::Unknown(reason);
        }
        match (args.get(0, "ptr"), args.get(1, "offsets")) {
            (Some(Value::Scalar(pointer)), Some(Value::Tensor(offsets))) => {
                let id = self.reads(frame, expr, "buffer_load", &operands);
                Value::Tensor(Tensor { id, dtype: pointer.dtype.element(), ..offsets.clone() })
            }
            _ => unknown("a load of a value that is not a pointer"),
        }
    }

    pub(super) fn atomic(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
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

    /// A descriptor that was made before.
    pub(super) fn descriptor_at(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let block = args.get(1, "block_shape").and_then(Value::extents);
        let (Some(block), Some(&Value::Dtype(dtype))) = (block, args.get(2, "dtype")) else {
            return self.unknown_call(frame, expr, Reason::new("the block of a descriptor is not known"), args);
        };
        let operands = self.operands(frame, expr, &args.all());
        let op = Emitted {
            name: "reinterpret_tensor_descriptor",
            effect: Effect::None,
            operands: &operands,
            of: Type::Descriptor,
            identity: identity((&block, dtype)),
            kind: Kind::Plain,
        };
        let id = self.emit(frame, expr, op);
        let layout = Some(Rc::new(default_layout(&block, dtype)));
        Value::Descriptor(Descriptor { id, dtype, block: Rc::new(block), layout, is_layout_told: true })
    }

    /// A descriptor that the kernel makes: 128 bytes while it is made. One of TLX says first where it goes to, and is made even where nobody uses it.
    pub(super) fn device_descriptor(&mut self, frame: &Frame, expr: ExprId, args: &Args) -> Value {
        let operands = self.operands(frame, expr, &args.all());
        let place =
            args.named("desc_ptr").cloned().or_else(|| (args.positional.len() > 4).then(|| args.positional[0].clone()));
        let place = place.filter(|place| !matches!(place, Value::None));
        // Behind where it goes to, if that is said by position.
        let behind = usize::from(args.positional.len() > 4);
        let (base, block) = (args.get(behind, "base"), args.get(3 + behind, "block_shape").and_then(Value::extents));
        let (Some(Value::Scalar(base)), Some(block)) = (base, block) else {
            return self.unknown_call(frame, expr, Reason::new("the block of a descriptor is not known"), args);
        };
        let dtype = match self.led_to(base) {
            Ok(dtype) => dtype,
            Err(reason) => return self.unknown_call(frame, expr, reason, args),
        };
        // Where blocks are not copied, and on AMD, they are in registers.
        let is_in_memory = !self.is_amd() && self.copies_blocks();
        let kind = if is_in_memory { self.asks(Asked::Fixed(128)) } else { Kind::Plain };
        let of = Type::Descriptor;
        // It is made for whoever uses it, and once for all that are equal.
        let op = Emitted {
            name: "make_tensor_descriptor",
            effect: if place.is_some() { Effect::Writes } else { Effect::None },
            operands: &operands,
            of,
            identity: identity(&block),
            kind,
        };
        let id = self.emit(frame, expr, op);
        let layout = Some(Rc::new(default_layout(&block, dtype)));
        Value::Descriptor(Descriptor { id, dtype, block: Rc::new(block), layout, is_layout_told: true })
    }

    /// `desc.load(…)` and `desc.store(…)` go through buffers that the source does not show.
    pub(super) fn descriptor_access(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        name: &str,
        descriptor: &Descriptor,
        args: &Args,
    ) -> Value {
        match name {
            "store" => self.descriptor_store(frame, expr, descriptor, args),
            _ => self.descriptor_load(frame, expr, descriptor, args),
        }
    }

    fn descriptor_store(&mut self, frame: &Frame, expr: ExprId, descriptor: &Descriptor, args: &Args) -> Value {
        let layout = Rc::new(default_layout(&descriptor.block, descriptor.dtype));
        let of = (descriptor.dtype, (*descriptor.block).clone(), layout);
        let value = args.get(1, "value").cloned().unwrap_or(Value::None);
        let value = match &value {
            Value::Tensor(tensor) if tensor.dtype != descriptor.dtype => {
                self.cast(frame, expr, &value, descriptor.dtype)
            }
            _ => value,
        };
        let mut stored = super::operators::ids(std::slice::from_ref(&value));
        if let Value::Tensor(tensor) = &value {
            // It is stored from the layout that it has, but the conversion is there for others.
            stored.push(self.converted(frame, expr, tensor, "global memory"));
            // Before what makes its elements wider than they were loaded, a conversion is not taken away.
            let is_narrow = match self.resolved(&tensor.layout) {
                Registers::Loaded(key) => self.loaded_bits.get(&key).is_some_and(|&bits| bits < tensor.dtype.bits),
                _ => false,
            };
            if self.copies_blocks() && is_narrow && self.widened.contains(&tensor.id) {
                self.conversion(frame, expr, tensor, tensor.dtype.bits);
            }
        }
        if !self.copies_blocks() {
            if let (Value::Tensor(tensor), Dialect::Triton) = (&value, self.launch.dialect) {
                self.conversion(frame, expr, tensor, self.widest_of(tensor));
            }
            stored.push(descriptor.id);
            self.effect(frame, expr, "store", stored);
            return Value::None;
        }
        let named = self.named.replace(("staging of desc.store".into(), None));
        let staging = self.shared_buffer(frame, expr, "staging", of, Use::Staging, &stored);
        self.named = named;
        let mut operands = super::operators::ids(std::slice::from_ref(&staging));
        operands.push(descriptor.id);
        operands.extend(super::operators::ids(&args.all()));
        self.effect(frame, expr, "descriptor store", operands);
        Value::None
    }

    /// Loads in a loop whose rounds the author asks to overlap have buffers, by rules of AMD's compiler that are not modelled.
    pub(super) fn note_pipelined_load(&mut self, frame: &Frame, expr: ExprId) {
        if self.is_overlapped && self.launch.dialect == Dialect::Tlx && self.is_amd() {
            let reason = "how many copies of a load the compiler keeps in a loop with `num_stages` is not modelled";
            self.note(frame, expr, Reason::new(reason));
        }
    }

    /// Whether the device copies blocks of descriptors; the compiler makes pointers of descriptors elsewhere.
    fn copies_blocks(&self) -> bool {
        let capability = self.launch.hardware.capability;
        if self.is_amd() { capability >= 1250 } else { capability >= 90 }
    }

    /// `desc.load(…)` on a device without such copies: it goes through pointers, and nothing is known of them.
    fn load_by_pointers(&mut self, frame: &Frame, expr: ExprId, descriptor: &Descriptor, args: &Args) -> Value {
        let (dtype, shape) = (descriptor.dtype, (*descriptor.block).clone());
        let mut operands = vec![descriptor.id];
        operands.extend(self.operands(frame, expr, &args.all()));
        let id = self.reads(frame, expr, "load", &operands);
        let bits = u64::from(dtype.bits.max(8));
        let tile = Tile { shape: shape.clone(), bits: dtype.bits, dtype: dtype.name };
        self.program
            .loads
            .insert(id, Load { tile, width: (bits.min(128), 128), runs_along: None, assigned: self.assigned() });
        Value::Tensor(Tensor { id, dtype, shape: Rc::new(shape), layout: self.choice_for(id) })
    }

    /// The buffer and the barrier of a load are made when it is known whether somebody needs what it loads.
    fn descriptor_load(&mut self, frame: &Frame, expr: ExprId, descriptor: &Descriptor, args: &Args) -> Value {
        self.note_pipelined_load(frame, expr);
        if !self.copies_blocks() {
            return self.load_by_pointers(frame, expr, descriptor, args);
        }
        let (dtype, shape) = (descriptor.dtype, (*descriptor.block).clone());
        let layout = default_layout(&shape, dtype);
        let bytes = match layout.size(&shape, u64::from(dtype.bits.max(8))) {
            Ok(bytes) => bytes,
            Err(reason) => return self.unsized_(frame, expr, "the size", &reason),
        };
        let at = ("staging of desc.load", self.site(frame, expr));
        let (tile, barrier) = ((shape.clone(), dtype.name), (vec![1, 1], Dtype::BARRIER.name));
        let staging = self.program.insert(at, tile, (Bytes::Exactly(bytes), layout.alignment()), Use::Staging);
        let barrier = self.program.insert(at, barrier, (Bytes::Exactly(8), 16), Use::Barrier);
        let mut operands = vec![descriptor.id];
        operands.extend(self.operands(frame, expr, &args.all()));
        let op = Emitted {
            name: "descriptor load",
            effect: Effect::Reads,
            operands: &operands,
            of: Type::Tensor,
            identity: 0,
            kind: Kind::StagedLoad { staging, barrier },
        };
        let id = self.emit(frame, expr, op);
        let tile = Tile { shape: shape.clone(), bits: dtype.bits, dtype: dtype.name };
        let (runs_along, assigned) = (shape.len().checked_sub(1), self.assigned());
        self.program.loads.insert(id, Load { tile, width: (128, 128), runs_along, assigned });
        Value::Tensor(Tensor { id, dtype, shape: Rc::new(shape), layout: Registers::Flexible })
    }

    /// A store to global memory. A tensor whose layout is another than that of the pointers goes through shared memory first.
    pub(super) fn triton_store(&mut self, frame: &Frame, expr: ExprId, args: &Args) {
        let pointer = args.get(0, "pointer");
        let told = pointer.and_then(|pointer| self.as_pointer(pointer));
        let pointer = told.as_ref().or(pointer);
        if let Some(reason) = pointer.and_then(|pointer| self.untold_pointer(pointer)) {
            self.unknown_call(frame, expr, reason, args);
            return;
        }
        // What is stored may have taken anything.
        if let Some(reason) = super::operators::first_unknown(&args.all()) {
            self.unknown_call(frame, expr, reason, args);
            return;
        }
        self.check_access(frame, expr, pointer, args, false);
        let mut operands = self.operands(frame, expr, &args.all());
        if let Some(Value::Tensor(pointers)) = pointer {
            let mask = args.get(2, "mask").cloned();
            let access: Vec<Value> = mask.into_iter().chain([Value::Tensor(pointers.clone())]).collect();
            operands.extend(self.accessed(frame, expr, pointers, &access));
        }
        if let (Some(Value::Tensor(pointers)), Some(Value::Tensor(value))) = (pointer, args.get(1, "value")) {
            operands.extend(self.stored_globally(frame, expr, pointers, value));
        }
        self.effect(frame, expr, "store", operands);
    }

    /// A tensor whose layout is another than that of the pointers that it goes to goes through shared memory first.
    pub(super) fn stored_globally(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        pointers: &Tensor,
        value: &Tensor,
    ) -> Option<ValueId> {
        // A store takes no more side by side than its own elements let it.
        let is_any = pointers.dtype.element() == Dtype::ANY;
        let own = if is_any { identity(("store of any", pointers.id)) } else { self.coalesced(pointers) };
        let fits = match self.resolved(&value.layout) {
            Registers::Flexible => true,
            Registers::Loaded(key) => key == own,
            _ => false,
        };
        if fits {
            return None;
        }
        let bits = pointers.dtype.element().bits;
        if self.carried_by_while(&value.layout).is_some()
            && value.shape == pointers.shape
            && let Some(to) = self.stored_in(pointers)
            && value.dtype.bits == bits
            && !self.widened.contains(&value.id)
        {
            let to = Registers::Known(Arc::new(to));
            return Some(self.between(frame, expr, value, &to).id);
        }
        if let Some(from) = self.uncontested(&value.layout)
            && value.shape == pointers.shape
            && bits <= value.dtype.bits
            && !self.widened.contains(&value.id)
            && (self.launch.dialect != Dialect::Triton
                || self.widest.get(&value.id).is_none_or(|&widest| widest <= bits))
        {
            let to = self.stored_in(pointers).map_or_else(compilers, |to| Registers::Known(Arc::new(to)));
            let (shape, from) = ((*value.shape).clone(), Registers::Known(from));
            // What is stored in two layouts is converted to each.
            let goes_to = format!("{to:?}");
            let kind = self.asks(Asked::Conversion { shape, bits, from, to });
            return Some(self.converted_by(frame, expr, value, goes_to, kind));
        }
        let stored = Tensor { shape: pointers.shape.clone(), ..value.clone() };
        // What is loaded may be converted before it is cast.
        let bits = if self.launch.dialect == Dialect::Triton { bits.max(self.widest_of(value)) } else { bits };
        self.conversion(frame, expr, &stored, bits);
        Some(self.converted(frame, expr, value, ("global memory", own)))
    }

    /// Operations along an axis want a layout that a product or tensor memory does not give.
    pub(super) fn along_axis(&mut self, frame: &Frame, expr: ExprId, tensor: &Tensor) -> Tensor {
        let is_given = matches!(tensor.layout, Registers::Chosen(_) | Registers::Unknown(_));
        if !self.launch.dialect.leaves_layouts() || !is_given {
            return tensor.clone();
        }
        Tensor { id: self.converted(frame, expr, tensor, "along an axis"), ..tensor.clone() }
    }

    /// A conversion that the compiler may put here.
    pub(super) fn conversion(&mut self, frame: &Frame, expr: ExprId, tensor: &Tensor, bits: u32) {
        let (operands, shape) = ([tensor.id], &tensor.shape);
        let elements = shape.iter().fold(1u64, |all, &extent| all.saturating_mul(extent));
        let most = elements.saturating_mul(u64::from(bits.max(8))) / 8;
        let reason = Reason::new(
            "the compiler chooses the layouts of registers, and may convert one into another through shared memory",
        );
        let kind = self.asks(Asked::UpTo(most, reason));
        let op = Op {
            name: "convert_layout",
            at: self.site(frame, expr),
            effect: Effect::Writes,
            operands: operands.to_vec(),
            results: Vec::new(),
            identity: 0,
            kind,
        };
        self.push(op);
    }

    /// A tensor in the layout in which it goes to some memory: where that was needed before, it is not made again.
    pub(super) fn converted(&mut self, frame: &Frame, expr: ExprId, tensor: &Tensor, goes_to: impl Hash) -> ValueId {
        let elements = tensor.shape.iter().fold(1u64, |all, &extent| all.saturating_mul(extent));
        let most = elements.saturating_mul(u64::from(tensor.dtype.bits.max(8))) / 8;
        let reason = Reason::new(
            "the compiler chooses the layouts of registers, and may convert one into another through shared memory",
        );
        let kind = self.asks(Asked::UpTo(most, reason));
        self.converted_by(frame, expr, tensor, goes_to, kind)
    }

    pub(super) fn converted_by(
        &mut self,
        frame: &Frame,
        expr: ExprId,
        tensor: &Tensor,
        goes_to: impl Hash,
        kind: Kind,
    ) -> ValueId {
        let op = Emitted {
            name: "convert_layout",
            effect: Effect::None,
            operands: &[tensor.id],
            of: Type::Tensor,
            identity: identity(goes_to),
            kind,
        };
        let id = self.emit(frame, expr, op);
        self.note_same(id, tensor.id);
        id
    }

    /// What decides the layout in which pointers are gone through: the same for two accesses, the same layout.
    pub(super) fn coalesced(&self, pointers: &Tensor) -> u64 {
        if pointers.dtype.element() == Dtype::ANY {
            // Accesses of one shape and order have one layout, whatever they access.
            return match self.access(pointers) {
                Some((shape, order, _)) => identity(("access of any", shape, order)),
                None => identity(("access of any", self.numbered(pointers.id), &pointers.shape)),
            };
        }
        if let Some(layout) = self.gone_through_in(pointers) {
            return identity(("access", format!("{layout:?}")));
        }
        let what = self.numbered(pointers.id);
        identity((what, pointers.dtype.element().bits, &pointers.shape))
    }
}

/// A layout that the compiler chooses.
fn compilers() -> Registers {
    Registers::Unknown(Reason::new("the compiler chooses the layouts of registers"))
}

fn is_mask(value: &Value) -> bool {
    matches!(value, Value::Tensor(tensor) if tensor.dtype.bits == 1)
}

//! How wide accesses to global memory are, from what is known of their pointers.

use std::rc::Rc;
use std::sync::Arc;

use super::super::axis_info::AxisInfo;
use super::super::language::Dtype;
use super::super::layouts::{Layout, access_layout};
use super::super::program::{ValueId, elements};
use super::registers::narrow;
use super::value::{Tensor, Value};
use super::{Dialect, Tracer};

/// What divides an argument that the compiler specialises for.
const DIVISIBLE: u64 = 16;
/// What a thread loads at once.
const MOST_BITS: u64 = 128;

/// Of a tensor in the shape of another one.
fn broadcast(info: &AxisInfo, from: &[u64], to: &[u64]) -> AxisInfo {
    let (mut info, mut has) = (info.clone(), from.to_vec());
    while has.len() < to.len() {
        info = info.expand_dims(0);
        has.insert(0, 1);
    }
    info.broadcast(&has, to)
}

impl Tracer<'_> {
    pub(super) fn note_axes(&mut self, of: ValueId, info: Option<AxisInfo>) {
        self.axes[of.0 as usize] = info.map(Rc::new);
    }

    pub(super) fn axes_of(&self, of: ValueId) -> Option<Rc<AxisInfo>> {
        self.axes.get(of.0 as usize).cloned().flatten()
    }

    /// Whether an argument is known to be a multiple of 16.
    pub(super) fn is_divisible(&self, name: &str) -> bool {
        self.launch.divisible.as_ref().is_some_and(|names| names.contains(name))
    }

    /// Of an argument. Nothing is known unless something says which are aligned.
    pub(super) fn note_argument(&mut self, of: ValueId, name: &str) {
        let divisible = self.launch.divisible.as_ref().map(|names| if names.contains(name) { DIVISIBLE } else { 1 });
        self.note_axes(of, divisible.map(AxisInfo::number));
    }

    /// Of a view that adds a dimension or repeats elements along one.
    pub(super) fn note_view(&mut self, of: ValueId, name: &str, tensor: &Tensor, shape: &[u64]) {
        let info = self.axes_of(tensor.id).and_then(|info| match name {
            "expand_dims" => {
                let added = (0..shape.len()).find(|&dim| tensor.shape.get(dim) != Some(&shape[dim]));
                added.map(|dim| info.expand_dims(dim))
            }
            "broadcast" if shape.len() == tensor.shape.len() => Some(info.broadcast(&tensor.shape, shape)),
            _ => None,
        });
        self.note_axes(of, info);
    }

    /// Of what an operation makes of `values`, which are `operands`.
    pub(super) fn note_elementwise(
        &mut self,
        of: ValueId,
        name: &str,
        (values, operands): (&[Value], &[ValueId]),
        shape: Option<&[u64]>,
        dtype: Dtype,
    ) {
        let info = |nth: usize| {
            let info = self.axes_of(*operands.get(nth)?)?;
            let Some(shape) = shape else { return Some((*info).clone()) };
            let Value::Tensor(tensor) = &values[nth] else { return Some(info.splat(shape)) };
            Some(broadcast(&info, &tensor.shape, shape))
        };
        let is_pointer = |nth: usize| match &values[nth] {
            Value::Tensor(tensor) => tensor.dtype.is_pointer(),
            Value::Scalar(scalar) => scalar.dtype.is_pointer(),
            _ => false,
        };
        let element = u64::from(dtype.element().bits / 8).max(1);
        let found = match (name, values.len()) {
            ("add", 2) if is_pointer(0) => info(0).zip(info(1)).map(|(pointer, offset)| pointer.add(&offset, element)),
            ("add", 2) if is_pointer(1) => info(1).zip(info(0)).map(|(pointer, offset)| pointer.add(&offset, element)),
            ("add", 2) => info(0).zip(info(1)).map(|(one, two)| one.add(&two, 1)),
            ("sub", 2) if !is_pointer(0) => info(0).zip(info(1)).map(|(one, two)| one.sub(&two)),
            ("mul", 2) => info(0).zip(info(1)).map(|(one, two)| one.mul(&two)),
            ("cast" | "widen", 1) if !dtype.is_floating() => info(0),
            _ if self.launch.dialect == Dialect::Triton => {
                let one = shape.map_or(&[1][..], |shape| shape);
                let both = || info(0).zip(info(1)).filter(|_| values.len() == 2);
                match name {
                    "mod" => both().map(|(value, by)| value.remainder(&by, one)),
                    "lt" | "ge" => both().map(|(left, right)| left.compared(&right, one, [true, false])),
                    "le" | "gt" => both().map(|(left, right)| left.compared(&right, one, [false, true])),
                    "eq" | "ne" => both().map(|(left, right)| left.compared(&right, one, [false, false])),
                    "and" | "or" => both().map(|(left, right)| left.elementwise(&right)),
                    "minimum" | "maximum" | "min" | "max" => both().map(|(one, two)| one.either(&two)),
                    // Of what is computed of numbers that are known to divide by nothing the compiler knows nothing either. A shift may
                    // make something of them.
                    _ if shape.is_none() && !dtype.is_pointer() && name != "shl" => {
                        let all: Option<Vec<AxisInfo>> = (0..values.len()).map(info).collect();
                        let is_odd = |info: &AxisInfo| info.divisibility[0] == 1;
                        let known = |all: &Vec<AxisInfo>| match name {
                            // One less than a multiple of a power of two is divided.
                            "cdiv" => !is_odd(&all[1]),
                            "floordiv" => is_odd(&all[0]),
                            _ => all.iter().all(is_odd),
                        };
                        all.filter(known).map(|_| AxisInfo::number(1))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        self.note_axes(of, found);
    }

    /// Of the same elements in another layout.
    pub(super) fn note_same(&mut self, of: ValueId, tensor: ValueId) {
        if self.launch.dialect == Dialect::Triton {
            self.axes[of.0 as usize] = self.axes_of(tensor);
        }
    }

    /// Of what is loaded: through equal pointers under equal masks come equal elements.
    pub(super) fn note_loaded(&mut self, of: ValueId, pointers: &Tensor, mask: Option<&Value>) {
        let known = self.axes_of(pointers.id).filter(|_| self.launch.dialect == Dialect::Triton);
        let info = known.and_then(|info| match mask {
            Some(Value::Tensor(mask)) => {
                let mask = broadcast(&*self.axes_of(mask.id)?, &mask.shape, &pointers.shape);
                Some(info.elementwise(&mask))
            }
            None | Some(Value::None | Value::Bool(_) | Value::Int(_) | Value::Scalar(_)) => {
                Some(info.elementwise(&info))
            }
            Some(_) => None,
        });
        self.note_axes(of, info);
    }

    /// Bits that a thread loads side by side, at least and at most.
    pub(super) fn access_width(&self, pointers: &Tensor, mask: Option<&Value>) -> (u64, u64) {
        let is_any = pointers.dtype.element() == Dtype::ANY;
        let bits = u64::from(pointers.dtype.element().bits.max(8));
        let elements = elements(&pointers.shape);
        let threads = u64::from(self.launch.hardware.lanes()) * self.warps;
        let most = (elements / threads.max(1)).max(1).saturating_mul(bits).min(128);
        // Of fewer elements than threads the compiler may load each again in another layout, in which threads have more side by side.
        let of_any_layout = if elements < threads { elements.saturating_mul(bits).min(128) } else { most };
        if is_any {
            return (8, most);
        }
        let Some(info) = self.axes_of(pointers.id) else { return (bits.min(most), of_any_layout) };
        let order = info.order();
        let Some(&fastest) = order.first() else { return (bits, bits) };
        let fastest = fastest as usize;
        let aligned = (info.divisibility[fastest] * 8 / bits).max(1).min(info.contiguity[fastest]);
        let run = aligned.saturating_mul(bits).min(most);
        let widest = aligned.saturating_mul(bits).min(of_any_layout);
        match mask {
            None | Some(Value::None | Value::Bool(_) | Value::Int(_) | Value::Scalar(_)) => (run, widest),
            Some(Value::Tensor(mask)) => match self.axes_of(mask.id) {
                // One mask for a whole row does not make an access narrower.
                Some(_) if mask.shape.get(fastest) != pointers.shape.get(fastest) => (run, widest),
                Some(mask) => {
                    let equal = mask.equal_along(fastest).saturating_mul(bits);
                    (run.min(equal), widest.min(equal))
                }
                None => (run.min(bits), widest),
            },
            Some(_) => (run.min(bits), widest),
        }
    }

    /// The dimension along which pointers go through memory, where it is known.
    pub(super) fn runs_along(&self, pointers: &Tensor) -> Option<usize> {
        let info = self.axes_of(pointers.id)?;
        info.order().first().map(|&dim| dim as usize)
    }

    /// What is known of a loop's index.
    pub(super) fn note_index(&mut self, of: ValueId, [from, by]: [Option<ValueId>; 2]) {
        if self.launch.dialect != Dialect::Triton {
            return;
        }
        let divides = |id: Option<ValueId>| id.and_then(|id| self.axes_of(id)).map_or(1, |info| info.divisibility[0]);
        let divisibility = divides(from).min(divides(by));
        self.note_axes(of, Some(AxisInfo::number(divisibility)));
    }

    /// What is known of what a loop carries: as much as of what it starts with, until a round shows that it is less.
    pub(super) fn note_carried(&mut self, param: ValueId, start: ValueId) {
        if self.launch.dialect == Dialect::Triton {
            let info = match self.learnt.guesses.get(&param) {
                Some(guess) => guess.clone(),
                None => self.axes_of(start).map(|info| (*info).clone()),
            };
            self.note_axes(param, info);
        }
    }

    /// Compares what was taken for known of what a loop carries with what a round makes of it.
    pub(super) fn check_carried(&mut self, param: ValueId, next: ValueId) {
        if self.launch.dialect != Dialect::Triton {
            return;
        }
        let (was, is) = (self.axes_of(param), self.axes_of(next));
        let both = was.as_ref().zip(is).map(|(was, is)| was.either(&is));
        if both.as_ref() != was.as_deref() {
            self.learnt.guesses.insert(param, both);
            self.is_overrated = true;
        }
    }

    /// The layout in which pointers are stored through, where that is known.
    pub(super) fn stored_in(&self, pointers: &Tensor) -> Option<Layout> {
        let (shape, order, width) = self.access(pointers).filter(|_| pointers.dtype.element() != Dtype::ANY)?;
        let bits = pointers.dtype.element().bits.max(8);
        access_layout(&shape, bits, width, &order, self.warps as u32, &self.launch.hardware)
    }

    /// How pointers are gone through: the shape, the order, and the elements that a thread takes side by side.
    pub(super) fn access(&self, pointers: &Tensor) -> Option<(Vec<u32>, Vec<u32>, u64)> {
        let info = self.axes_of(pointers.id)?;
        let shape = narrow(&pointers.shape).ok()?;
        let bits = pointers.dtype.element().bits.max(8);
        let order = info.order();
        let fastest = *order.first()? as usize;
        let aligned = (info.divisibility[fastest] * 8 / u64::from(bits)).max(1);
        let width = aligned.min(info.contiguity[fastest]).min(u64::from(shape[fastest]));
        Some((shape, order, width))
    }

    /// The layout in which the compiler goes through pointers where no access beside it wants more at once (`CoalesceUtils.cpp`): those of one shape and
    /// order take as much as the widest of them. What is too small for all threads has no layout of its own.
    pub(super) fn gone_through_in(&self, pointers: &Tensor) -> Option<Layout> {
        let elements = elements(&pointers.shape);
        let threads = u64::from(self.launch.hardware.lanes()) * self.warps;
        let is_any = pointers.dtype.element() == Dtype::ANY;
        let is_layout_kept = self.launch.dialect == Dialect::Triton && elements >= threads && !is_any;
        self.stored_in(pointers).filter(|_| is_layout_kept)
    }

    /// The layouts that an access may have whose pointers are not known.
    pub(super) fn possible_layouts(&self, shape: &[u64], bits: u32) -> Vec<Arc<Layout>> {
        let Ok(shape) = narrow(shape) else { return Vec::new() };
        let bits = bits.max(8);
        let dims: Vec<u32> = (0..shape.len() as u32).collect();
        let orders = dims.iter().map(|&first| {
            let rest = dims.iter().rev().copied().filter(move |&dim| dim != first);
            std::iter::once(first).chain(rest).collect::<Vec<u32>>()
        });
        let widths =
            (0..=MOST_BITS.ilog2()).map(|power| 1 << power).filter(|width| width * u64::from(bits) <= MOST_BITS);
        let layout = |(order, width): (Vec<u32>, u64)| {
            access_layout(&shape, bits, width, &order, self.warps as u32, &self.launch.hardware)
        };
        let all = orders.flat_map(|order| widths.clone().map(move |width| (order.clone(), width)));
        all.filter_map(layout).map(Arc::new).collect()
    }

    /// Takes note of an access, and of its layout where that is known to be the only one.
    pub(super) fn note_access(&mut self, pointers: &Tensor) {
        let Some(layout) = self.gone_through_in(pointers) else { return };
        let Some((shape, order, width)) = self.access(pointers) else { return };
        let width = width.min(u64::from(128 / pointers.dtype.element().bits.max(8)));
        let group = (shape, order);
        let key = self.coalesced(pointers);
        match self.learnt.accesses.get(&group).map(|widths| widths.len()) {
            Some(1) => _ = self.given.insert(key, Arc::new(layout)),
            // Accesses of another shape may have this layout too, and be sure of it.
            Some(_) => _ = self.contested.insert(key),
            None => {}
        }
        self.accesses.entry(group).or_default().insert(width);
    }
}

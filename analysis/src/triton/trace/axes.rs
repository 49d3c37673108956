//! How wide accesses to global memory are, from what is known of their pointers.

use std::rc::Rc;

use super::super::axis_info::AxisInfo;
use super::super::language::Dtype;
use super::super::layouts::{Layout, access_layout};
use super::super::program::ValueId;
use super::Tracer;
use super::registers::narrow;
use super::value::{Tensor, Value};

/// What divides an argument that the compiler specialises for.
const DIVISIBLE: u64 = 16;

impl Tracer<'_> {
    pub(super) fn note_axes(&mut self, of: ValueId, info: Option<AxisInfo>) {
        self.axes[of.0 as usize] = info.map(Rc::new);
    }

    fn axes_of(&self, of: ValueId) -> Option<Rc<AxisInfo>> {
        self.axes.get(of.0 as usize).cloned().flatten()
    }

    /// Whether an argument is known to be a multiple of 16.
    pub(super) fn is_divisible(&self, name: &str) -> bool {
        self.launch.divisible.as_ref().is_some_and(|names| names.contains(name))
    }

    /// Of an argument. Nothing is known where nobody says which are aligned.
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
            let (mut info, mut has) = ((*info).clone(), (*tensor.shape).clone());
            while has.len() < shape.len() {
                info = info.expand_dims(0);
                has.insert(0, 1);
            }
            Some(info.broadcast(&has, shape))
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
            _ => None,
        };
        self.note_axes(of, found);
    }

    /// The layout in which pointers are stored through, where that is known.
    pub(super) fn stored_in(&self, pointers: &Tensor) -> Option<Layout> {
        let info = self.axes_of(pointers.id)?;
        let shape = narrow(&pointers.shape).ok()?;
        let bits = pointers.dtype.element().bits.max(8);
        let order = info.order();
        let fastest = *order.first()? as usize;
        let aligned = (info.divisibility[fastest] * 8 / u64::from(bits)).max(1);
        let width = aligned.min(info.contiguity[fastest]).min(u64::from(shape[fastest]));
        access_layout(&shape, bits, width, &order, self.warps as u32, &self.launch.hardware)
    }
}

//! What Python does with a tensor: members, methods, arithmetic.

use tilefit_syntax::ast::BinaryOp;

use super::{ElementType, Tensor, device, dtype, extents, int, unknown};
use crate::eval::{Behaviour, Constant, Object, Parts, Weighed};

/// Parts that a tensor is cut into.
const MOST_CHUNKS: i64 = 64;

impl<D: ElementType> Tensor<D> {
    fn axis(&self, axis: i64) -> Option<usize> {
        let rank = self.shape.as_ref()?.len();
        let axis = if axis < 0 { axis + rank as i64 } else { axis };
        usize::try_from(axis).ok().filter(|axis| *axis < rank)
    }

    fn extent(&self, axis: i64) -> Constant {
        let extent = self.axis(axis).and_then(|axis| self.shape.as_ref()?.get(axis));
        extent.cloned().unwrap_or_else(|| unknown("an extent of a tensor whose shape is not known"))
    }

    /// What is known of a tensor that is this or the other.
    pub fn or(&self, other: &Tensor<D>) -> Tensor<D> {
        let extent = |(one, other): (&Constant, &Constant)| match one == other {
            true => one.clone(),
            false => unknown("an extent that depends on a condition"),
        };
        let shape = match (&self.shape, &other.shape) {
            (Some(one), Some(other)) if one.len() == other.len() => Some(one.iter().zip(other).map(extent).collect()),
            _ => None,
        };
        Tensor {
            shape,
            dtype: self.dtype.filter(|dtype| Some(*dtype) == other.dtype),
            is_contiguous: self.is_contiguous.filter(|it| Some(*it) == other.is_contiguous),
        }
    }

    fn cast(&self, dtype: Option<D>) -> Tensor<D> {
        Tensor { dtype, ..self.clone() }
    }

    /// As the result of a function whose values are no integers.
    pub(super) fn of_floats(&self) -> Tensor<D> {
        self.cast(self.dtype.and_then(|dtype| if dtype.is_float() { Some(dtype) } else { D::of_torch("float32") }))
    }

    /// Of another shape, in the same order.
    fn of_shape(&self, shape: Option<Parts<Constant>>) -> Tensor<D> {
        let is_contiguous = self.is_contiguous.filter(|is_contiguous| *is_contiguous);
        Tensor { shape, dtype: self.dtype, is_contiguous }
    }

    /// With the axes in another order.
    fn reordered(&self, shape: Option<Parts<Constant>>) -> Tensor<D> {
        // An axis of one element may stand anywhere.
        let is_plain = |extent: &Constant| int(extent).is_some_and(|extent| extent > 1);
        let is_contiguous = match &shape {
            Some(extents) if extents.iter().all(is_plain) && self.shape != shape => {
                self.is_contiguous.filter(|is_contiguous| *is_contiguous).map(|_| false)
            }
            _ => None,
        };
        Tensor { shape, dtype: self.dtype, is_contiguous }
    }

    /// Elements from one to the next along an axis.
    fn stride(&self, axis: i64) -> Option<i64> {
        let shape = self.shape.as_ref().filter(|_| self.is_contiguous == Some(true))?;
        count(&shape[self.axis(axis)? + 1..])
    }

    fn transposed(&self, one: i64, other: i64) -> Tensor<D> {
        let shape = self.axis(one).zip(self.axis(other)).zip(self.shape.clone()).map(|((one, other), mut shape)| {
            shape.edit(|shape| shape.swap(one, other));
            shape
        });
        self.reordered(shape)
    }

    fn unsqueezed(&self, axis: i64) -> Tensor<D> {
        let shape = self.shape.clone().and_then(|mut shape| {
            let axis = if axis < 0 { axis + shape.len() as i64 + 1 } else { axis };
            let axis = usize::try_from(axis).ok().filter(|axis| *axis <= shape.len())?;
            shape.edit(|shape| shape.insert(axis, Constant::Int(1)));
            Some(shape)
        });
        self.of_shape(shape)
    }

    fn reshaped(&self, extents: Option<Parts<Constant>>) -> Tensor<D> {
        let total = self.shape.as_deref().and_then(count);
        let with = |shape: Parts<Constant>| {
            let open = shape.iter().position(|extent| *extent == Constant::Int(-1));
            let others = shape.iter().enumerate().filter(|(at, _)| Some(*at) != open).map(|(_, extent)| extent);
            let others = count(others);
            let follows = || total?.checked_div(others?).map(Constant::Int);
            let extent = |(at, extent): (usize, Constant)| match &extent {
                Constant::Int(0..) => extent,
                _ => (Some(at) == open).then(follows).flatten().unwrap_or_else(|| unknown("an extent that follows")),
            };
            let shape: Parts<Constant> = shape.into_iter().enumerate().map(extent).collect();
            // It has as many elements.
            count(&shape).zip(total).is_none_or(|(count, total)| count == total).then_some(shape)
        };
        self.of_shape(extents.and_then(with))
    }

    fn permuted(&self, axes: &[&Constant]) -> Tensor<D> {
        let extent = |axis: &Constant| int(axis).map(|axis| self.extent(axis));
        let axes = extents(axes).filter(|_| self.shape.is_some());
        self.reordered(axes.and_then(|axes| axes.iter().map(extent).collect()))
    }

    /// Of matrices; the shape of others is not known.
    pub(super) fn product(&self, other: &Tensor<D>) -> Option<Tensor<D>> {
        let shape = match (self.shape.as_deref(), other.shape.as_deref()) {
            (Some([_, one]), Some([other, _])) if int(one).zip(int(other)).is_some_and(|(one, other)| one != other) => {
                return None;
            }
            (Some([rows, _]), Some([_, columns])) => Some([rows.clone(), columns.clone()].into()),
            _ => None,
        };
        (self.dtype == other.dtype).then_some(Tensor { shape, dtype: self.dtype, is_contiguous: None })
    }

    /// Element by element, which stays in shape where the shapes are the same.
    fn with_tensor(&self, op: BinaryOp, other: &Tensor<D>) -> Option<Tensor<D>> {
        if op == BinaryOp::MatMul {
            return self.product(other);
        }
        let shape = self.shape.clone().filter(|_| self.shape == other.shape);
        let both = self.is_contiguous == Some(true) && other.is_contiguous == Some(true);
        let result = Tensor { is_contiguous: (both && shape.is_some()).then_some(true), shape, dtype: self.dtype };
        let result = if op == BinaryOp::Div { result.of_floats() } else { result };
        (self.dtype == other.dtype).then_some(result)
    }

    /// With what is no tensor. A value that is not known is taken to be a number.
    fn with_number(&self, op: BinaryOp, number: &Constant) -> Option<Tensor<D>> {
        let is_integer = matches!(number, Constant::Int(_) | Constant::Bool(_));
        match self.dtype {
            _ if op == BinaryOp::MatMul => Some(self.reordered(None)),
            _ if is_integer && op != BinaryOp::Div => Some(self.clone()),
            Some(dtype) if dtype.is_float() || is_integer || matches!(number, Constant::Float(_)) => {
                Some(self.of_floats())
            }
            _ => None,
        }
    }
}

/// The product of extents.
fn count<'e>(extents: impl IntoIterator<Item = &'e Constant>) -> Option<i64> {
    let extent = |extent| int(extent).filter(|extent| *extent >= 0);
    extents.into_iter().try_fold(1_i64, |product, part| product.checked_mul(extent(part)?))
}

impl<D> Weighed for Tensor<D> {
    fn weight(&self) -> usize {
        self.shape.as_ref().map_or(1, Parts::weight)
    }

    fn depth(&self) -> u32 {
        self.shape.as_ref().map_or(0, Parts::depth)
    }
}

impl<D: ElementType> Behaviour for Tensor<D> {
    /// Its elements are not known.
    fn truth(&self) -> Option<bool> {
        None
    }

    fn is_known(&self) -> bool {
        false
    }

    /// What changes its elements leaves its shape.
    fn is_lasting(&self) -> bool {
        true
    }

    fn equals(&self, other: &Object) -> bool {
        other.get() == Some(self)
    }

    fn named(&self, _: &str) -> Option<Constant> {
        None
    }

    fn member(&self, name: &str) -> Option<Constant> {
        Some(match name {
            "shape" => self.shape.clone().map_or_else(|| unknown("the shape of a tensor"), Constant::Tuple),
            "dtype" => self.dtype.map_or_else(|| unknown("the element type of a tensor"), D::constant),
            "ndim" => Constant::Int(self.shape.as_ref()?.len() as i64),
            "device" => device::<D>(),
            "T" | "mT" => Constant::object(self.transposed(-2, -1)),
            "data" => Constant::object(self.clone()),
            _ => return None,
        })
    }

    fn with_member(&self, _: &str, _: &Constant) -> Option<Constant> {
        None
    }

    fn method(&self, name: &str, args: &[Constant]) -> Option<Constant> {
        let each: Vec<&Constant> = args.iter().collect();
        Some(Constant::object(match (name, args) {
            ("to" | "type" | "cuda" | "npu", _) => {
                // Of a dtype or a device: what is neither known to be one could be the other.
                let stated = args.iter().find_map(D::of_constant);
                let is_plain = args.iter().all(|arg| !matches!(arg, Constant::Unknown(_)));
                self.cast(stated.or(self.dtype.filter(|_| is_plain)))
            }
            ("half" | "bfloat16" | "float" | "double" | "int" | "long" | "short" | "bool", _) => self.cast(dtype(name)),
            ("view", [stated]) if D::of_constant(stated).is_some() => {
                Tensor { shape: None, dtype: D::of_constant(stated), ..self.clone() }
            }
            ("view" | "reshape", _) => self.reshaped(extents(&each)),
            ("view_as" | "reshape_as" | "expand_as", _) => {
                let other = args.first().and_then(|other| other.get::<Tensor<D>>());
                self.of_shape(other.and_then(|other| other.shape.clone()))
            }
            ("contiguous", _) => Tensor { is_contiguous: Some(true), ..self.clone() },
            (
                "clone" | "detach" | "cpu" | "requires_grad_" | "share_memory_" | "normal_" | "uniform_" | "random_"
                | "zero_" | "fill_" | "copy_" | "mul_" | "add_" | "div_" | "abs" | "neg" | "clamp" | "clamp_",
                _,
            ) => self.clone(),
            ("exp", []) => self.of_floats(),
            ("t", []) => self.transposed(0, 1),
            ("transpose" | "swapaxes", [Constant::Int(one), Constant::Int(other)]) => self.transposed(*one, *other),
            ("transpose" | "swapaxes", _) => self.reordered(None),
            ("unsqueeze", [Constant::Int(axis)]) => self.unsqueezed(*axis),
            ("permute", _) => self.permuted(&each),
            _ => return self.said(name, args),
        }))
    }

    fn either(&self, other: &Object) -> Option<Constant> {
        Some(Constant::object(self.or(other.get()?)))
    }

    fn binary(&self, op: BinaryOp, left: &Constant, right: &Constant) -> Option<Constant> {
        let result = match (left.get::<Tensor<D>>(), right.get::<Tensor<D>>()) {
            (Some(one), Some(other)) => one.with_tensor(op, other),
            (Some(tensor), None) => tensor.with_number(op, right),
            (None, Some(tensor)) => tensor.with_number(op, left),
            (None, None) => None,
        };
        Some(result.map_or_else(|| unknown("arithmetic of tensors"), Constant::object))
    }
}

impl<D: ElementType> Tensor<D> {
    /// What methods say of it, and the parts that they cut it into.
    fn said(&self, name: &str, args: &[Constant]) -> Option<Constant> {
        let part = || Constant::object(self.reordered(None));
        match (name, args) {
            ("size", []) => self.member("shape"),
            ("size", [Constant::Int(axis)]) => Some(self.extent(*axis)),
            ("dim", _) => self.member("ndim"),
            ("stride", []) => {
                let axes = 0..self.shape.as_ref()?.len() as i64;
                let strides: Option<_> = axes.map(|axis| self.stride(axis).map(Constant::Int)).collect();
                strides.map(Constant::Tuple)
            }
            ("stride", [Constant::Int(axis)]) => self.stride(*axis).map(Constant::Int),
            ("is_contiguous", []) => self.is_contiguous.map(Constant::Bool),
            ("numel" | "nelement", _) => {
                let count = self.shape.as_deref().and_then(count);
                Some(count.map_or_else(|| unknown("the count of elements of a tensor"), Constant::Int))
            }
            ("element_size", _) => Some(Constant::Int(self.dtype?.bytes() as i64)),
            ("split" | "tensor_split", [Constant::List(sizes) | Constant::Tuple(sizes), ..]) => {
                Some(Constant::Tuple(sizes.iter().map(|_| part()).collect()))
            }
            ("chunk", [Constant::Int(parts @ 1..=MOST_CHUNKS), ..]) => {
                Some(Constant::Tuple((0..*parts).map(|_| part()).collect()))
            }
            _ => None,
        }
    }
}

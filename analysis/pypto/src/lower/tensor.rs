//! Tensors inside of a kernel: windows, elements and operations, as the author wrote them. What tiles the compiler makes of
//! them is decided later ([`crate::passes::tensor_to_tile`]); only shapes and element types are needed here.

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Reason;
use tilefit_syntax::ast::{Expr, ExprId};

use super::body::{HostValue, Lowering, Rhs, Term};
use crate::ir::{Call, Operand, Scalar, ScalarBinary, TensorLayout, TensorType, Type, VarId};
use crate::ops::OpId;
use crate::passes::tensor_to_tile::{self, Untyped};
use crate::typing::scalar;

fn unknown(reason: impl Into<Reason>) -> Rhs {
    Rhs::Term(Term::Unknown(reason.into()))
}

/// The part of a tensor that a subscript selects.
struct Window {
    offsets: Vec<Scalar>,
    extents: Vec<Scalar>,
    /// Axes with a single index.
    dropped: Vec<usize>,
}

impl Lowering<'_> {
    /// A call on tensors, with the type of its result.
    pub(super) fn on_tensors(&mut self, call: Call, at: ExprId) -> Rhs {
        if let Some(ty) = self.refused(&call, at, true) {
            return Rhs::Call(call, ty);
        }
        match tensor_to_tile::result_type(&call, &self.state.vars, &self.state.constants) {
            Ok(ty) => Rhs::Call(call, ty),
            Err(Untyped::Unknown(reason)) => {
                self.note(at, reason.clone());
                Rhs::Call(call, Type::Unknown(reason))
            }
            Err(Untyped::Refused(message)) => {
                self.reject(at, Code::InvalidOperand, message.clone());
                Rhs::Call(call, Type::Unknown(Reason::new(message)))
            }
        }
    }

    /// `x[i, j]`
    pub(super) fn tensor_element(&mut self, at: ExprId, var: VarId, tensor: &TensorType, indices: &[ExprId]) -> Rhs {
        let offsets: Vec<Scalar> = indices.iter().map(|&index| self.scalar(index)).collect();
        if self.state.host {
            self.host_reads(at, [var]);
        }
        if self.state.host || tensor.dtype.is_none() {
            return Rhs::Term(Term::Scalar(Scalar::Unknown(Reason::new("an element of a tensor"))));
        }
        let args = vec![Operand::Var(var), Operand::List(offsets)];
        let call = self.make_call(OpId::TENSOR_READ, args, Vec::new(), at);
        self.on_tensors(call, at)
    }

    /// `x[i:j, k]`
    pub(super) fn tensor_window(&mut self, at: ExprId, var: VarId, tensor: &TensorType, indices: &[ExprId]) -> Rhs {
        let Some(window) = self.subscripted(at, var, tensor, indices) else {
            return unknown("an unknown window");
        };
        let Window { offsets, extents, dropped } = window;
        if self.state.host {
            let kept = extents.into_iter().enumerate().filter(|(axis, _)| !dropped.contains(axis));
            let shape = kept.map(|(_, extent)| extent).collect();
            let layout = TensorLayout::Nd;
            let ty = Type::Tensor(TensorType { shape, layout, is_output: false, ..tensor.clone() });
            return Rhs::Host(ty, HostValue::PartOf(var));
        }
        let mut args = vec![Operand::Var(var), Operand::List(extents), Operand::List(offsets)];
        if !dropped.is_empty() {
            args.push(Operand::List(Vec::new()));
            args.push(Operand::List(dropped.iter().map(|&axis| Scalar::Int(axis as i64)).collect()));
        }
        let call = self.make_call(OpId::TENSOR_SLICE, args, Vec::new(), at);
        self.on_tensors(call, at)
    }

    /// `o[i:j, k] = value`, which means `o = pl.assemble(o, value, offsets)`.
    pub(super) fn tensor_write(
        &mut self,
        base: ExprId,
        name: &str,
        target: VarId,
        tensor: &TensorType,
        index: ExprId,
        value: ExprId,
    ) {
        if self.state.host {
            let written = self.expression(value);
            if let Type::Tile(_) = self.term_type(&written) {
                let message =
                    format!("the value written to a part of the tensor `{name}` must be a tensor, not a tile");
                return self.reject_anywhere(value, Code::InvalidOperand, message);
            }
            self.host_reads(value, written.var());
            let ty = Type::Tensor(TensorType { is_output: false, ..tensor.clone() });
            return self.assign(base, name, None, Rhs::Host(ty, HostValue::PartOf(target)));
        }
        let indices = self.indices(index);
        let Some(window) = self.subscripted(base, target, tensor, &indices) else { return };
        let source = match self.expression(value) {
            Term::Var(source) => source,
            Term::Unknown(reason) => {
                self.note(value, reason.clone());
                return self.bind(name, Term::Unknown(reason));
            }
            _ => {
                let message = format!(
                    "the value written to a part of `{name}` must be a tensor; to write one element, use `pl.write({name}, [i, j], value)`"
                );
                return self.reject(value, Code::InvalidOperand, message);
            }
        };
        if let (Type::Tensor(part), false) = (self.ty(source), self.is_narrowed(source)) {
            let shape = part.shape.clone();
            let is_known = part.rank_known;
            let window = self.written_extents(&indices, &tensor.shape);
            if is_known && !self.check_written(value, &window, &shape, None) {
                return;
            }
        }
        let source = match self.ty(source).clone() {
            Type::Tensor(part) if part.shape.len() < tensor.shape.len() => {
                self.lifted(value, source, &part, &window).unwrap_or(source)
            }
            Type::Tile(_) => {
                self.note(value, format!("a tile written to a part of the tensor `{name}`"));
                return;
            }
            _ => source,
        };
        let args = vec![Operand::Var(target), Operand::Var(source), Operand::List(window.offsets)];
        let call = self.make_call(OpId::TENSOR_ASSEMBLE, args, Vec::new(), base);
        let rhs = self.on_tensors(call, base);
        let name = name.to_owned();
        self.assign(base, &name, None, rhs);
    }

    /// The extents of a part that is written, without the axes that have a single index; `None` where they are not constant.
    pub(super) fn written_extents(&mut self, indices: &[ExprId], shape: &[Scalar]) -> Vec<Option<i64>> {
        let mut extents = Vec::new();
        for (axis, whole) in shape.iter().enumerate() {
            match indices.get(axis).map(|&index| self.ast.expr(index)) {
                None => extents.push(whole.as_literal()),
                Some(Expr::Slice { lower, upper, .. }) => {
                    let lower = lower.map_or(Scalar::Int(0), |lower| self.scalar(lower));
                    let upper = upper.map_or_else(|| whole.clone(), |upper| self.scalar(upper));
                    extents.push(match (&upper, &lower) {
                        (Scalar::Int(upper), Scalar::Int(lower)) => upper.checked_sub(*lower),
                        (Scalar::Binary(ScalarBinary::Add, start, extent), lower) if **start == *lower => {
                            extent.as_literal()
                        }
                        _ => None,
                    });
                }
                Some(_) => {}
            }
        }
        extents
    }

    /// Whether what is written to a part has its shape, as far as both are constant; an axis may also be narrowed to it.
    pub(super) fn check_written(
        &mut self,
        at: ExprId,
        window: &[Option<i64>],
        shape: &[Scalar],
        valid: Option<&[Scalar]>,
    ) -> bool {
        let added = shape.len().saturating_sub(window.len());
        let window = std::iter::repeat_n(&Some(1), added).chain(window);
        for (axis, (wanted, extent)) in window.zip(shape).enumerate() {
            let (Some(wanted), Some(extent)) = (wanted, extent.as_literal()) else { continue };
            let is_narrowed = match valid.and_then(|valid| valid.get(axis)) {
                Some(valid) => valid.as_literal().is_none_or(|valid| valid == *wanted),
                None => false,
            };
            if *wanted != extent && !is_narrowed {
                let message = format!(
                    "the value has {extent} elements along axis {axis}, but the part has {wanted}; write a part of {extent}, or a slice with {wanted}"
                );
                self.reject(at, Code::InvalidOperand, message);
                return false;
            }
        }
        true
    }

    /// The value with the axes that the subscript of the target dropped.
    fn lifted(&mut self, at: ExprId, source: VarId, part: &TensorType, window: &Window) -> Option<VarId> {
        let mut kept = part.shape.iter();
        let shape: Option<Vec<Scalar>> = (0..window.extents.len())
            .map(|axis| if window.dropped.contains(&axis) { Some(Scalar::Int(1)) } else { kept.next().cloned() })
            .collect();
        let args = vec![Operand::Var(source), Operand::List(shape?)];
        let call = self.make_call(OpId::RESHAPE, args, Vec::new(), at);
        match self.on_tensors(call, at) {
            Rhs::Call(call, ty) => Some(self.temporary(call, ty)),
            _ => None,
        }
    }

    fn subscripted(&mut self, at: ExprId, var: VarId, tensor: &TensorType, indices: &[ExprId]) -> Option<Window> {
        if !tensor.rank_known {
            let var = &self.state.vars[var.0 as usize];
            let what = format!("a window of `{}`, whose shape is unknown", var.name);
            let reason = Reason::new(what).with_remedy(var.way_to_shape());
            self.note(at, reason);
            return None;
        }
        if indices.len() > tensor.shape.len() {
            let message = format!("{} indices, but the tensor has {} axes", indices.len(), tensor.shape.len());
            self.reject(at, Code::InvalidOperand, message);
            return None;
        }
        let mut window = Window { offsets: Vec::new(), extents: Vec::new(), dropped: Vec::new() };
        for (axis, extent) in tensor.shape.iter().enumerate() {
            let (offset, extent) = match indices.get(axis).map(|&index| (index, self.ast.expr(index))) {
                None => (Scalar::Int(0), extent.clone()),
                Some((index, Expr::Slice { lower, upper, step })) => {
                    if step.is_some() {
                        self.reject(index, Code::Rejected, "a window of a tensor has no step".to_owned());
                        return None;
                    }
                    let lower = lower.map_or(Scalar::Int(0), |lower| self.scalar(lower));
                    let upper = upper.map_or_else(|| extent.clone(), |upper| self.scalar(upper));
                    let extent = difference(&upper, &lower);
                    (lower, extent)
                }
                Some((index, _)) => {
                    window.dropped.push(axis);
                    (self.scalar(index), Scalar::Int(1))
                }
            };
            window.offsets.push(offset);
            window.extents.push(extent);
        }
        Some(window)
    }
}

/// `upper - lower`, for windows: a number where what varies is the same in both.
pub(super) fn difference(upper: &Scalar, lower: &Scalar) -> Scalar {
    let mut sum = Linear::default();
    sum.add(upper, 1);
    sum.add(lower, -1);
    match (sum.constant(), upper, lower) {
        (Some(extent), ..) => Scalar::Int(extent),
        (None, Scalar::Unknown(reason), _) | (None, _, Scalar::Unknown(reason)) => Scalar::Unknown(reason.clone()),
        (None, ..) => scalar::binary(ScalarBinary::Sub, upper.clone(), lower.clone()),
    }
}

/// A sum of multiples of expressions, compared by their form.
#[derive(Default)]
struct Linear<'s> {
    constant: i64,
    terms: Vec<(&'s Scalar, i64)>,
    /// Too large to count, or made of what need not be the same each time.
    incomparable: bool,
}

impl<'s> Linear<'s> {
    fn add(&mut self, scalar: &'s Scalar, factor: i64) {
        match scalar {
            Scalar::Int(value) => match value.checked_mul(factor).and_then(|value| self.constant.checked_add(value)) {
                Some(sum) => self.constant = sum,
                None => self.incomparable = true,
            },
            Scalar::Unknown(_) | Scalar::Call(_) => self.incomparable = true,
            Scalar::Binary(ScalarBinary::Add, left, right) => {
                self.add(left, factor);
                self.add(right, factor);
            }
            Scalar::Binary(ScalarBinary::Sub, left, right) => {
                self.add(left, factor);
                self.add(right, -factor);
            }
            Scalar::Binary(ScalarBinary::Mul, left, right) => match (left.as_ref(), right.as_ref()) {
                (Scalar::Int(by), inner) | (inner, Scalar::Int(by)) => match factor.checked_mul(*by) {
                    Some(factor) => self.add(inner, factor),
                    None => self.incomparable = true,
                },
                _ => self.term(scalar, factor),
            },
            other => self.term(other, factor),
        }
    }

    fn term(&mut self, scalar: &'s Scalar, factor: i64) {
        match self.terms.iter_mut().find(|(known, _)| *known == scalar) {
            Some((_, sum)) => *sum = sum.saturating_add(factor),
            None => self.terms.push((scalar, factor)),
        }
    }

    fn constant(&self) -> Option<i64> {
        (!self.incomparable && self.terms.iter().all(|(_, factor)| *factor == 0)).then_some(self.constant)
    }
}

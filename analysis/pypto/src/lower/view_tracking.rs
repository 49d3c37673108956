//! Follows the views of tensors through operations (`tensor_ops/*.cpp`). A name keeps all of it (`ast_parser.py`, `_assign`).

use tilefit_python::element::Pad;

use super::body::{Lowering, Term};
use super::tensor_view::{Followed, TensorView};
use crate::ir::{Attr, AttrName, Call, Operand, Scalar, Type, Value, VarId};
use crate::ops::{Category, OpId, Shape};
use crate::typing::known;
use crate::typing::proof::{Proof, Prover};
use crate::typing::reshape::{self, Reshaped};

/// Operations element by element of which the compiler does not keep what part is valid.
const FORGETFUL: [OpId; 6] =
    [OpId::PART_ADD, OpId::PART_MUL, OpId::PART_MAX, OpId::PART_MIN, OpId::TENSOR_XOR, OpId::TENSOR_XORS];

impl Lowering<'_> {
    /// That of a value which is no tensor is the usual one.
    pub(super) fn view_of_value(&self, value: &Value) -> Followed {
        match value {
            Value::Copy(source) => self.view_of(*source),
            Value::Call(call) => self.view_of_result(call),
            Value::Scalar(_) | Value::Element { .. } => Some(TensorView::default()),
        }
    }

    pub(super) fn view_of_term(&self, term: &Term) -> Followed {
        term.var().map_or_else(|| Some(TensorView::default()), |var| self.view_of(var))
    }

    pub(super) fn view_of(&self, var: VarId) -> Followed {
        self.state.tensor_views.get(&var).cloned().unwrap_or_else(|| Some(TensorView::default()))
    }

    /// Keeps what is not as usual.
    pub(super) fn set_view(&mut self, var: VarId, view: Followed) {
        if view == Some(TensorView::default()) {
            self.state.tensor_views.remove(&var);
        } else {
            self.state.tensor_views.insert(var, view);
        }
    }

    /// Takes tensors for usual ones, and gives what is to be put back.
    pub(super) fn hide_views(&mut self, vars: Vec<VarId>) -> Vec<(VarId, Followed)> {
        vars.into_iter().filter_map(|var| Some((var, self.state.tensor_views.remove(&var)?))).collect()
    }

    fn view_of_result(&self, call: &Call) -> Followed {
        // Nothing but these makes another view of usual ones.
        let makes_views = matches!(
            call.op,
            OpId::TENSOR_SLICE | OpId::SET_VALIDSHAPE | OpId::TRANSPOSE | OpId::FILLPAD | OpId::FILLPAD_EXPAND
        );
        if !makes_views && self.state.tensor_views.is_empty() {
            return Some(TensorView::default());
        }
        let Some((source, shape)) = self.tensor_operand(call, 0) else { return Some(TensorView::default()) };
        let view = self.view_of(source);
        match call.op {
            OpId::TENSOR_SLICE => self.view_of_window(call, view?, &shape),
            OpId::TENSOR_WRITE => view,
            OpId::SET_VALIDSHAPE => {
                let valid = call.args[1..].iter().map(as_scalar).collect::<Option<Vec<Scalar>>>()?;
                Some(TensorView { valid: self.partial(valid, &shape), ..view? })
            }
            OpId::FILLPAD => Some(TensorView { valid: None, ..view? }),
            OpId::FILLPAD_EXPAND => Some(TensorView { valid: None, pad: padding(call), ..view? }),
            OpId::TRANSPOSE => transposed(call, view?, shape.len()),
            // A part of what is valid in part: it is not followed how the two come together.
            OpId::TENSOR_ASSEMBLE => view?.valid.is_none().then(TensorView::default),
            OpId::RESHAPE => self.view_of_reshaped(call, view?, &shape),
            OpId::REINTERPRET_VIEW => view.filter(|view| *view == TensorView::default()),
            op if FORGETFUL.contains(&op) => Some(TensorView::default()),
            _ => match (call.op.op().category, call.op.op().shape) {
                (Category::Unary, _) => Some(TensorView::part(view?.valid)),
                (Category::Elementwise, _) => self.view_of_elements(call, view?, &shape),
                (Category::Reduction, reduced) => {
                    let Some(mut valid) = view?.valid else { return Some(TensorView::default()) };
                    let axis = match reduced {
                        Shape::ColReduced if valid.len() == 2 => 0,
                        Shape::ColReduced => return None,
                        _ => valid.len().checked_sub(1)?,
                    };
                    valid[axis] = Scalar::Int(1);
                    let mut shape = shape;
                    shape[axis] = Scalar::Int(1);
                    Some(TensorView::part(self.partial(valid, &shape)))
                }
                _ => Some(TensorView::default()),
            },
        }
    }

    fn tensor_operand(&self, call: &Call, index: usize) -> Option<(VarId, Vec<Scalar>)> {
        let var = call.args.get(index)?.var()?;
        match self.ty(var) {
            Type::Tensor(tensor) if tensor.rank_known => Some((var, tensor.shape.clone())),
            _ => None,
        }
    }

    /// Operands of one shape whose parts are proved equal keep that part; otherwise all of the result is valid
    /// (`GetMatchingElementwiseValidShape`).
    fn view_of_elements(&self, call: &Call, first: TensorView, shape: &[Scalar]) -> Followed {
        let Some((other, other_shape)) = self.tensor_operand(call, 1) else {
            return Some(TensorView::part(first.valid));
        };
        let second = self.view_of(other)?;
        if shape != other_shape || (first.valid.is_none() && second.valid.is_none()) {
            return Some(TensorView::default());
        }
        let (one, two) = (first.valid.unwrap_or_else(|| shape.to_vec()), second.valid.unwrap_or(other_shape));
        let prover = Prover { vars: &self.state.vars };
        let mut proofs = one.iter().zip(&two).map(|(one, two)| prover.equal(&self.plain(one), &self.plain(two)));
        match proofs.find(|proof| *proof != Proof::Yes) {
            None => Some(TensorView::part(self.partial(one, shape))),
            Some(Proof::Unsure) => None,
            Some(_) => Some(TensorView::default()),
        }
    }

    fn view_of_reshaped(&self, call: &Call, source: TensorView, shape: &[Scalar]) -> Followed {
        let pad = source.pad;
        let Some(valid) = source.valid else { return Some(TensorView { pad, ..TensorView::default() }) };
        let Some(Operand::List(new)) = call.args.get(1) else { return None };
        let numbers = |extents: &[Scalar]| -> Option<Vec<u64>> {
            extents.iter().map(|extent| u64::try_from(self.plain(extent).as_int()?).ok()).collect()
        };
        let valid: Vec<Scalar> = valid.iter().map(|extent| self.plain(extent)).collect();
        let prover = Prover { vars: &self.state.vars };
        let is_row_major = source.order.is_empty();
        match reshape::valid(prover, &numbers(shape)?, &valid, &numbers(new)?, is_row_major) {
            Reshaped::Valid(valid) => Some(TensorView { valid: self.partial(valid, new), pad, order: Vec::new() }),
            Reshaped::Refused(_) | Reshaped::Unsure => None,
        }
    }

    fn view_of_window(&self, call: &Call, source: TensorView, whole: &[Scalar]) -> Followed {
        let Some(Operand::List(window)) = call.args.get(1) else { return None };
        let requested = match call.args.get(3) {
            Some(Operand::List(valid)) if !valid.is_empty() => Some(valid.clone()),
            Some(Operand::List(_)) | None => None,
            Some(_) => return None,
        };
        let is_clamped = !matches!(call.attr(AttrName::Clamp), None | Some(Attr::Bool(false)));
        if source.valid.is_some() || is_clamped || (requested.is_some() && window.len() != whole.len()) {
            return None;
        }
        let dropped = match call.args.get(4) {
            Some(Operand::List(axes)) => axes.iter().map(|axis| usize::try_from(axis.as_int()?).ok()).collect(),
            _ => Some(Vec::new()),
        }?;
        let kept = |extents: &[Scalar]| -> Vec<Scalar> {
            let kept = extents.iter().enumerate().filter(|(axis, _)| !dropped.contains(axis));
            kept.map(|(_, extent)| extent.clone()).collect()
        };
        let valid = requested.and_then(|valid| self.partial(kept(&valid), &kept(window)));
        Some(TensorView { valid, pad: padding(call).or(source.pad), order: Vec::new() })
    }

    /// The part, unless it is all of the shape.
    fn partial(&self, valid: Vec<Scalar>, shape: &[Scalar]) -> Option<Vec<Scalar>> {
        let is_whole = valid.len() == shape.len()
            && valid.iter().zip(shape).all(|(valid, extent)| self.plain(valid) == self.plain(extent));
        (!is_whole).then_some(valid)
    }

    fn plain(&self, extent: &Scalar) -> Scalar {
        known(extent, &self.state.constants)
    }
}

/// `tensor.transpose` exchanges axes of the view and moves no data; twice the same is as before.
fn transposed(call: &Call, view: TensorView, rank: usize) -> Followed {
    let axis = |index: usize| {
        let axis = as_scalar(call.args.get(index)?)?.as_int()?;
        usize::try_from(if axis < 0 { axis.checked_add_unsigned(rank as u64)? } else { axis }).ok()
    };
    let (one, other) = (axis(1)?, axis(2)?);
    if one >= rank || other >= rank || call.args.len() > 3 {
        return None;
    }
    let mut order = if view.order.is_empty() { (0..rank).collect() } else { view.order };
    order.swap(one, other);
    let is_usual = order.iter().enumerate().all(|(at, axis)| at == *axis);
    let valid = view.valid.map(|mut valid| {
        valid.swap(one, other);
        valid
    });
    Some(TensorView { valid, order: if is_usual { Vec::new() } else { order }, ..view })
}

fn padding(call: &Call) -> Option<Pad> {
    match call.attr(AttrName::PadValue) {
        Some(Attr::Pad(pad)) if *pad != Pad::Null => Some(*pad),
        _ => None,
    }
}

fn as_scalar(operand: &Operand) -> Option<Scalar> {
    match operand {
        Operand::Scalar(scalar) => Some(scalar.clone()),
        Operand::Var(var) => Some(Scalar::Var(*var)),
        _ => None,
    }
}

//! Scalar expressions: operators, folding, element types.

use std::cmp::Ordering;

use tilefit_python::element::Dtype;
use tilefit_syntax::ast::{BinaryOp, CompareOp};

use crate::ir::{Scalar, ScalarBinary, ScalarUnary, Type, Var, fold};

pub(crate) fn operator(op: BinaryOp) -> Option<ScalarBinary> {
    Some(match op {
        BinaryOp::Add => ScalarBinary::Add,
        BinaryOp::Sub => ScalarBinary::Sub,
        BinaryOp::Mul => ScalarBinary::Mul,
        BinaryOp::Div => ScalarBinary::Div,
        BinaryOp::FloorDiv => ScalarBinary::FloorDiv,
        BinaryOp::Mod => ScalarBinary::FloorMod,
        BinaryOp::Shl => ScalarBinary::Shl,
        BinaryOp::Shr => ScalarBinary::Shr,
        BinaryOp::MatMul | BinaryOp::Pow | BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => return None,
    })
}

pub(crate) fn comparison(op: CompareOp) -> Option<ScalarBinary> {
    Some(match op {
        CompareOp::Eq => ScalarBinary::Eq,
        CompareOp::Ne => ScalarBinary::Ne,
        CompareOp::Lt => ScalarBinary::Lt,
        CompareOp::Le => ScalarBinary::Le,
        CompareOp::Gt => ScalarBinary::Gt,
        CompareOp::Ge => ScalarBinary::Ge,
        CompareOp::Is | CompareOp::IsNot | CompareOp::In | CompareOp::NotIn => return None,
    })
}

/// The expression, folded where both operands are integers.
pub(crate) fn binary(op: ScalarBinary, left: Scalar, right: Scalar) -> Scalar {
    match folded(op, &left, &right) {
        Some(folded) => folded,
        None => Scalar::Binary(op, Box::new(left), Box::new(right)),
    }
}

pub(crate) fn folded(op: ScalarBinary, left: &Scalar, right: &Scalar) -> Option<Scalar> {
    let (Scalar::Int(left), Scalar::Int(right)) = (left, right) else { return None };
    fold::ints(op, *left, *right)
}

/// What keeps the compiler from combining scalars of two types, if something does.
pub(crate) fn conflict(op: ScalarBinary, left: Dtype, right: Dtype) -> Option<&'static str> {
    if matches!(op, ScalarBinary::And | ScalarBinary::Or) {
        return None;
    }
    if matches!(op, ScalarBinary::Shl | ScalarBinary::Shr) && !(left.is_integer() && right.is_integer()) {
        return Some("requires two integers");
    }
    let has_number = |dtype: Dtype| dtype.is_integer() || dtype.is_float();
    if !has_number(left) || !has_number(right) {
        return Some("requires two numbers");
    }
    (left.is_float() != right.is_float()).then_some("requires two integers or two floating-point numbers")
}

/// The type of two scalars combined: the wider one, of two of the same width the first.
fn combined(left: Dtype, right: Dtype) -> Dtype {
    if right.logical_bits() > left.logical_bits() { right } else { left }
}

/// The element type of a scalar expression; `None` where it is not known.
pub(crate) fn dtype(scalar: &Scalar, vars: &[Var]) -> Option<Dtype> {
    match scalar {
        Scalar::Int(_) | Scalar::Dim { .. } | Scalar::Dynamic(_) => Some(Dtype::Index),
        Scalar::Float(_) => Some(Dtype::Fp32),
        Scalar::Bool(_) => Some(Dtype::Bool),
        Scalar::Cast(dtype, _) | Scalar::Const(dtype, _) => Some(*dtype),
        Scalar::Var(var) => match vars.get(var.0 as usize).map(|var| &var.ty) {
            Some(Type::Scalar(dtype)) => Some(*dtype),
            _ => None,
        },
        Scalar::Unary(ScalarUnary::Not, _) => Some(Dtype::Bool),
        Scalar::Unary(_, operand) => dtype(operand, vars),
        Scalar::Binary(op, left, right) => match op {
            ScalarBinary::Eq
            | ScalarBinary::Ne
            | ScalarBinary::Lt
            | ScalarBinary::Le
            | ScalarBinary::Gt
            | ScalarBinary::Ge
            | ScalarBinary::And
            | ScalarBinary::Or => Some(Dtype::Bool),
            _ => Some(combined(dtype(left, vars)?, dtype(right, vars)?)),
        },
        Scalar::Call(_) | Scalar::Unknown(_) => None,
    }
}

/// The common type of two operands: float before integer, wide before narrow, signed before unsigned, else the first.
pub(crate) fn promoted(left: Dtype, right: Dtype) -> Dtype {
    if left.is_float() != right.is_float() {
        return if left.is_float() { left } else { right };
    }
    match left.logical_bits().cmp(&right.logical_bits()) {
        Ordering::Less => right,
        Ordering::Greater => left,
        Ordering::Equal if !left.is_float() && !is_signed(left) && is_signed(right) => right,
        Ordering::Equal => left,
    }
}

fn is_signed(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::Int4 | Dtype::Int8 | Dtype::Int16 | Dtype::Int32 | Dtype::Int64 | Dtype::Index)
}

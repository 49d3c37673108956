//! Scalar expressions in C++ (`docs/reference/codegen.md`, "Expressions").

use tilefit_python::element::Dtype;

use crate::ir::{Kernel, Scalar, ScalarBinary, ScalarUnary, Type, Var, VarId, visit};
use crate::ops::Selection;
use crate::ops::selection::Index;

use super::context::Context;
use super::sequence::{Affine, Elements};
use super::types;

/// Why an expression has no C++ text.
pub(super) type Refusal = String;

/// Why a variable has no value that could be printed: nothing is known of it, or the reason is at its definition.
fn without_value(var: VarId, kernel: &Kernel) -> Refusal {
    let Var { name, ty, .. } = kernel.var(var);
    match ty {
        Type::Unknown(reason) => format!("`{name}` is unknown: {reason}"),
        Type::Tile(_) | Type::Tensor(_) => format!("`{name}` has no scalar value in generated code"),
        _ => format!("the statement that defines `{name}` is not generated"),
    }
}

/// C++ of an expression, and what there is to know of it besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Expression {
    /// Operators always have parentheses around them.
    pub(super) text: String,
    /// Of a number.
    pub(super) value: Option<i64>,
    /// It is an operator: parentheses stand around all of the text.
    pub(super) enclosed: bool,
}

impl Expression {
    fn plain(text: String) -> Expression {
        Expression { text, value: None, enclosed: false }
    }

    fn enclosed(text: &str) -> Expression {
        Expression { text: format!("({text})"), value: None, enclosed: true }
    }
}

/// The text of an expression; operators always have parentheses around them.
pub(super) fn text(scalar: &Scalar, kernel: &Kernel, context: &Context) -> Result<String, Refusal> {
    Ok(expression(scalar, kernel, context)?.text)
}

/// A number of elements: rows, columns.
pub(super) fn elements(scalar: &Scalar, kernel: &Kernel, context: &Context) -> Result<Elements, Refusal> {
    let Expression { text, value, .. } = expression(scalar, kernel, context)?;
    Ok(match value.and_then(|value| u64::try_from(value).ok()) {
        Some(number) => Elements::Known(number),
        None => Elements::RunTime(text),
    })
}

/// The variables by their names in C++, but for those in extents: these are made of what the kernel is given.
pub(super) fn names(scalar: &Scalar, context: &Context) -> Vec<String> {
    let mut names = Vec::new();
    visit::scalar_uses(scalar, &mut |var| names.extend(context.name(var).map(str::to_string)));
    names
}

pub(super) fn expression(scalar: &Scalar, kernel: &Kernel, context: &Context) -> Result<Expression, Refusal> {
    let print = |scalar: &Scalar| text(scalar, kernel, context);
    let (plain, enclosed) = (Expression::plain, |text: String| Expression::enclosed(&text));
    Ok(match scalar {
        Scalar::Int(value) => Expression { value: Some(*value), ..plain(value.to_string()) },
        Scalar::Float(value) => plain(float(value.get())),
        Scalar::Bool(value) => plain(value.to_string()),
        Scalar::Var(var) => match context.name(*var) {
            Some(name) => plain(name.to_string()),
            None => return Err(without_value(*var, kernel)),
        },
        Scalar::Unary(op, operand) => {
            let operand = print(operand)?;
            match op {
                ScalarUnary::Neg => enclosed(format!("-{operand}")),
                ScalarUnary::Not => enclosed(format!("!{operand}")),
                ScalarUnary::BitNot => enclosed(format!("~{operand}")),
                ScalarUnary::Abs => plain(format!("abs({operand})")),
            }
        }
        Scalar::Binary(op, left, right) => {
            let floor = !(is_natural(left, context) && is_natural(right, context));
            let floats = is_float(left, kernel) || is_float(right, kernel);
            let (l, r) = (print(left)?, print(right)?);
            match op {
                ScalarBinary::Min => plain(format!("min({l}, {r})")),
                ScalarBinary::Max => plain(format!("max({l}, {r})")),
                ScalarBinary::FloorDiv if floor => plain(format!("floor_div({l}, {r})")),
                ScalarBinary::FloorMod if floor => plain(format!("floor_mod({l}, {r})")),
                ScalarBinary::Div if !floats => plain(format!("true_div({l}, {r})")),
                _ => enclosed(format!("{l} {} {r}", operator(*op))),
            }
        }
        Scalar::Cast(dtype, operand) => {
            let ty = types::dtype(*dtype).ok_or_else(|| format!("{dtype} has no C++ type"))?;
            enclosed(format!("({ty}){}", print(operand)?))
        }
        Scalar::Const(_, number) => expression(number, kernel, context)?,
        Scalar::Dim { tensor, axis } => {
            let extent = kernel.tensor(*tensor).and_then(|ty| ty.shape.get(*axis as usize));
            match extent {
                Some(extent) if is_given(extent, kernel) => expression(extent, kernel, context)?,
                _ => {
                    let name = &kernel.var(*tensor).name;
                    return Err(format!("axis {axis} of `{name}` is known at run time only"));
                }
            }
        }
        Scalar::Dynamic(name) => match context.extent(name) {
            Some(extent) => plain(extent.to_string()),
            None => return Err(format!("the extent `{name}` is known at run time only")),
        },
        Scalar::Call(call) => match call.op.op().selection {
            Selection::Index(Index::Block) => plain("get_block_idx()".to_string()),
            Selection::Index(Index::BlockCount) => plain("get_block_num()".to_string()),
            Selection::Index(Index::VectorUnit) => plain("get_subblockid()".to_string()),
            _ => return Err(format!("`{}` has no C++ expression", call.op.op().name)),
        },
        Scalar::Unknown(reason) => return Err(reason.to_string()),
    })
}

/// Whether the extent of a tensor is made of numbers and of what the kernel is given: its scalar parameters, and what stands
/// after them.
pub(super) fn is_given(extent: &Scalar, kernel: &Kernel) -> bool {
    match extent {
        Scalar::Int(_) | Scalar::Dynamic(_) => true,
        Scalar::Var(var) => kernel.params.contains(var) && matches!(kernel.var(*var).ty, Type::Scalar(_)),
        Scalar::Unary(_, operand) | Scalar::Cast(_, operand) => is_given(operand, kernel),
        Scalar::Binary(_, left, right) => is_given(left, kernel) && is_given(right, kernel),
        _ => false,
    }
}

fn operator(op: ScalarBinary) -> &'static str {
    match op {
        ScalarBinary::Add => "+",
        ScalarBinary::Sub => "-",
        ScalarBinary::Mul => "*",
        ScalarBinary::Div | ScalarBinary::FloorDiv => "/",
        ScalarBinary::FloorMod => "%",
        ScalarBinary::Shl => "<<",
        ScalarBinary::Shr => ">>",
        ScalarBinary::Eq => "==",
        ScalarBinary::Ne => "!=",
        ScalarBinary::Lt => "<",
        ScalarBinary::Le => "<=",
        ScalarBinary::Gt => ">",
        ScalarBinary::Ge => ">=",
        ScalarBinary::And => "&&",
        ScalarBinary::Or => "||",
        ScalarBinary::Min => "min",
        ScalarBinary::Max => "max",
    }
}

/// The shortest text that reads back as the same single-precision number, always a floating literal.
pub(super) fn float(value: f64) -> String {
    if value.is_nan() {
        return "NAN".to_string();
    }
    if value.is_infinite() {
        return if value > 0.0 { "INFINITY" } else { "-INFINITY" }.to_string();
    }
    let single = value as f32;
    if single.is_infinite() || (single == 0.0 && value != 0.0) {
        return format!("{value:?}");
    }
    format!("{single:?}f")
}

pub(super) fn is_float(scalar: &Scalar, kernel: &Kernel) -> bool {
    match scalar {
        Scalar::Float(_) => true,
        Scalar::Var(var) => matches!(kernel.var(*var).ty, Type::Scalar(dtype) if dtype.is_float()),
        Scalar::Unary(_, operand) => is_float(operand, kernel),
        Scalar::Binary(ScalarBinary::Div, ..) => true,
        Scalar::Binary(op, left, right) => {
            use ScalarBinary::*;
            !matches!(op, Eq | Ne | Lt | Le | Gt | Ge | And | Or) && (is_float(left, kernel) || is_float(right, kernel))
        }
        Scalar::Cast(dtype, _) => dtype.is_float(),
        _ => false,
    }
}

/// Whether the value is an integer that is certainly not negative, for which C++ divides as Python does.
fn is_natural(scalar: &Scalar, context: &Context) -> bool {
    match scalar {
        Scalar::Int(value) => *value >= 0,
        Scalar::Var(var) => context.is_natural(*var),
        Scalar::Dim { .. } | Scalar::Dynamic(_) => true,
        Scalar::Call(call) => matches!(call.op.op().selection, Selection::Index(_)),
        Scalar::Binary(op, left, right) => {
            use ScalarBinary::*;
            matches!(op, Add | Mul | FloorDiv | FloorMod | Shl | Shr | Min | Max)
                && is_natural(left, context)
                && is_natural(right, context)
        }
        _ => false,
    }
}

/// Whether the text needs a variable to have a type of its own.
pub(super) fn mentions_variable(scalar: &Scalar) -> bool {
    match scalar {
        Scalar::Var(_) | Scalar::Call(_) => true,
        Scalar::Unary(_, operand) | Scalar::Cast(_, operand) => mentions_variable(operand),
        Scalar::Binary(_, left, right) => mentions_variable(left) || mentions_variable(right),
        _ => false,
    }
}

/// The C++ type of a local or carried scalar.
pub(super) fn local_type(dtype: Dtype) -> &'static str {
    types::dtype(dtype).unwrap_or("auto")
}

/// The expression as a sum over loop variables.
pub(super) fn affine(scalar: &Scalar, is_loop_variable: &dyn Fn(crate::ir::VarId) -> bool) -> Option<Affine> {
    match scalar {
        Scalar::Int(value) => Some(Affine::constant(*value)),
        Scalar::Var(var) if is_loop_variable(*var) => Some(Affine::variable(*var)),
        Scalar::Cast(dtype, operand) if !dtype.is_float() => affine(operand, is_loop_variable),
        Scalar::Unary(ScalarUnary::Neg, operand) => affine(operand, is_loop_variable)?.scale(-1),
        Scalar::Binary(op, left, right) => {
            let (left, right) = (affine(left, is_loop_variable)?, affine(right, is_loop_variable)?);
            match op {
                ScalarBinary::Add => left.add(&right, 1),
                ScalarBinary::Sub => left.add(&right, -1),
                ScalarBinary::Mul if left.terms.is_empty() => right.scale(left.constant),
                ScalarBinary::Mul if right.terms.is_empty() => left.scale(right.constant),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::float;

    #[test]
    fn floats_read_back_the_same() {
        assert_eq!(float(2.5), "2.5f");
        assert_eq!(float(1.0), "1.0f");
        assert_eq!(float(0.1), "0.1f");
        assert_eq!(float(1e-8), "1e-8f");
        assert_eq!(float(-3.0e38), "-3e38f");
        assert_eq!(float(1e300), "1e300");
        assert_eq!(float(f64::NEG_INFINITY), "-INFINITY");
    }
}

//! Tensors that code on the host makes with PyTorch, as far as their shapes and element types go.

use std::fmt;

use tilefit_syntax::ast::BinaryOp;

use crate::element::Dtype;
use crate::eval::{Argument, Behaviour, Constant, Object, Weighed, keyword};
use crate::finding::Reason;

/// A tensor of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    pub shape: Vec<i64>,
    pub dtype: Dtype,
}

impl Tensor {
    /// `[4096, 7168] bf16`
    pub fn from_text(text: &str) -> Option<Tensor> {
        let (extents, of_dtype) = text.trim().strip_prefix('[')?.split_once(']')?;
        let shape: Option<_> = extents.split(',').map(|extent| extent.trim().parse().ok()).collect();
        Some(Tensor { shape: shape?, dtype: dtype(of_dtype.trim())? }).filter(Tensor::is_plain)
    }

    /// Whether it has an axis, and elements along each.
    pub fn is_plain(&self) -> bool {
        !self.shape.is_empty() && self.shape.iter().all(|extent| *extent > 0)
    }
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.shape, self.dtype)
    }
}

/// `torch.float32` and the like; PyPTO's own names count, too.
fn dtype(name: &str) -> Option<Dtype> {
    Some(match name {
        "bfloat16" => Dtype::Bf16,
        "float16" | "half" => Dtype::Fp16,
        "float32" | "float" => Dtype::Fp32,
        "long" => Dtype::Int64,
        "int" => Dtype::Int32,
        "short" => Dtype::Int16,
        "float8_e4m3fn" => Dtype::from_name("FP8E4M3FN")?,
        "float8_e5m2" => Dtype::from_name("FP8E5M2")?,
        _ => return Dtype::from_name(&name.to_uppercase()),
    })
}

/// The meaning of a name; `None` where it is none of PyTorch's.
pub fn name(path: &[&str]) -> Option<Constant> {
    match path {
        ["torch", name] => dtype(name).map(Constant::Dtype),
        _ => None,
    }
}

/// What a call gives; `None` where the function is none of PyTorch's.
pub fn call(path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
    let ["torch", name] = path else { return None };
    let not_run = || unknown(format!("calls `torch.{name}`, which tilefit does not evaluate"));
    Some(made(name, &arguments()).map_or_else(not_run, Constant::object))
}

fn made(name: &str, args: &[Argument]) -> Option<Tensor> {
    let positional: Vec<&Constant> = args.iter().filter(|arg| arg.keyword.is_none()).map(|arg| &arg.value).collect();
    let keyword = |name: &str| keyword(args, name);
    let stated = match keyword("dtype") {
        Some(Constant::Dtype(dtype)) => Some(*dtype),
        Some(_) => return None,
        None => None,
    };
    match name {
        "randn" | "rand" | "zeros" | "ones" | "empty" => {
            let shape = match keyword("size") {
                Some(size) => extents(&[size])?,
                None => extents(&positional)?,
            };
            Some(Tensor { shape, dtype: stated.unwrap_or(Dtype::Fp32) })
        }
        "full" => {
            let shape = extents(&[keyword("size").or(positional.first().copied())?])?;
            let value = keyword("fill_value").or(positional.get(1).copied());
            Some(Tensor { shape, dtype: stated.or_else(|| of_value(value))? })
        }
        "randint" => {
            let size = keyword("size").or(positional.last().copied())?;
            Some(Tensor { shape: extents(&[size])?, dtype: stated.unwrap_or(Dtype::Int64) })
        }
        "arange" => match positional.as_slice() {
            [Constant::Int(stop)] => Some(Tensor { shape: vec![*stop], dtype: stated.unwrap_or(Dtype::Int64) }),
            [Constant::Int(start), Constant::Int(stop)] => {
                Some(Tensor { shape: vec![stop.checked_sub(*start)?], dtype: stated.unwrap_or(Dtype::Int64) })
            }
            _ => None,
        },
        "randperm" => match positional.as_slice() {
            [Constant::Int(count)] => Some(Tensor { shape: vec![*count], dtype: stated.unwrap_or(Dtype::Int64) }),
            _ => None,
        },
        "tensor" => {
            let (shape, first) = nested(positional.first()?)?;
            Some(Tensor { shape, dtype: stated.or_else(|| of_value(first))? })
        }
        "zeros_like" | "ones_like" | "empty_like" | "randn_like" | "rand_like" | "full_like" => {
            let model = positional.first()?.get::<Tensor>()?;
            Some(Tensor { shape: model.shape.clone(), dtype: stated.unwrap_or(model.dtype) })
        }
        "clone" | "abs" | "exp" | "sigmoid" | "relu" | "tanh" | "neg" | "rsqrt" | "sqrt" => match positional.as_slice()
        {
            [operand] => operand.get().cloned(),
            _ => None,
        },
        "matmul" | "mm" => match positional.as_slice() {
            [left, right] => product(left.get()?, right.get()?),
            _ => None,
        },
        _ => None,
    }
    .filter(|tensor| !tensor.shape.is_empty() && tensor.shape.iter().all(|extent| *extent > 0))
}

impl Weighed for Tensor {
    fn weight(&self) -> usize {
        1 + self.shape.len()
    }

    fn depth(&self) -> u32 {
        0
    }
}

impl Behaviour for Tensor {
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
        member(self, name)
    }

    fn with_member(&self, _: &str, _: &Constant) -> Option<Constant> {
        None
    }

    fn method(&self, name: &str, args: &[Constant]) -> Option<Constant> {
        Some(method(self, name, args))
    }

    fn either(&self, _: &Object) -> Option<Constant> {
        None
    }

    fn binary(&self, op: BinaryOp, left: &Constant, right: &Constant) -> Option<Constant> {
        let tensor = elementwise(op, left, right);
        Some(tensor.map_or_else(|| unknown("arithmetic of tensors"), Constant::object))
    }
}

/// `tensor.name(args)`
fn method(tensor: &Tensor, name: &str, args: &[Constant]) -> Constant {
    let as_is = || Some(tensor.clone());
    let cast = |dtype: Dtype| Some(Tensor { dtype, ..tensor.clone() });
    let result = match (name, args) {
        ("to" | "type", [Constant::Dtype(dtype)]) => cast(*dtype),
        ("to", [Constant::Str(_)] | []) => as_is(),
        ("float", []) => cast(Dtype::Fp32),
        ("half", []) => cast(Dtype::Fp16),
        ("bfloat16", []) => cast(Dtype::Bf16),
        ("int", []) => cast(Dtype::Int32),
        ("long", []) => cast(Dtype::Int64),
        ("contiguous" | "clone" | "cpu" | "cuda" | "npu" | "detach" | "share_memory_" | "abs" | "neg" | "exp", []) => {
            as_is()
        }
        ("fill_" | "mul_" | "div_" | "add_" | "uniform_" | "normal_" | "copy_" | "zero_" | "clamp_" | "clamp", _) => {
            as_is()
        }
        ("reshape" | "view", extents_of) => {
            let shape = extents(&extents_of.iter().collect::<Vec<_>>());
            shape.and_then(|shape| reshaped(tensor, shape))
        }
        ("t", []) => transposed(tensor, 0, 1),
        ("transpose", [Constant::Int(one), Constant::Int(other)]) => transposed(tensor, *one, *other),
        ("unsqueeze", [Constant::Int(at)]) => {
            usize::try_from(*at).ok().filter(|at| *at <= tensor.shape.len()).map(|at| {
                let mut shape = tensor.shape.clone();
                shape.insert(at, 1);
                Tensor { shape, dtype: tensor.dtype }
            })
        }
        ("size", [Constant::Int(axis)]) => {
            let axis = if *axis < 0 { *axis + tensor.shape.len() as i64 } else { *axis };
            let extent = usize::try_from(axis).ok().and_then(|axis| tensor.shape.get(axis));
            return extent.map_or_else(|| unknown("an axis that does not exist"), |extent| Constant::Int(*extent));
        }
        _ => None,
    };
    result.map_or_else(
        || unknown(format!("calls `{name}` of a tensor, which tilefit does not evaluate")),
        Constant::object,
    )
}

/// `tensor.name`
fn member(tensor: &Tensor, name: &str) -> Option<Constant> {
    match name {
        "shape" => Some(Constant::Tuple(tensor.shape.iter().map(|&extent| Constant::Int(extent)).collect())),
        "dtype" => Some(Constant::Dtype(tensor.dtype)),
        "T" => transposed(tensor, 0, 1).map(Constant::object),
        _ => None,
    }
}

/// Arithmetic between tensors of one shape, or with a number.
fn elementwise(op: BinaryOp, left: &Constant, right: &Constant) -> Option<Tensor> {
    match (left.get::<Tensor>(), right.get::<Tensor>()) {
        (Some(left), Some(right)) if op == BinaryOp::MatMul => product(left, right),
        (Some(left), Some(right)) => (left == right).then(|| left.clone()),
        (Some(tensor), None) => with_number(op, tensor, right),
        (None, Some(tensor)) => with_number(op, tensor, left),
        (None, None) => None,
    }
}

fn with_number(op: BinaryOp, tensor: &Tensor, number: &Constant) -> Option<Tensor> {
    let keeps_type = match number {
        Constant::Int(_) => tensor.dtype.is_float() || op != BinaryOp::Div,
        Constant::Float(_) => tensor.dtype.is_float(),
        _ => false,
    };
    keeps_type.then(|| tensor.clone())
}

/// Extents one by one, or in one list.
fn extents(values: &[&Constant]) -> Option<Vec<i64>> {
    let int = |value: &Constant| if let Constant::Int(extent) = value { Some(*extent) } else { None };
    match values {
        [Constant::List(extents) | Constant::Tuple(extents)] => extents.iter().map(int).collect(),
        values => values.iter().map(|value| int(value)).collect(),
    }
}

/// The extents of nested lists, and their first number.
fn nested(value: &Constant) -> Option<(Vec<i64>, Option<&Constant>)> {
    match value {
        Constant::List(elements) | Constant::Tuple(elements) => {
            let (mut shape, first) = nested(elements.first()?)?;
            shape.insert(0, elements.len() as i64);
            Some((shape, first))
        }
        Constant::Unknown(_) => None,
        value => Some((Vec::new(), Some(value))),
    }
}

fn of_value(value: Option<&Constant>) -> Option<Dtype> {
    match value? {
        Constant::Float(_) => Some(Dtype::Fp32),
        Constant::Int(_) => Some(Dtype::Int64),
        _ => None,
    }
}

fn product(left: &Tensor, right: &Tensor) -> Option<Tensor> {
    match (left.shape.as_slice(), right.shape.as_slice()) {
        ([rows, inner], [other, columns]) if inner == other && left.dtype == right.dtype => {
            Some(Tensor { shape: vec![*rows, *columns], dtype: left.dtype })
        }
        _ => None,
    }
}

fn reshaped(tensor: &Tensor, mut shape: Vec<i64>) -> Option<Tensor> {
    let count = |shape: &[i64]| shape.iter().try_fold(1_i64, |product, extent| product.checked_mul(*extent));
    let total = count(&tensor.shape)?;
    if let Some(open) = shape.iter().position(|extent| *extent == -1) {
        shape[open] = 1;
        shape[open] = total.checked_div(count(&shape)?)?;
    }
    (count(&shape)? == total).then_some(Tensor { shape, dtype: tensor.dtype })
}

fn transposed(tensor: &Tensor, one: i64, other: i64) -> Option<Tensor> {
    let rank = tensor.shape.len() as i64;
    let axis =
        |axis: i64| usize::try_from(if axis < 0 { axis + rank } else { axis }).ok().filter(|at| *at < rank as usize);
    let (one, other) = (axis(one)?, axis(other)?);
    let mut shape = tensor.shape.clone();
    shape.swap(one, other);
    Some(Tensor { shape, dtype: tensor.dtype })
}

fn unknown(reason: impl Into<String>) -> Constant {
    Constant::Unknown(Reason::new(reason))
}

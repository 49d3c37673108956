//! PyTorch, as far as the shapes and element types of the tensors go that code on the host makes. Parts of them may not be known.

mod autograd;
mod methods;
#[cfg(test)]
mod tests;

use std::fmt;
use std::panic::{RefUnwindSafe, UnwindSafe};

use crate::element::Dtype;
use crate::eval::{Argument, Constant, Parts, keyword};
use crate::finding::Reason;

pub use autograd::{Context, gradients};

/// Element types as kernels of a language have them.
pub trait ElementType: Copy + PartialEq + fmt::Debug + Send + Sync + RefUnwindSafe + UnwindSafe + 'static {
    /// The device that its kernels run on, by PyTorch's name.
    const DEVICE: &'static str;

    /// By PyTorch's longest name, `float16` and not `half`; `None` where the language has no such type.
    fn of_torch(name: &str) -> Option<Self>;

    /// `None` where the value is no element type.
    fn of_constant(value: &Constant) -> Option<Self>;

    fn constant(self) -> Constant;

    fn is_float(self) -> bool;

    /// Bytes of an element.
    fn bytes(self) -> u64;
}

impl ElementType for Dtype {
    const DEVICE: &'static str = "npu";

    fn of_torch(name: &str) -> Option<Dtype> {
        Some(match name {
            "bfloat16" => Dtype::Bf16,
            "float16" => Dtype::Fp16,
            "float32" => Dtype::Fp32,
            "float8_e4m3fn" => Dtype::Fp8E4M3Fn,
            "float8_e5m2" => Dtype::Fp8E5M2,
            "float8_e8m0fnu" => Dtype::Fp8E8M0,
            // Its own names count, too.
            _ => return Dtype::from_name(&name.to_uppercase()),
        })
    }

    fn of_constant(value: &Constant) -> Option<Dtype> {
        if let Constant::Dtype(dtype) = value { Some(*dtype) } else { None }
    }

    fn constant(self) -> Constant {
        Constant::Dtype(self)
    }

    fn is_float(self) -> bool {
        Dtype::is_float(self)
    }

    fn bytes(self) -> u64 {
        self.storage_bits().div_ceil(8)
    }
}

/// PyTorch's other names of element types.
const SHORT_NAMES: [(&str, &str); 6] = [
    ("half", "float16"),
    ("float", "float32"),
    ("double", "float64"),
    ("long", "int64"),
    ("int", "int32"),
    ("short", "int16"),
];

/// The element type of a name after `torch.`.
fn dtype<D: ElementType>(name: &str) -> Option<D> {
    D::of_torch(SHORT_NAMES.iter().find(|(short, _)| *short == name).map_or(name, |(_, name)| name))
}

/// A tensor of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor<D> {
    /// Extents, each of which may be unknown; `None`: not even how many.
    pub shape: Option<Parts<Constant>>,
    pub dtype: Option<D>,
    /// Whether its elements lie one behind the other, the last axis first.
    pub is_contiguous: Option<bool>,
}

/// A tensor of which all is known. It has an axis, and elements along each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known<D> {
    pub shape: Vec<i64>,
    pub dtype: D,
}

impl<D: ElementType> Known<D> {
    /// `[4096, 7168] bf16`
    pub fn from_text(text: &str) -> Option<Self> {
        let (extents, of_dtype) = text.trim().strip_prefix('[')?.split_once(']')?;
        let shape: Option<Vec<i64>> = extents.split(',').map(|extent| extent.trim().parse().ok()).collect();
        Known { shape: shape?, dtype: dtype(of_dtype.trim())? }.with_elements()
    }

    fn with_elements(self) -> Option<Self> {
        let has_elements = !self.shape.is_empty() && self.shape.iter().all(|extent| *extent > 0);
        has_elements.then_some(self)
    }

    /// As Python's value.
    pub fn constant(&self) -> Constant {
        let shape = self.shape.iter().map(|&extent| Constant::Int(extent)).collect();
        Constant::object(Tensor { shape: Some(shape), dtype: Some(self.dtype), is_contiguous: None })
    }

    /// The tensor that a value is, where all of it is known.
    pub fn of_constant(value: &Constant) -> Option<Self> {
        let tensor: &Tensor<D> = value.get()?;
        let shape = tensor.shape.as_ref()?.iter().map(int).collect::<Option<_>>()?;
        Known { shape, dtype: tensor.dtype? }.with_elements()
    }
}

impl<D: fmt::Display> fmt::Display for Known<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}", self.shape, self.dtype)
    }
}

/// The meaning of a name; `None` where it is none of PyTorch's.
pub fn name<D: ElementType>(path: &[&str]) -> Option<Constant> {
    match path {
        ["torch", name] => dtype(name).map(D::constant),
        _ => None,
    }
}

/// A device, any of which is the same here.
pub fn device<D: ElementType>() -> Constant {
    Constant::Str(D::DEVICE.to_owned())
}

/// A tensor of which only the element type is known.
pub fn of_type<D: ElementType>(dtype: &Constant) -> Option<Constant> {
    let dtype = Some(D::of_constant(dtype)?);
    Some(Constant::object(Tensor { shape: None, dtype, is_contiguous: None }))
}

/// What a call gives; `None` where the function is none of PyTorch's.
pub fn call<D: ElementType>(path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
    match path {
        ["torch", "device"] => Some(device::<D>()),
        ["torch", name] => {
            let not_run = || unknown(format!("calls `torch.{name}`, which tilefit does not evaluate"));
            Some(made::<D>(name, &arguments()).map_or_else(not_run, Constant::object))
        }
        _ => None,
    }
}

fn made<D: ElementType>(name: &str, arguments: &[Argument]) -> Option<Tensor<D>> {
    let positional: Vec<&Constant> =
        arguments.iter().filter(|argument| argument.keyword.is_none()).map(|argument| &argument.value).collect();
    let dtype = |default: Option<D>| match keyword(arguments, "dtype") {
        Some(Constant::None) | None => default,
        Some(stated) => D::of_constant(stated),
    };
    let is_plain = keyword(arguments, "memory_format").is_none();
    let fresh = |shape, dtype| Tensor { shape, dtype, is_contiguous: is_plain.then_some(true) };
    let size =
        |other: Option<&&Constant>| keyword(arguments, "size").or(other.copied()).and_then(|size| extents(&[size]));
    Some(match name {
        "empty" | "zeros" | "ones" | "randn" | "rand" => {
            let shape = keyword(arguments, "size").map_or_else(|| extents(&positional), |size| extents(&[size]));
            fresh(shape, dtype(D::of_torch("float32")))
        }
        "full" => {
            let value = keyword(arguments, "fill_value").or(positional.get(1).copied());
            fresh(size(positional.first()), dtype(value.and_then(of_value)))
        }
        "empty_strided" => {
            Tensor { is_contiguous: None, ..fresh(size(positional.first()), dtype(D::of_torch("float32"))) }
        }
        "randint" => fresh(size(positional.last()), dtype(D::of_torch("int64"))),
        "randperm" => fresh(size(positional.first()), dtype(D::of_torch("int64"))),
        "arange" => {
            let extent = match positional.as_slice() {
                [stop] => (*stop).clone(),
                [Constant::Int(start), Constant::Int(stop)] => Constant::Int(stop.checked_sub(*start)?),
                _ => unknown("the extent of a range"),
            };
            let float = positional.iter().find(|value| matches!(value, Constant::Float(_)));
            fresh(Some([extent].into()), dtype(float.or(positional.first()).and_then(|value| of_value(value))))
        }
        "tensor" => {
            let value = positional.first()?;
            fresh(nested(value), dtype(of_value(value)))
        }
        "empty_like" | "zeros_like" | "ones_like" | "randn_like" | "rand_like" | "full_like" => {
            let like = positional.first()?.get::<Tensor<D>>();
            Tensor {
                shape: like.and_then(|like| like.shape.clone()),
                dtype: dtype(like.and_then(|like| like.dtype)),
                is_contiguous: like.and_then(|like| like.is_contiguous).filter(|is_contiguous| *is_contiguous),
            }
        }
        "clone" | "abs" | "neg" | "relu" => positional.first()?.get::<Tensor<D>>()?.clone(),
        "exp" | "sigmoid" | "tanh" | "rsqrt" | "sqrt" => positional.first()?.get::<Tensor<D>>()?.of_floats(),
        "matmul" | "mm" => positional.first()?.get::<Tensor<D>>()?.product(positional.get(1)?.get()?)?,
        _ => return None,
    })
}

fn unknown(reason: impl Into<String>) -> Constant {
    Constant::Unknown(Reason::new(reason))
}

fn int(value: &Constant) -> Option<i64> {
    if let Constant::Int(value) = value { Some(*value) } else { None }
}

/// Extents one by one, or in one list.
fn extents(values: &[&Constant]) -> Option<Parts<Constant>> {
    match values {
        [Constant::List(extents) | Constant::Tuple(extents)] => Some(extents.clone()),
        [Constant::Unknown(_)] | [] => None,
        values => Some(values.iter().map(|value| (*value).clone()).collect()),
    }
}

/// The extents of nested lists.
fn nested(value: &Constant) -> Option<Parts<Constant>> {
    let mut shape = Vec::new();
    let mut value = value;
    while let Constant::List(elements) | Constant::Tuple(elements) = value {
        shape.push(Constant::Int(elements.len() as i64));
        value = elements.first()?;
    }
    let is_number = matches!(value, Constant::Int(_) | Constant::Float(_) | Constant::Bool(_));
    is_number.then(|| shape.into())
}

/// PyTorch's default for elements of that value.
fn of_value<D: ElementType>(value: &Constant) -> Option<D> {
    match value {
        Constant::Float(_) => D::of_torch("float32"),
        Constant::Int(_) => D::of_torch("int64"),
        Constant::Bool(_) => D::of_torch("bool"),
        Constant::List(elements) | Constant::Tuple(elements) => of_value(elements.first()?),
        _ => None,
    }
}

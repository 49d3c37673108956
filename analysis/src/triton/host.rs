//! What the host makes to launch kernels with: PyTorch's tensors and Triton's tensor descriptors, as far as they are known. Parts of them may not be.

use tilefit_syntax::ast::BinaryOp;

use crate::eval::{Argument, Behaviour, Constant, Object};
use crate::finding::Reason;

use super::language::Dtype;
use super::scenario::ArgumentType;

/// A tensor of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Extents, each of which may be unknown; `None`: not even how many.
    shape: Option<Vec<Constant>>,
    dtype: Option<Dtype>,
}

/// A tensor descriptor that the host makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    tensor: Tensor,
    /// What one load brings.
    block: Option<Vec<u64>>,
}

/// An element type of PyTorch, by its name there.
fn dtype(name: &str) -> Option<Dtype> {
    let name = match name {
        "half" => "float16",
        "float" => "float32",
        "double" => "float64",
        "long" => "int64",
        "int" => "int32",
        "short" => "int16",
        "bool" => "int1",
        "float8_e4m3fn" => "float8e4nv",
        "float8_e5m2" => "float8e5",
        "float8_e4m3fnuz" => "float8e4b8",
        "float8_e5m2fnuz" => "float8e5b16",
        // Triton takes bytes for scales.
        "float8_e8m0fnu" => "uint8",
        name => name,
    };
    Dtype::from_name(name).filter(|dtype| dtype.name == name)
}

/// What a name of PyTorch stands for: `torch.float16` for Triton's own type of such elements.
pub fn name(path: &[&str]) -> Option<Constant> {
    match path {
        ["torch", name] => dtype(name).map(Dtype::constant),
        _ => None,
    }
}

/// A device, any of which is the same here.
pub fn device() -> Constant {
    Constant::Str("cuda".to_owned())
}

/// What a call gives; `None` where the function is none of those that make something for a kernel.
pub fn call(path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
    match path {
        ["torch", "device"] | [.., "get_active_torch_device" | "current_device"] => Some(device()),
        ["torch", name] => made(name, &arguments()).map(Constant::object),
        ["pytest", "param"] => {
            let mut values = arguments().into_iter().filter(|argument| argument.keyword.is_none());
            let values: Vec<Constant> = values.by_ref().map(|argument| argument.value).collect();
            Some(if let [only] = values.as_slice() { only.clone() } else { Constant::Tuple(values) })
        }
        [.., "TensorDescriptor"] => Some(descriptor(&arguments(), 3)),
        [.., "TensorDescriptor", "from_tensor"] => Some(descriptor(&arguments(), 1)),
        _ => None,
    }
}

fn unknown(reason: impl Into<String>) -> Constant {
    Constant::Unknown(Reason::new(reason))
}

fn keyword<'a>(arguments: &'a [Argument], name: &str) -> Option<&'a Constant> {
    arguments.iter().find(|argument| argument.keyword.as_deref() == Some(name)).map(|argument| &argument.value)
}

fn made(name: &str, arguments: &[Argument]) -> Option<Tensor> {
    let positional: Vec<&Constant> =
        arguments.iter().filter(|argument| argument.keyword.is_none()).map(|argument| &argument.value).collect();
    let stated = keyword(arguments, "dtype");
    let dtype = |default: Option<Dtype>| match stated {
        Some(Constant::None) | None => default,
        Some(stated) => Dtype::from_constant(stated),
    };
    let float32 = Dtype::from_name("float32");
    let int64 = Dtype::from_name("int64");
    Some(match name {
        "empty" | "zeros" | "ones" | "randn" | "rand" => {
            let shape = keyword(arguments, "size").map_or_else(|| extents(&positional), |size| extents(&[size]));
            Tensor { shape, dtype: dtype(float32) }
        }
        "full" => Tensor {
            shape: keyword(arguments, "size").or(positional.first().copied()).and_then(|size| extents(&[size])),
            dtype: dtype(keyword(arguments, "fill_value").or(positional.get(1).copied()).and_then(of_value)),
        },
        "empty_strided" => {
            Tensor { shape: positional.first().and_then(|size| extents(&[size])), dtype: dtype(float32) }
        }
        "randint" => Tensor {
            shape: keyword(arguments, "size").or(positional.last().copied()).and_then(|size| extents(&[size])),
            dtype: dtype(int64),
        },
        "arange" => Tensor {
            shape: match positional.as_slice() {
                [stop] => Some(vec![(*stop).clone()]),
                _ => None,
            },
            dtype: dtype(positional.first().copied().and_then(of_value)),
        },
        "tensor" => Tensor { shape: None, dtype: dtype(positional.first().copied().and_then(of_value)) },
        "empty_like" | "zeros_like" | "ones_like" | "randn_like" | "rand_like" | "full_like" => {
            let like = positional.first()?.get::<Tensor>();
            let shape = like.and_then(|like| like.shape.clone());
            Tensor { shape, dtype: dtype(like.and_then(|like| like.dtype)) }
        }
        _ => return None,
    })
}

/// Extents one by one, or in one list.
fn extents(values: &[&Constant]) -> Option<Vec<Constant>> {
    match values {
        [Constant::List(extents) | Constant::Tuple(extents)] => Some(extents.clone()),
        [Constant::Unknown(_)] | [] => None,
        values => Some(values.iter().map(|value| (*value).clone()).collect()),
    }
}

/// PyTorch's default for elements of that value.
fn of_value(value: &Constant) -> Option<Dtype> {
    match value {
        Constant::Float(_) => Dtype::from_name("float32"),
        Constant::Int(_) => Dtype::from_name("int64"),
        Constant::Bool(_) => Dtype::from_name("int1"),
        Constant::List(elements) | Constant::Tuple(elements) => of_value(elements.first()?),
        _ => None,
    }
}

/// `TensorDescriptor(tensor, shape, strides, block)` or `from_tensor(tensor, block)`, whose block is the argument at that place.
fn descriptor(arguments: &[Argument], place: usize) -> Constant {
    let positional = |place: usize| {
        arguments.iter().filter(|argument| argument.keyword.is_none()).nth(place).map(|argument| &argument.value)
    };
    let Some(base) = positional(0).or_else(|| keyword(arguments, "base")).or_else(|| keyword(arguments, "tensor"))
    else {
        return unknown("a descriptor of nothing");
    };
    let tensor = match base.get::<Tensor>() {
        Some(tensor) => tensor.clone(),
        None => match base {
            Constant::Unknown(reason) => return Constant::Unknown(reason.clone()),
            _ => return unknown("a descriptor of something that is no tensor"),
        },
    };
    let block = keyword(arguments, "block_shape").or_else(|| positional(place));
    let extents = match block {
        Some(Constant::List(extents) | Constant::Tuple(extents)) => extents.as_slice(),
        _ => &[],
    };
    let number = |extent: &Constant| match extent {
        Constant::Int(extent) => u64::try_from(*extent).ok().filter(|extent| *extent > 0),
        _ => None,
    };
    let block: Option<Vec<u64>> = extents.iter().map(number).collect();
    // A block of one element is a dummy, in whose place a hook puts the real one. A layout is not looked into.
    let has_layout = keyword(arguments, "layout").is_some() || positional(place + 1).is_some();
    let block = block.filter(|block| block.iter().product::<u64>() > 1 && !has_layout);
    Constant::object(Descriptor { tensor, block })
}

/// A configuration of `triton.autotune`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// A dictionary.
    pub values: Constant,
    pub options: Options,
}

/// The options of a launch, as far as they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    pub num_warps: Option<u32>,
    pub num_ctas: Option<u32>,
    pub num_stages: Option<u32>,
}

impl Options {
    /// Takes the value where that is an option of the launch.
    pub fn set(&mut self, name: &str, value: &Constant) -> bool {
        let option = match name {
            "num_warps" => &mut self.num_warps,
            "num_ctas" => &mut self.num_ctas,
            "num_stages" => &mut self.num_stages,
            _ => return false,
        };
        if let Constant::Int(value) = value {
            *option = u32::try_from(*value).ok();
        }
        true
    }
}

/// `triton.Config(values, num_warps=…, …)`
pub fn configuration(arguments: &[Argument]) -> Constant {
    let values = arguments.first().filter(|argument| argument.keyword.is_none()).map(|argument| &argument.value);
    let Some(values) = values.or_else(|| keyword(arguments, "kwargs")) else {
        return unknown("a configuration without values");
    };
    let mut options = Options::default();
    for argument in arguments {
        if let Some(name) = &argument.keyword {
            options.set(name, &argument.value);
        }
    }
    Constant::object(Config { values: values.clone(), options })
}

impl Behaviour for Config {
    fn truth(&self) -> Option<bool> {
        Some(true)
    }

    fn is_known(&self) -> bool {
        false
    }

    /// `config.kwargs` is changed in place.
    fn is_lasting(&self) -> bool {
        false
    }

    fn equals(&self, other: &Object) -> bool {
        other.get() == Some(self)
    }

    fn named(&self, _: &str) -> Option<Constant> {
        None
    }

    fn member(&self, name: &str) -> Option<Constant> {
        let option = match name {
            "kwargs" => return Some(self.values.clone()),
            "num_warps" => self.options.num_warps,
            "num_ctas" => self.options.num_ctas,
            "num_stages" => self.options.num_stages,
            _ => return None,
        };
        option.map(|option| Constant::Int(i64::from(option)))
    }

    fn method(&self, _: &str, _: &[Constant]) -> Option<Constant> {
        None
    }

    fn binary(&self, _: BinaryOp, _: &Constant, _: &Constant) -> Option<Constant> {
        None
    }
}

/// What stands for an argument of that type in a signature: `*fp16`, `i32`, `tensordesc<…>`; `None` where it says nothing of memory.
pub fn of_signature(kind: &str) -> Option<Constant> {
    Some(match ArgumentType::from_text(kind)? {
        ArgumentType::Pointer { element } => {
            Constant::object(Tensor { shape: None, dtype: Dtype::from_name(&element) })
        }
        ArgumentType::Descriptor { element, block, layout } => Constant::object(Descriptor {
            tensor: Tensor { shape: None, dtype: Dtype::from_name(&element) },
            block: Some(block).filter(|_| layout.is_none()),
        }),
        ArgumentType::Scalar { .. } => return None,
    })
}

/// Whether a value that is passed is a multiple of 16, as the compiler asks; `None` where that is not known. Memory that PyTorch takes is aligned.
pub fn is_divisible(value: &Constant) -> Option<bool> {
    match value {
        Constant::Int(value) => Some(value % 16 == 0),
        Constant::Float(_) | Constant::Bool(_) | Constant::None => Some(false),
        Constant::Object(object) if object.get::<Tensor>().is_some() => Some(true),
        Constant::Object(object) if object.get::<Descriptor>().is_some() => Some(false),
        _ => None,
    }
}

/// What a kernel is given where it is launched with a value.
pub enum Passed {
    /// For a parameter that is a constexpr, or an element type.
    Value(Constant),
    /// A descriptor of which more is known than its element type.
    Argument(ArgumentType),
    Nothing,
}

/// What a parameter is where `value` is passed for it.
pub fn passed(value: &Constant, is_constexpr: bool) -> Passed {
    if let Some(tensor) = value.get::<Tensor>() {
        return tensor.dtype.map_or(Passed::Nothing, |dtype| Passed::Value(dtype.constant()));
    }
    if let Some(Descriptor { tensor, block }) = value.get::<Descriptor>() {
        let Some(dtype) = tensor.dtype else { return Passed::Nothing };
        return match block {
            Some(block) => {
                let argument =
                    ArgumentType::Descriptor { element: dtype.short().to_owned(), block: block.clone(), layout: None };
                Passed::Argument(argument)
            }
            None => Passed::Value(dtype.constant()),
        };
    }
    match value {
        Constant::Unknown(_) | Constant::Object(_) | Constant::Record(_) | Constant::Local(_) => Passed::Nothing,
        Constant::Function(_) => Passed::Nothing,
        // Without `constexpr` a number is a value of the launch, and no constant.
        value if is_lasting(value) && (is_constexpr || matches!(value, Constant::None | Constant::Member(_))) => {
            Passed::Value(value.clone())
        }
        _ => Passed::Nothing,
    }
}

/// Whether all of a value is known.
fn is_lasting(value: &Constant) -> bool {
    match value {
        Constant::Unknown(_) | Constant::Object(_) | Constant::Local(_) => false,
        Constant::List(values) | Constant::Tuple(values) => values.iter().all(is_lasting),
        Constant::Dict(pairs) => pairs.iter().all(|(key, value)| is_lasting(key) && is_lasting(value)),
        _ => true,
    }
}

impl Tensor {
    fn extent(&self, axis: i64) -> Constant {
        let shape = self.shape.as_deref().unwrap_or_default();
        let axis = if axis < 0 { axis + shape.len() as i64 } else { axis };
        let extent = usize::try_from(axis).ok().and_then(|axis| shape.get(axis));
        extent.cloned().unwrap_or_else(|| unknown("an extent of a tensor whose shape is not known"))
    }

    fn of_shape(&self, shape: Option<Vec<Constant>>) -> Constant {
        Constant::object(Tensor { shape, dtype: self.dtype })
    }

    fn transposed(&self, one: i64, other: i64) -> Constant {
        let shape = self.shape.clone().and_then(|mut shape| {
            let rank = shape.len() as i64;
            let axis = |axis: i64| usize::try_from(if axis < 0 { axis + rank } else { axis }).ok();
            let (one, other) = (axis(one)?, axis(other)?);
            (one < shape.len() && other < shape.len()).then(|| shape.swap(one, other))?;
            Some(shape)
        });
        self.of_shape(shape)
    }

    fn numel(&self) -> Constant {
        let product = self.shape.as_ref().and_then(|shape| {
            shape.iter().try_fold(1_i64, |product, extent| match extent {
                Constant::Int(extent) => product.checked_mul(*extent),
                _ => None,
            })
        });
        product.map_or_else(|| unknown("the count of elements of a tensor"), Constant::Int)
    }
}

impl Behaviour for Tensor {
    fn truth(&self) -> Option<bool> {
        None
    }

    fn is_known(&self) -> bool {
        false
    }

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
        match name {
            "shape" => Some(match &self.shape {
                Some(shape) => Constant::Tuple(shape.clone()),
                None => unknown("the shape of a tensor"),
            }),
            "dtype" => Some(self.dtype.map_or_else(|| unknown("the element type of a tensor"), Dtype::constant)),
            "ndim" => self.shape.as_ref().map(|shape| Constant::Int(shape.len() as i64)),
            "device" => Some(device()),
            "T" | "mT" => Some(self.transposed(-2, -1)),
            "data" => Some(self.of_shape(self.shape.clone())),
            _ => None,
        }
    }

    fn method(&self, name: &str, args: &[Constant]) -> Option<Constant> {
        let cast = |dtype: Option<Dtype>| Constant::object(Tensor { shape: self.shape.clone(), dtype });
        let int = |place: usize| match args.get(place) {
            Some(Constant::Int(value)) => Some(*value),
            _ => None,
        };
        Some(match name {
            "to" | "type" | "cuda" => {
                // Of a dtype or a device: what is neither known to be one could be the other.
                let types = args.iter().find_map(Dtype::from_constant);
                let is_plain = args.iter().all(|arg| !matches!(arg, Constant::Unknown(_)));
                cast(if is_plain || types.is_some() { types.or(self.dtype) } else { None })
            }
            "view" if args.len() == 1 && Dtype::from_constant(&args[0]).is_some() => {
                Constant::object(Tensor { shape: None, dtype: Dtype::from_constant(&args[0]) })
            }
            "half" => cast(Dtype::from_name("float16")),
            "bfloat16" => cast(Dtype::from_name("bfloat16")),
            "float" => cast(Dtype::from_name("float32")),
            "int" => cast(Dtype::from_name("int32")),
            "long" => cast(Dtype::from_name("int64")),
            "contiguous" | "clone" | "detach" | "cpu" | "requires_grad_" | "normal_" | "uniform_" | "random_"
            | "zero_" | "fill_" | "copy_" | "mul_" | "add_" | "div_" | "abs" | "clamp_" => {
                self.of_shape(self.shape.clone())
            }
            "t" => self.transposed(0, 1),
            "transpose" | "swapaxes" => match (int(0), int(1)) {
                (Some(one), Some(other)) => self.transposed(one, other),
                _ => self.of_shape(None),
            },
            "permute" => {
                let axes = extents(&args.iter().collect::<Vec<_>>());
                let extent =
                    |axis: &Constant| if let Constant::Int(axis) = axis { Some(self.extent(*axis)) } else { None };
                let is_known = self.shape.is_some();
                self.of_shape(axes.filter(|_| is_known).and_then(|axes| axes.iter().map(extent).collect()))
            }
            "view" | "reshape" => {
                let shape = extents(&args.iter().collect::<Vec<_>>());
                let is_plain = |extent: &Constant| matches!(extent, Constant::Int(extent) if *extent >= 0);
                let shape = shape.map(|shape| {
                    let known =
                        |extent: Constant| if is_plain(&extent) { extent } else { unknown("an extent that follows") };
                    shape.into_iter().map(known).collect()
                });
                self.of_shape(shape)
            }
            "size" => match args {
                [] => return self.member("shape"),
                [Constant::Int(axis)] => self.extent(*axis),
                _ => return None,
            },
            "numel" | "nelement" => self.numel(),
            "dim" => return self.member("ndim"),
            "element_size" => Constant::Int(self.dtype?.bytes() as i64),
            _ => return None,
        })
    }

    fn binary(&self, op: BinaryOp, left: &Constant, right: &Constant) -> Option<Constant> {
        let operands = (left.get::<Tensor>(), right.get::<Tensor>());
        let kept = match operands {
            (Some(one), Some(other)) if one.dtype == other.dtype && op != BinaryOp::Div => {
                let shape = one.shape.clone().filter(|_| one.shape == other.shape && op != BinaryOp::MatMul);
                Some(Tensor { shape, dtype: one.dtype })
            }
            (Some(tensor), None) | (None, Some(tensor)) => {
                let number = if operands.0.is_some() { right } else { left };
                let is_float = tensor.dtype.is_some_and(|dtype| dtype.name.contains("float"));
                let keeps = matches!(number, Constant::Int(_)) && op != BinaryOp::Div || is_float;
                keeps.then(|| tensor.clone())
            }
            _ => None,
        };
        Some(kept.map_or_else(|| unknown("arithmetic of tensors"), Constant::object))
    }
}

impl Behaviour for Descriptor {
    fn truth(&self) -> Option<bool> {
        Some(true)
    }

    fn is_known(&self) -> bool {
        false
    }

    /// `block_shape` is assigned.
    fn is_lasting(&self) -> bool {
        false
    }

    fn equals(&self, other: &Object) -> bool {
        other.get() == Some(self)
    }

    fn named(&self, _: &str) -> Option<Constant> {
        None
    }

    fn member(&self, name: &str) -> Option<Constant> {
        match name {
            "base" => Some(Constant::object(self.tensor.clone())),
            "shape" => self.tensor.member("shape"),
            _ => None,
        }
    }

    fn method(&self, _: &str, _: &[Constant]) -> Option<Constant> {
        None
    }

    fn binary(&self, _: BinaryOp, _: &Constant, _: &Constant) -> Option<Constant> {
        None
    }
}

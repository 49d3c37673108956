//! What the host makes to launch kernels with, as far as it is known: PyTorch's tensors, with Triton's types, and what is made of them.

use tilefit_syntax::ast::BinaryOp;

use tilefit_python::eval::{Argument, Behaviour, Constant, Object, OneOf, Weighed, keyword};
use tilefit_python::finding::Reason;
use tilefit_python::torch;

use super::argument_type::ArgumentType;
use super::language::Dtype;
use super::shared_layout::Nvmma;

/// A tensor of the host.
pub type Tensor = torch::Tensor<Dtype>;

/// A tensor descriptor that the host makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    tensor: Tensor,
    /// What one load brings; `None` also for a dummy, in whose place the real one comes later.
    block: Option<Vec<u64>>,
    layout: Stated,
}

/// A layout that is stated or not.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stated {
    /// The default of the block.
    Nothing,
    /// As Python text.
    Known(String),
    Unknown,
}

/// What Python knows by a text that kernels understand: a layout, a class or a function of the kernel's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    pub text: String,
    /// The path of the file whose names it uses; `None`: it means the same everywhere.
    pub file: Option<String>,
}

/// What a call gives; `None` where the function is none of those that make something for a kernel.
pub fn call(path: &[&str], arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
    match path {
        [.., "get_active_torch_device" | "current_device"] => Some(torch::device::<Dtype>()),
        ["pytest", "param"] => {
            let mut values = arguments().into_iter().filter(|argument| argument.keyword.is_none());
            let values: Vec<Constant> = values.by_ref().map(|argument| argument.value).collect();
            Some(if let [only] = values.as_slice() { only.clone() } else { Constant::Tuple(values.into()) })
        }
        [.., "TensorWrapper"] => {
            let arguments = arguments();
            let dtype = keyword(&arguments, "dtype").or_else(|| arguments.get(1).map(|argument| &argument.value));
            let base = arguments.first().and_then(|base| base.value.get::<Tensor>());
            let dtype = dtype.and_then(Dtype::from_constant);
            Some(base.map_or_else(
                || unknown("a tensor of another type"),
                |base| Constant::object(Tensor { dtype, ..base.clone() }),
            ))
        }
        ["triton", "testing", "Benchmark"] => {
            let parts = arguments().into_iter().filter_map(|part| Some((Constant::Str(part.keyword?), part.value)));
            Some(Constant::Dict(parts.collect()))
        }
        [.., "MXTensor", "to_mx"] => Some(scaled(&arguments())),
        [.., "TensorDescriptor"] => Some(descriptor(&arguments(), 3)),
        [.., "TensorDescriptor", "from_tensor"] => Some(descriptor(&arguments(), 1)),
        _ => None,
    }
}

fn unknown(reason: impl Into<String>) -> Constant {
    Constant::Unknown(Reason::new(reason))
}

/// A layout of Gluon that the host makes, by the canonical name of the function; `None` for other functions.
pub fn layout(canonical: &str, arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
    let path: Vec<&str> = canonical.strip_prefix("gl.")?.split('.').collect();
    match path.as_slice() {
        ["NVMMASharedLayout", "get_default_for"] => Some(default_layout(&arguments())),
        [.., name] if name.ends_with("Layout") => {
            let argument = |argument: &Argument| {
                let value = python(&argument.value)?;
                Some(argument.keyword.as_ref().map_or(value.clone(), |keyword| format!("{keyword}={value}")))
            };
            let arguments: Option<Vec<String>> = arguments().iter().map(argument).collect();
            Some(match arguments {
                Some(arguments) => written(format!("{name}({})", arguments.join(", "))),
                None => unknown("a layout of an unknown value"),
            })
        }
        _ => None,
    }
}

fn written(text: String) -> Constant {
    Constant::object(Written { text, file: None })
}

/// `NVMMASharedLayout.get_default_for(block, dtype, transposed, fp4_padded, cga_layout)`
fn default_layout(arguments: &[Argument]) -> Constant {
    let argument = |name: &str, place: usize| {
        let positional = || arguments.iter().filter(|argument| argument.keyword.is_none()).nth(place);
        keyword(arguments, name).or_else(|| positional().map(|argument| &argument.value))
    };
    let flag = |name: &str, place: usize| match argument(name, place) {
        None => Some(false),
        Some(Constant::Bool(value)) => Some(*value),
        Some(_) => None,
    };
    let extents = match argument("block_shape", 0) {
        Some(Constant::List(extents) | Constant::Tuple(extents)) => extents.as_slice(),
        _ => &[],
    };
    let extent =
        |extent: &Constant| if let Constant::Int(extent) = extent { u64::try_from(*extent).ok() } else { None };
    let block: Option<Vec<u64>> = extents.iter().map(extent).collect();
    let dtype = argument("dtype", 1).and_then(Dtype::from_constant);
    let (Some(block), Some(dtype), Some(transposed), Some(fp4_padded)) =
        (block.filter(|block| !block.is_empty()), dtype, flag("transposed", 2), flag("fp4_padded", 3))
    else {
        return unknown("the default layout of a block that is not known");
    };
    if argument("cga_layout", 4).is_some_and(|bases| !matches!(bases, Constant::None)) {
        return unknown("the default layout of a block of several CTAs");
    }
    let bits = u64::from(dtype.bits.max(8));
    let swizzle = Nvmma::default_swizzle(&block, bits, transposed, fp4_padded, &Vec::new());
    let python = |flag: bool| if flag { "True" } else { "False" };
    written(format!(
        "NVMMASharedLayout(swizzle_byte_width={swizzle}, element_bitwidth={bits}, rank={}, transposed={}, fp4_padded={})",
        block.len(),
        python(transposed),
        python(fp4_padded)
    ))
}

/// A value as Python writes it, where kernels understand that.
fn python(value: &Constant) -> Option<String> {
    let all = |values: &[Constant]| Some(values.iter().map(python).collect::<Option<Vec<_>>>()?.join(", "));
    Some(match value {
        Constant::Int(value) => value.to_string(),
        Constant::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        Constant::None => "None".to_owned(),
        Constant::Str(text) if !text.contains(['"', '\\', '\n']) => format!("\"{text}\""),
        Constant::List(values) => format!("[{}]", all(values)?),
        Constant::Tuple(values) => format!("[{}]", all(values)?),
        value => value.get::<Written>().filter(|written| written.file.is_none())?.text.clone(),
    })
}

impl Weighed for Written {
    fn weight(&self) -> usize {
        1 + self.text.len()
    }

    fn depth(&self) -> u32 {
        0
    }
}

impl Behaviour for Written {
    fn truth(&self) -> Option<bool> {
        Some(true)
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

    fn member(&self, _: &str) -> Option<Constant> {
        None
    }

    fn with_member(&self, _: &str, _: &Constant) -> Option<Constant> {
        None
    }

    fn method(&self, _: &str, _: &[Constant]) -> Option<Constant> {
        None
    }

    fn either(&self, _: &Object) -> Option<Constant> {
        None
    }

    fn binary(&self, _: BinaryOp, _: &Constant, _: &Constant) -> Option<Constant> {
        None
    }
}

/// A tensor in blocks with a scale each, as torchao makes them: elements, and one byte a scale.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scaled {
    elements: Tensor,
}

/// `MXTensor.to_mx(tensor, dtype, …)`
fn scaled(arguments: &[Argument]) -> Constant {
    let positional = |place: usize| {
        arguments.iter().filter(|argument| argument.keyword.is_none()).nth(place).map(|argument| &argument.value)
    };
    let Some(tensor) = positional(0).and_then(|tensor| tensor.get::<Tensor>()) else {
        return unknown("a scaled tensor of a value that is not a tensor");
    };
    let dtype = keyword(arguments, "elem_dtype").or_else(|| positional(1)).and_then(Dtype::from_constant);
    Constant::object(Scaled { elements: Tensor { dtype, ..tensor.clone() } })
}

impl Weighed for Scaled {
    fn weight(&self) -> usize {
        1 + self.elements.weight()
    }

    fn depth(&self) -> u32 {
        1 + self.elements.depth()
    }
}

impl Behaviour for Scaled {
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
            "qdata" => Some(Constant::object(self.elements.clone())),
            "scale" => {
                Some(Constant::object(Tensor { shape: None, dtype: Dtype::from_name("uint8"), is_contiguous: None }))
            }
            "shape" => self.elements.member("shape"),
            _ => None,
        }
    }

    fn with_member(&self, _: &str, _: &Constant) -> Option<Constant> {
        None
    }

    fn method(&self, _: &str, _: &[Constant]) -> Option<Constant> {
        None
    }

    fn either(&self, _: &Object) -> Option<Constant> {
        None
    }

    fn binary(&self, _: BinaryOp, _: &Constant, _: &Constant) -> Option<Constant> {
        None
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
            _ => return unknown("a descriptor of a value that is not a tensor"),
        },
    };
    let block_argument = keyword(arguments, "block_shape").or_else(|| positional(place));
    let layout = match keyword(arguments, "layout").or_else(|| positional(place + 1)) {
        None | Some(Constant::None) => Stated::Nothing,
        Some(layout) => layout.get::<Written>().map_or(Stated::Unknown, |layout| Stated::Known(layout.text.clone())),
    };
    let block = block_argument.and_then(block).filter(|_| layout != Stated::Unknown);
    Constant::object(Descriptor { tensor, block, layout })
}

/// The extents of a block. One of one element is a dummy.
fn block(value: &Constant) -> Option<Vec<u64>> {
    let extents = match value {
        Constant::List(extents) | Constant::Tuple(extents) => extents.as_slice(),
        _ => &[],
    };
    let number = |extent: &Constant| match extent {
        Constant::Int(extent) => u64::try_from(*extent).ok().filter(|extent| *extent > 0),
        _ => None,
    };
    let block: Option<Vec<u64>> = extents.iter().map(number).collect();
    block.filter(|block| block.iter().fold(1_u64, |all, extent| all.saturating_mul(*extent)) > 1)
}

/// An argument of that type as a signature has it: `*fp16`, `i32`, `tensordesc<…>`; `None` where that says nothing of memory.
pub fn of_signature(kind: &str) -> Option<Constant> {
    Some(match ArgumentType::from_text(kind)? {
        ArgumentType::Pointer { element } => {
            Constant::object(Tensor { shape: None, dtype: Dtype::from_name(&element), is_contiguous: None })
        }
        ArgumentType::Descriptor { element, block, layout } => Constant::object(Descriptor {
            tensor: Tensor { shape: None, dtype: Dtype::from_name(&element), is_contiguous: None },
            block: Some(block),
            layout: layout.map_or(Stated::Nothing, Stated::Known),
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
    /// A descriptor with more than its element type.
    Argument(ArgumentType),
    /// One of a few values, for a parameter that is a constexpr.
    OneOf(OneOf),
    Nothing,
}

/// What a parameter is where `value` is passed for it.
pub fn passed(value: &Constant, is_constexpr: bool) -> Passed {
    if let Some(tensor) = value.get::<Tensor>() {
        return tensor.dtype.map_or(Passed::Nothing, |dtype| Passed::Value(dtype.constant()));
    }
    if let Some(written) = value.get::<Written>() {
        return if is_constexpr { Passed::Value(Constant::Str(written.text.clone())) } else { Passed::Nothing };
    }
    if let Some(Descriptor { tensor, block, layout }) = value.get::<Descriptor>() {
        let Some(dtype) = tensor.dtype else { return Passed::Nothing };
        return match block {
            Some(block) => {
                let layout = match layout {
                    Stated::Known(text) => Some(text.clone()),
                    Stated::Nothing | Stated::Unknown => None,
                };
                let element = dtype.short().to_owned();
                Passed::Argument(ArgumentType::Descriptor { element, block: block.clone(), layout })
            }
            None => Passed::Value(dtype.constant()),
        };
    }
    match value {
        Constant::Unknown(_) | Constant::Object(_) | Constant::Record(_) | Constant::Local(_) => Passed::Nothing,
        Constant::Function(_) => Passed::Nothing,
        Constant::OneOf(choice) => {
            if is_constexpr {
                Passed::OneOf(choice.clone())
            } else {
                Passed::Nothing
            }
        }
        // Without `constexpr` a number is a value of the launch, and no constant; but the launcher compiles a kernel of its own for 1.
        value
            if is_lasting(value)
                && (is_constexpr || matches!(value, Constant::None | Constant::Member(_) | Constant::Int(1))) =>
        {
            Passed::Value(value.clone())
        }
        _ => Passed::Nothing,
    }
}

/// Whether all of a value is known.
fn is_lasting(value: &Constant) -> bool {
    match value {
        Constant::Unknown(_) | Constant::OneOf(_) | Constant::Object(_) | Constant::Local(_) => false,
        Constant::List(values) | Constant::Tuple(values) => values.iter().all(is_lasting),
        Constant::Dict(pairs) => pairs.iter().all(|(key, value)| is_lasting(key) && is_lasting(value)),
        _ => true,
    }
}

impl Weighed for Descriptor {
    fn weight(&self) -> usize {
        1 + self.tensor.weight()
    }

    fn depth(&self) -> u32 {
        1 + self.tensor.depth()
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
            "block_shape" => {
                let extents = self.block.as_ref()?.iter().map(|&extent| Constant::Int(extent as i64));
                Some(Constant::List(extents.collect()))
            }
            "layout" => match &self.layout {
                Stated::Known(text) => Some(Constant::object(Written { text: text.clone(), file: None })),
                Stated::Nothing | Stated::Unknown => None,
            },
            "shape" => self.tensor.member("shape"),
            _ => None,
        }
    }

    /// Whoever else holds a dummy finds the block of another there, which is no false one.
    fn with_member(&self, name: &str, value: &Constant) -> Option<Constant> {
        if name != "block_shape" || self.block.is_some() {
            return None;
        }
        let block = block(value).filter(|_| self.layout != Stated::Unknown);
        Some(Constant::object(Descriptor { block, ..self.clone() }))
    }

    fn method(&self, _: &str, _: &[Constant]) -> Option<Constant> {
        None
    }

    fn either(&self, other: &Object) -> Option<Constant> {
        let other: &Descriptor = other.get()?;
        let is_same = self.layout == other.layout;
        let block = self.block.clone().filter(|_| is_same && self.block == other.block);
        let layout = if is_same { self.layout.clone() } else { Stated::Unknown };
        Some(Constant::object(Descriptor { tensor: self.tensor.or(&other.tensor), block, layout }))
    }

    fn binary(&self, _: BinaryOp, _: &Constant, _: &Constant) -> Option<Constant> {
        None
    }
}

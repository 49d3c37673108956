//! What the host makes to launch kernels with: PyTorch's tensors and Triton's tensor descriptors, as far as they are known. Parts of them may not be.

use std::sync::{Arc, Mutex, PoisonError};

use tilefit_syntax::ast::BinaryOp;

use tilefit_python::eval::{Argument, Behaviour, Constant, Object, OneOf, Parts, Weighed, keyword};
use tilefit_python::finding::Reason;

use super::argument_type::ArgumentType;
use super::device::Arch;
use super::language::Dtype;
use super::shared_layout::Nvmma;

/// A tensor of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Extents, each of which may be unknown; `None`: not even how many.
    shape: Option<Parts<Constant>>,
    dtype: Option<Dtype>,
    /// Whether its elements lie one behind the other, the last axis first.
    is_contiguous: Option<bool>,
}

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

/// The meaning of a name of PyTorch: `torch.float16` is Triton's own type of such elements.
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
    let is_plain = keyword(arguments, "memory_format").is_none();
    let fresh = |shape, dtype| Tensor { shape, dtype, is_contiguous: is_plain.then_some(true) };
    Some(match name {
        "empty" | "zeros" | "ones" | "randn" | "rand" => {
            let shape = keyword(arguments, "size").map_or_else(|| extents(&positional), |size| extents(&[size]));
            fresh(shape, dtype(float32))
        }
        "full" => fresh(
            keyword(arguments, "size").or(positional.first().copied()).and_then(|size| extents(&[size])),
            dtype(keyword(arguments, "fill_value").or(positional.get(1).copied()).and_then(of_value)),
        ),
        "empty_strided" => Tensor {
            shape: positional.first().and_then(|size| extents(&[size])),
            dtype: dtype(float32),
            is_contiguous: None,
        },
        "randint" => fresh(
            keyword(arguments, "size").or(positional.last().copied()).and_then(|size| extents(&[size])),
            dtype(int64),
        ),
        "arange" => fresh(
            match positional.as_slice() {
                [stop] => Some([(*stop).clone()].into()),
                _ => None,
            },
            dtype(positional.first().copied().and_then(of_value)),
        ),
        "tensor" => fresh(None, dtype(positional.first().copied().and_then(of_value))),
        "empty_like" | "zeros_like" | "ones_like" | "randn_like" | "rand_like" | "full_like" => {
            let like = positional.first()?.get::<Tensor>();
            let shape = like.and_then(|like| like.shape.clone());
            Tensor {
                shape,
                dtype: dtype(like.and_then(|like| like.dtype)),
                is_contiguous: like.and_then(|like| like.is_contiguous).filter(|is_contiguous| *is_contiguous),
            }
        }
        _ => return None,
    })
}

/// What a function of autograd keeps for its gradient. All who have it have the same.
#[derive(Debug, Clone, Default)]
pub struct Context(Arc<Mutex<Vec<(String, Constant)>>>);

/// Of `ctx.save_for_backward(…)`.
const SAVED: &str = "saved_tensors";

impl Context {
    /// What is kept under two values may be either.
    fn keep(&self, name: &str, value: &Constant) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.iter_mut().find(|(other, _)| other == name) {
            Some((_, other)) if other != value => *other = unknown(format!("`{name}` is kept more than once")),
            Some(_) => {}
            None => kept.push((name.to_owned(), value.clone())),
        }
    }
}

impl Weighed for Context {
    fn weight(&self) -> usize {
        1
    }

    fn depth(&self) -> u32 {
        0
    }
}

impl Behaviour for Context {
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
        other.get::<Context>().is_some_and(|other| Arc::ptr_eq(&self.0, &other.0))
    }

    fn named(&self, _: &str) -> Option<Constant> {
        None
    }

    fn member(&self, name: &str) -> Option<Constant> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
    }

    fn with_member(&self, name: &str, value: &Constant) -> Option<Constant> {
        self.keep(name, value);
        Some(Constant::object(self.clone()))
    }

    fn method(&self, name: &str, args: &[Constant]) -> Option<Constant> {
        (name == "save_for_backward").then(|| {
            self.keep(SAVED, &Constant::Tuple(args.to_vec().into()));
            Constant::None
        })
    }

    fn either(&self, _: &Object) -> Option<Constant> {
        None
    }

    fn binary(&self, _: BinaryOp, _: &Constant, _: &Constant) -> Option<Constant> {
        None
    }
}

/// The device that a program asks Triton for: the one that kernels are planned for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GpuTarget(pub Arch);

impl GpuTarget {
    fn backend(self) -> &'static str {
        if self.0.is_amd() { "hip" } else { "cuda" }
    }
}

impl Weighed for GpuTarget {
    fn weight(&self) -> usize {
        1
    }

    fn depth(&self) -> u32 {
        0
    }
}

impl Behaviour for GpuTarget {
    fn truth(&self) -> Option<bool> {
        Some(true)
    }

    fn is_known(&self) -> bool {
        true
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
        Some(match name {
            "backend" => Constant::Str(self.backend().to_owned()),
            "arch" if self.0.is_amd() => Constant::Str(self.0.to_string()),
            "arch" => Constant::Int(self.0.capability().into()),
            _ => return None,
        })
    }

    fn with_member(&self, _: &str, _: &Constant) -> Option<Constant> {
        None
    }

    fn method(&self, name: &str, _: &[Constant]) -> Option<Constant> {
        let backend = name.strip_prefix("is_")?.strip_suffix("_backend")?;
        Some(Constant::Bool(backend == self.backend()))
    }

    fn either(&self, _: &Object) -> Option<Constant> {
        None
    }

    fn binary(&self, _: BinaryOp, _: &Constant, _: &Constant) -> Option<Constant> {
        None
    }
}

/// The gradients of what a function returns, each of which is a tensor like that.
pub fn gradients(returned: &Constant) -> Vec<Constant> {
    let one = |value: &Constant| match value.get::<Tensor>() {
        Some(tensor) => Constant::object(Tensor { is_contiguous: None, ..tensor.clone() }),
        None => unknown("the gradient of an unknown value"),
    };
    match returned {
        Constant::Tuple(values) | Constant::List(values) => values.iter().map(one).collect(),
        value => vec![one(value)],
    }
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

/// Extents one by one, or in one list.
fn extents(values: &[&Constant]) -> Option<Parts<Constant>> {
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

impl Tensor {
    fn extent(&self, axis: i64) -> Constant {
        let shape = self.shape.as_deref().unwrap_or_default();
        let axis = if axis < 0 { axis + shape.len() as i64 } else { axis };
        let extent = usize::try_from(axis).ok().and_then(|axis| shape.get(axis));
        extent.cloned().unwrap_or_else(|| unknown("an extent of a tensor whose shape is not known"))
    }

    /// What is known of a tensor that is this or the other.
    fn or(&self, other: &Tensor) -> Tensor {
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

    /// Of another shape, in the same order.
    fn of_shape(&self, shape: Option<Parts<Constant>>) -> Constant {
        let is_contiguous = self.is_contiguous.filter(|is_contiguous| *is_contiguous);
        Constant::object(Tensor { shape, dtype: self.dtype, is_contiguous })
    }

    /// With the axes in another order.
    fn reordered(&self, shape: Option<Parts<Constant>>) -> Constant {
        // An axis of one element may stand anywhere.
        let is_plain = |extent: &Constant| matches!(extent, Constant::Int(extent) if *extent > 1);
        let is_contiguous = match &shape {
            Some(extents) if extents.iter().all(is_plain) && self.shape != shape => {
                self.is_contiguous.filter(|is_contiguous| *is_contiguous).map(|_| false)
            }
            _ => None,
        };
        Constant::object(Tensor { shape, dtype: self.dtype, is_contiguous })
    }

    /// Elements from one to the next along an axis.
    fn stride(&self, axis: i64) -> Option<i64> {
        let shape = self.shape.as_ref().filter(|_| self.is_contiguous == Some(true))?;
        let axis = usize::try_from(if axis < 0 { axis + shape.len() as i64 } else { axis }).ok()?;
        shape.get(axis)?;
        shape[axis + 1..].iter().try_fold(1_i64, |stride, extent| match extent {
            Constant::Int(extent) => stride.checked_mul(*extent),
            _ => None,
        })
    }

    fn transposed(&self, one: i64, other: i64) -> Constant {
        let shape = self.shape.clone().and_then(|mut shape| {
            let rank = shape.len() as i64;
            let axis = |axis: i64| usize::try_from(if axis < 0 { axis + rank } else { axis }).ok();
            let (one, other) = (axis(one)?, axis(other)?);
            (one < shape.len() && other < shape.len()).then(|| shape.edit(|shape| shape.swap(one, other)))?;
            Some(shape)
        });
        self.reordered(shape)
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

impl Weighed for Tensor {
    fn weight(&self) -> usize {
        self.shape.as_ref().map_or(1, Parts::weight)
    }

    fn depth(&self) -> u32 {
        self.shape.as_ref().map_or(0, Parts::depth)
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
            "data" => Some(Constant::object(self.clone())),
            _ => None,
        }
    }

    fn with_member(&self, _: &str, _: &Constant) -> Option<Constant> {
        None
    }

    fn method(&self, name: &str, args: &[Constant]) -> Option<Constant> {
        let cast = |dtype: Option<Dtype>| Constant::object(Tensor { dtype, ..self.clone() });
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
                Constant::object(Tensor { shape: None, dtype: Dtype::from_constant(&args[0]), ..self.clone() })
            }
            "half" => cast(Dtype::from_name("float16")),
            "bfloat16" => cast(Dtype::from_name("bfloat16")),
            "float" => cast(Dtype::from_name("float32")),
            "int" => cast(Dtype::from_name("int32")),
            "long" => cast(Dtype::from_name("int64")),
            "contiguous" => Constant::object(Tensor { is_contiguous: Some(true), ..self.clone() }),
            "is_contiguous" if args.is_empty() => Constant::Bool(self.is_contiguous?),
            "stride" => match args {
                [] => {
                    let rank = self.shape.as_ref()?.len() as i64;
                    let strides = (0..rank).map(|axis| self.stride(axis).map(Constant::Int));
                    Constant::Tuple(strides.collect::<Option<_>>()?)
                }
                [Constant::Int(axis)] => Constant::Int(self.stride(*axis)?),
                _ => return None,
            },
            "clone" | "detach" | "cpu" | "requires_grad_" | "normal_" | "uniform_" | "random_" | "zero_" | "fill_"
            | "copy_" | "mul_" | "add_" | "div_" | "abs" | "clamp_" => Constant::object(self.clone()),
            "t" => self.transposed(0, 1),
            "transpose" | "swapaxes" => match (int(0), int(1)) {
                (Some(one), Some(other)) => self.transposed(one, other),
                _ => self.reordered(None),
            },
            "permute" => {
                let axes = extents(&args.iter().collect::<Vec<_>>());
                let extent =
                    |axis: &Constant| if let Constant::Int(axis) = axis { Some(self.extent(*axis)) } else { None };
                let is_known = self.shape.is_some();
                self.reordered(axes.filter(|_| is_known).and_then(|axes| axes.iter().map(extent).collect()))
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
            "view_as" | "reshape_as" | "expand_as" => {
                let other = args.first().and_then(|other| other.get::<Tensor>());
                self.of_shape(other.and_then(|other| other.shape.clone()))
            }
            "split" | "tensor_split" => match args.first() {
                Some(Constant::List(sizes) | Constant::Tuple(sizes)) => {
                    Constant::Tuple(sizes.iter().map(|_| self.reordered(None)).collect())
                }
                _ => return None,
            },
            "chunk" => match int(0) {
                Some(parts @ 1..=64) => Constant::Tuple((0..parts).map(|_| self.reordered(None)).collect()),
                _ => return None,
            },
            "numel" | "nelement" => self.numel(),
            "dim" => return self.member("ndim"),
            "element_size" => Constant::Int(self.dtype?.bytes() as i64),
            _ => return None,
        })
    }

    fn either(&self, other: &Object) -> Option<Constant> {
        Some(Constant::object(self.or(other.get()?)))
    }

    fn binary(&self, op: BinaryOp, left: &Constant, right: &Constant) -> Option<Constant> {
        let operands = (left.get::<Tensor>(), right.get::<Tensor>());
        let kept = match operands {
            (Some(one), Some(other)) if one.dtype == other.dtype && op != BinaryOp::Div => {
                let shape = one.shape.clone().filter(|_| one.shape == other.shape && op != BinaryOp::MatMul);
                let both = one.is_contiguous == Some(true) && other.is_contiguous == Some(true);
                Some(Tensor { is_contiguous: (both && shape.is_some()).then_some(true), shape, dtype: one.dtype })
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

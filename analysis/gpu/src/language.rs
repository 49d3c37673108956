//! The names of Triton and of the languages that come with it: modules under any import name, element types, and functions of constants.

use std::fmt;

use tilefit_python::eval::{Argument, Constant, Imports, OneOf, lifted};
use tilefit_python::finding::Reason;
use tilefit_python::torch::ElementType;

/// The modules of Triton by the prefix that this crate writes for them; longer paths first.
const MODULES: [(&str, &str); 5] = [
    ("triton.language.extra.tlx", "tlx"),
    ("triton.language", "tl"),
    ("triton.experimental.gluon.language", "gl"),
    ("triton.experimental.gluon", "gluon"),
    ("triton", "triton"),
];

/// `tlx.local_alloc`, `tl.cdiv`, `gl.allocate_shared_memory`, `triton.jit`: a dotted name under the usual names of its modules.
pub fn canonical(imports: &Imports, path: &[&str]) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let mut full = imports.module_of(first).and_then(own_path)?;
    for part in rest {
        full.push('.');
        full.push_str(part);
    }
    MODULES.iter().find_map(|(module, short)| {
        let inner = full.strip_prefix(module)?;
        (inner.is_empty() || inner.starts_with('.')).then(|| format!("{short}{inner}"))
    })
}

/// The path of a module of Triton, which may be imported by way of PyTorch.
fn own_path(path: &str) -> Option<String> {
    if path == "triton" || path.starts_with("triton.") {
        return Some(path.to_owned());
    }
    let (module, name) = path.rsplit_once('.')?;
    // What a module passes on that is not known, under its usual name.
    let passes_on = !module.starts_with("torch") || module.contains("triton");
    let usual = MODULES.iter().find(|(_, short)| *short == name && passes_on);
    if let Some((module, _)) = usual {
        return Some((*module).to_owned());
    }
    let is_passed_on =
        matches!(module, "torch._inductor.runtime.triton_compat" | "torch._inductor.runtime.triton_helpers");
    (is_passed_on && name == "libdevice").then(|| "triton.language.extra.libdevice".to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Class {
    Float,
    Fp8,
    Int,
}

/// An element type of Triton.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dtype {
    /// `bfloat16`, as in `tl.bfloat16`.
    pub name: &'static str,
    pub bits: u32,
    /// `bf16`, as in MLIR.
    pub mlir: &'static str,
    class: Class,
}

/// A row for an element type and one for pointers to it.
macro_rules! dtypes {
    ($($name:literal $bits:literal $mlir:literal $class:ident;)*) => {
        const DTYPES: &[Dtype] = &[$(Dtype { name: $name, bits: $bits, mlir: $mlir, class: Class::$class }),*];
        const POINTERS: &[Dtype] = &[$(Dtype {
            name: concat!("pointer_type(tl.", $name, ")"),
            bits: 64,
            mlir: concat!("!tt.ptr<", $mlir, ">"),
            class: Class::Int,
        }),*];
    };
}

dtypes! {
    "float64" 64 "f64" Float;
    "float32" 32 "f32" Float;
    "float16" 16 "f16" Float;
    "bfloat16" 16 "bf16" Float;
    "float8e4nv" 8 "f8E4M3FN" Fp8;
    "float8e5" 8 "f8E5M2" Fp8;
    "float8e4b8" 8 "f8E4M3FNUZ" Fp8;
    "float8e5b16" 8 "f8E5M2FNUZ" Fp8;
    "float8e4b15" 8 "i8" Fp8;
    "int64" 64 "i64" Int;
    "int32" 32 "i32" Int;
    "int16" 16 "i16" Int;
    "int8" 8 "i8" Int;
    "int1" 1 "i1" Int;
    "uint64" 64 "i64" Int;
    "uint32" 32 "i32" Int;
    "uint16" 16 "i16" Int;
    "uint8" 8 "i8" Int;
}

/// Short names that scenarios may use beside Triton's own.
const SHORT_DTYPES: [(&str, &str); 25] = [
    ("f64", "float64"),
    ("fp64", "float64"),
    ("f32", "float32"),
    ("fp32", "float32"),
    ("f16", "float16"),
    ("fp16", "float16"),
    ("bf16", "bfloat16"),
    ("fp8", "float8e4nv"),
    ("f8", "float8e4nv"),
    ("e4m3", "float8e4nv"),
    ("e5m2", "float8e5"),
    ("fp8e4nv", "float8e4nv"),
    ("fp8e5", "float8e5"),
    ("fp8e4b8", "float8e4b8"),
    ("fp8e5b16", "float8e5b16"),
    ("fp8e4b15", "float8e4b15"),
    ("i64", "int64"),
    ("i32", "int32"),
    ("i16", "int16"),
    ("i8", "int8"),
    ("i1", "int1"),
    ("u64", "uint64"),
    ("u32", "uint32"),
    ("u16", "uint16"),
    ("u8", "uint8"),
];

impl Dtype {
    /// The 64-bit integers that barriers are made of.
    pub const BARRIER: Dtype = Dtype { name: "int64", bits: 64, mlir: "i64", class: Class::Int };

    /// The type of an untyped argument: a number, a pointer or a descriptor.
    pub const UNTYPED: Dtype = Dtype { name: "untyped", bits: 32, mlir: "i32", class: Class::Int };

    /// Element type of an untyped pointer; as wide as the widest type.
    pub const ANY: Dtype = Dtype { name: "any", bits: 64, mlir: "i64", class: Class::Int };

    pub const POINTER_TO_ANY: Dtype =
        Dtype { name: "pointer_type(tl.any)", bits: 64, mlir: "!tt.ptr<i64>", class: Class::Int };

    /// What padding is made of.
    pub const BYTE: Dtype = Dtype { name: "uint8", bits: 8, mlir: "i8", class: Class::Int };

    /// What the hardware answers to a request for the next tile.
    pub const RESPONSE: Dtype = Dtype { name: "uint128", bits: 128, mlir: "ui128", class: Class::Int };

    pub fn from_name(name: &str) -> Option<Dtype> {
        let name = SHORT_DTYPES.iter().find(|(short, _)| *short == name).map_or(name, |(_, name)| name);
        DTYPES.iter().chain(POINTERS).copied().find(|dtype| dtype.name == name)
    }

    /// The first of those that MLIR calls so: it has no signs.
    pub fn from_mlir(name: &str) -> Option<Dtype> {
        DTYPES.iter().copied().find(|dtype| dtype.mlir == name)
    }

    pub fn pointer_to(self) -> Option<Dtype> {
        let at = DTYPES.iter().position(|&dtype| dtype == self)?;
        POINTERS.get(at).copied()
    }

    /// As in Triton's signatures: `fp16`, `bf16`, `fp8e4nv`, `i32`.
    pub fn short(self) -> &'static str {
        let is_signature = |short: &str| {
            short.starts_with("fp") && short != "fp8" || short.starts_with("bf") || short.starts_with(['i', 'u'])
        };
        SHORT_DTYPES
            .iter()
            .find(|(short, name)| *name == self.name && is_signature(short))
            .map_or(self.name, |(short, _)| *short)
    }

    pub fn is_float8(self) -> bool {
        self.class == Class::Fp8
    }

    /// Bytes of an element in shared memory: bits rounded up.
    pub fn bytes(self) -> u64 {
        u64::from(self.bits.div_ceil(8))
    }

    /// 8-bit integers in tensor memory hold the scales of a scaled product.
    pub fn is_scale(self) -> bool {
        self.bits == 8 && self.class == Class::Int
    }

    pub fn constant(self) -> Constant {
        Constant::Member(format!("tl.{}", self.name))
    }

    pub fn from_constant(value: &Constant) -> Option<Dtype> {
        match value {
            Constant::Member(name) => Dtype::from_name(name.strip_prefix("tl.")?),
            _ => None,
        }
    }
}

impl ElementType for Dtype {
    const DEVICE: &'static str = "cuda";

    fn of_torch(name: &str) -> Option<Dtype> {
        let name = match name {
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

    fn of_constant(value: &Constant) -> Option<Dtype> {
        Dtype::from_constant(value)
    }

    fn constant(self) -> Constant {
        Dtype::constant(self)
    }

    fn is_float(self) -> bool {
        self.class != Class::Int
    }

    fn bytes(self) -> u64 {
        Dtype::bytes(self)
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The meaning of a dotted name of Triton, by its canonical form.
pub fn name(canonical: &str) -> Option<Constant> {
    match canonical.split_once('.') {
        Some(("tl" | "gl", name)) => Dtype::from_name(name).filter(|dtype| dtype.name == name).map(Dtype::constant),
        _ => None,
    }
}

/// The value of a Triton function of constants, given its canonical name; `None` for all others.
pub fn call(canonical: &str, arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
    let function = match canonical {
        "tl.constexpr" | "gl.constexpr" | "tl.tuple" | "gl.tuple" => first,
        "triton.Config" => super::configuration::configuration,
        "tl.cdiv" | "gl.cdiv" | "triton.cdiv" => cdiv,
        "tl.next_power_of_2" | "triton.next_power_of_2" => next_power_of_2,
        "tl.pointer_type" | "gl.pointer_type" => pointer_type,
        "tl.make_tensor_descriptor" => descriptor,
        _ => return None,
    };
    let arguments = arguments();
    let values: Vec<Constant> = arguments.iter().map(|argument| argument.value.clone()).collect();
    let of = |values: &[Constant]| {
        let with = |(argument, value): (&Argument, &Constant)| Argument { value: value.clone(), ..argument.clone() };
        function(&arguments.iter().zip(values).map(with).collect::<Vec<_>>())
    };
    // A configuration keeps what it may be given.
    let lifted = if canonical == "triton.Config" { None } else { lifted(&values, &of) };
    Some(lifted.unwrap_or_else(|| function(&arguments)))
}

fn unknown(reason: impl Into<String>) -> Constant {
    Constant::Unknown(Reason::new(reason))
}

/// The first argument, as it is.
pub fn first(arguments: &[Argument]) -> Constant {
    arguments.first().map_or_else(|| unknown("called without arguments"), |argument| argument.value.clone())
}

fn integer(argument: Option<&Argument>) -> Result<i64, Constant> {
    match argument.map(|argument| &argument.value) {
        Some(Constant::Int(value)) => Ok(*value),
        Some(Constant::Bool(value)) => Ok(i64::from(*value)),
        Some(Constant::Unknown(reason)) => Err(Constant::Unknown(reason.clone())),
        _ => Err(unknown("takes an integer")),
    }
}

/// Greater numbers are not rounded up to a power of two.
const MOST_ROUNDED: i64 = 1 << 40;

/// The least and the greatest that a number may be of which no more is known.
fn open_number(argument: Option<&Argument>) -> Option<(i64, i64)> {
    argument?.value.bounds().filter(|(least, most)| least < most)
}

fn cdiv(arguments: &[Argument]) -> Constant {
    if let (Some((least, most)), Ok(by)) = (open_number(arguments.first()), integer(arguments.get(1)))
        && by > 0
    {
        let rounded = |number: i64| Some(number.checked_add(by - 1)?.div_euclid(by));
        let bounds = rounded(least).zip(rounded(most));
        return bounds.map_or_else(|| unknown("too large"), |(least, most)| Constant::between(least, most));
    }
    let operands = integer(arguments.first()).and_then(|a| Ok((a, integer(arguments.get(1))?)));
    match operands {
        Ok((a, b)) if b > 0 => {
            a.checked_add(b - 1).map_or_else(|| unknown("too large"), |sum| Constant::Int(sum.div_euclid(b)))
        }
        Ok(_) => unknown("divides by a number that is not positive"),
        Err(unknown) => unknown,
    }
}

fn next_power_of_2(arguments: &[Argument]) -> Constant {
    if let Some((least, most @ 1..=MOST_ROUNDED)) = open_number(arguments.first()) {
        // There are no blocks of nothing.
        let power = |number: i64| (number.max(1) as u64).next_power_of_two().ilog2();
        return OneOf::of((power(least)..=power(most)).map(|power| Constant::Int(1 << power)));
    }
    match integer(arguments.first()) {
        Ok(value @ 1..=MOST_ROUNDED) => Constant::Int((value as u64).next_power_of_two() as i64),
        Ok(_) => unknown("the next power of two of something out of range"),
        Err(unknown) => unknown,
    }
}

fn pointer_type(arguments: &[Argument]) -> Constant {
    match arguments.first().map(|argument| &argument.value) {
        Some(Constant::Unknown(reason)) => Constant::Unknown(reason.clone()),
        Some(value) => match Dtype::from_constant(value).and_then(Dtype::pointer_to) {
            Some(pointer) => pointer.constant(),
            None => unknown("a pointer to a value that is not an element type"),
        },
        None => unknown("called without arguments"),
    }
}

/// A descriptor has the element type of its base pointer.
pub fn descriptor(arguments: &[Argument]) -> Constant {
    let base = arguments.iter().find(|argument| argument.keyword.as_deref() == Some("base"));
    let base = base.or(arguments.first().filter(|argument| argument.keyword.is_none()));
    match base.map(|argument| &argument.value) {
        Some(value) if Dtype::from_constant(value).is_some() => value.clone(),
        Some(Constant::Unknown(reason)) => Constant::Unknown(reason.clone()),
        _ => unknown("a descriptor over something that has no element type"),
    }
}

#[cfg(test)]
mod tests {
    use tilefit_python::eval::{Bindings, Bound};
    use tilefit_syntax::{Document, ast};

    use super::*;

    fn canonical(imports: &str, path: &str) -> Option<String> {
        let document = Document::new(imports);
        let (ast, _) = ast::parse(&document.blocks()[0].source);
        let mut bindings = Bindings::default();
        bindings.add(&ast, &super::super::members::has);
        let mut imports = Imports::default();
        for (name, bound) in bindings.names {
            let path = match bound {
                Bound::Path(path) => path,
                Bound::From { module, original } => format!("{}.{original}", module.name),
                Bound::Member { .. } => continue,
            };
            imports.bind(&name, path);
        }
        if !bindings.stars.is_empty() {
            imports.bind_usual_names();
        }
        super::canonical(&imports, &path.split('.').collect::<Vec<_>>())
    }

    #[test]
    fn modules_have_any_name() {
        for (imports, path) in [
            ("import triton.language.extra.tlx as tlx", "tlx.local_alloc"),
            ("import triton.language.extra.tlx as T", "T.local_alloc"),
            ("from triton.language.extra import tlx as x", "x.local_alloc"),
            ("from triton.language.extra.tlx import local_alloc as alloc", "alloc"),
            ("import triton", "triton.language.extra.tlx.local_alloc"),
            (
                "try:\n    import triton.language.extra.tlx as tlx\nexcept ImportError:\n    tlx = None",
                "tlx.local_alloc",
            ),
        ] {
            assert_eq!(canonical(imports, path).as_deref(), Some("tlx.local_alloc"), "{imports}");
        }
        assert_eq!(canonical("import blackwell_fa as tlx", "tlx.local_alloc"), None);
        for imports in [
            "from elsewhere.triton_utils import tl, triton",
            "from .compat import tl",
            "from ..compat import *",
            "from torch._inductor.runtime.triton_compat import tl",
        ] {
            assert_eq!(canonical(imports, "tl.load").as_deref(), Some("tl.load"), "{imports}");
        }
        assert_eq!(canonical("from triton import jit", "jit").as_deref(), Some("triton.jit"));
        for (imports, path) in [
            ("from triton.experimental import gluon", "gluon.jit"),
            ("from triton.experimental.gluon import jit", "jit"),
            ("import triton.experimental.gluon as gluon", "gluon.jit"),
        ] {
            assert_eq!(canonical(imports, path).as_deref(), Some("gluon.jit"), "{imports}");
        }
        let language = "from triton.experimental.gluon import language as ttgl";
        assert_eq!(canonical(language, "ttgl.nvidia.hopper.tma").as_deref(), Some("gl.nvidia.hopper.tma"));
        assert_eq!(canonical("import triton.language as tl", "tl.float32").as_deref(), Some("tl.float32"));
    }

    #[test]
    fn names_that_hang_on_what_triton_has() {
        let chain = |first: &str, second: &str| {
            format!(
                "import triton\nimport triton.language as tl\nif hasattr(triton.language, '{first}'):\n    make = triton.language.{first}\nelif hasattr(tl, '{second}'):\n    make = tl.{second}\nelse:\n    make = None"
            )
        };
        for (first, second, made) in [
            ("_experimental_make_tensor_descriptor", "make_tensor_descriptor", Some("tl.make_tensor_descriptor")),
            ("gather", "make_tensor_descriptor", Some("tl.gather")),
            // It is gone, as what comes behind it is.
            ("make_block_ptr", "_experimental_load", None),
            // Some version has it.
            ("async_task", "gather", None),
        ] {
            assert_eq!(canonical(&chain(first, second), "make").as_deref(), made, "{first}");
        }
    }

    #[test]
    fn names_of_one_function_in_several_libraries() {
        let head = "import triton.language as tl\nfrom triton.language.extra import libdevice\nfrom slow import exp as slow_exp\n";
        for (branches, canonical_path) in [
            ("if NEW:\n    f = libdevice.tanh\nelse:\n    f = tl.math.tanh", Some("tl.extra.libdevice.tanh")),
            (
                "if NEW:\n    if XPU:\n        f = tl.extra.intel.libdevice.tanh\n    else:\n        f = libdevice.tanh\nelse:\n    f = tl.math.tanh",
                Some("tl.extra.libdevice.tanh"),
            ),
            ("if NEW:\n    f = tl.exp\nelse:\n    f = tl.exp2", None),
            ("if NEW:\n    f = tl.exp\nelse:\n    f = slow_exp", None),
        ] {
            assert_eq!(canonical(&format!("{head}{branches}"), "f").as_deref(), canonical_path, "{branches}");
        }
    }
}

//! The names of Triton and TLX: modules under any import name, element types, storage kinds, and functions of constants.

use std::fmt;

use crate::eval::{Argument, Constant, Imports};
use crate::finding::Reason;

/// The modules of Triton by the prefix that this crate writes for them; longer paths first.
const MODULES: [(&str, &str); 3] =
    [("triton.language.extra.tlx", "tlx"), ("triton.language", "tl"), ("triton", "triton")];

/// False for files that no TLX kernel can be in.
pub fn has_tlx(imports: &Imports) -> bool {
    imports.modules().any(|path| path.starts_with("triton.language.extra.tlx"))
}

/// `tlx.local_alloc`, `tl.cdiv`, `triton.jit`: a dotted name under the usual names of its modules.
pub fn canonical(imports: &Imports, path: &[&str]) -> Option<String> {
    let (first, rest) = path.split_first()?;
    let mut full = imports.module_of(first).filter(|path| path.starts_with("triton"))?.to_owned();
    for part in rest {
        full.push('.');
        full.push_str(part);
    }
    MODULES.iter().find_map(|(module, short)| {
        let inner = full.strip_prefix(module)?;
        (inner.is_empty() || inner.starts_with('.')).then(|| format!("{short}{inner}"))
    })
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
const SHORT_DTYPES: [(&str, &str); 20] = [
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
    ("i64", "int64"),
    ("i32", "int32"),
    ("i16", "int16"),
    ("i8", "int8"),
    ("u32", "uint32"),
    ("u16", "uint16"),
    ("u8", "uint8"),
];

impl Dtype {
    /// The 64-bit integers that barriers are made of.
    pub const BARRIER: Dtype = Dtype { name: "int64", bits: 64, mlir: "i64", class: Class::Int };

    /// What padding is made of.
    pub const BYTE: Dtype = Dtype { name: "uint8", bits: 8, mlir: "i8", class: Class::Int };

    /// What the hardware answers to a request for the next tile.
    pub const RESPONSE: Dtype = Dtype { name: "uint128", bits: 128, mlir: "ui128", class: Class::Int };

    pub fn from_name(name: &str) -> Option<Dtype> {
        let name = SHORT_DTYPES.iter().find(|(short, _)| *short == name).map_or(name, |(_, name)| name);
        DTYPES.iter().chain(POINTERS).copied().find(|dtype| dtype.name == name)
    }

    pub fn pointer_to(self) -> Option<Dtype> {
        let at = DTYPES.iter().position(|&dtype| dtype == self)?;
        POINTERS.get(at).copied()
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

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Where a buffer lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Storage {
    /// Shared memory, counted in bytes.
    Smem,
    /// Tensor memory, counted in 32-bit columns.
    Tmem,
    /// Shared memory of a cluster; no allocation may use it.
    SmemCluster,
}

impl Storage {
    pub fn name(self) -> &'static str {
        match self {
            Storage::Smem => "smem",
            Storage::Tmem => "tmem",
            Storage::SmemCluster => "smemCluster",
        }
    }

    /// `bytes` or `columns`.
    pub fn units(self) -> &'static str {
        match self {
            Storage::Smem | Storage::SmemCluster => "bytes",
            Storage::Tmem => "columns",
        }
    }

    pub fn from_constant(value: &Constant) -> Option<Storage> {
        let Constant::Member(name) = value else { return None };
        match name.strip_prefix("tlx.storage_kind.")? {
            "smem" => Some(Storage::Smem),
            "tmem" => Some(Storage::Tmem),
            "smemCluster" => Some(Storage::SmemCluster),
            _ => None,
        }
    }
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What a dotted name of Triton stands for, given its canonical form.
pub fn name(canonical: &str) -> Option<Constant> {
    match canonical.split_once('.') {
        Some(("tl", name)) => Dtype::from_name(name).filter(|dtype| dtype.name == name).map(Dtype::constant),
        Some(("tlx", name)) if name.starts_with("storage_kind.") || name.starts_with("reuse_group_type.") => {
            Some(Constant::Member(canonical.to_owned()))
        }
        _ => None,
    }
}

/// The value of a Triton function of constants, given its canonical name; `None` for all others.
pub fn call(canonical: &str, arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
    let function = match canonical {
        "tl.constexpr" | "tl.tuple" | "triton.Config" => first,
        "tl.cdiv" | "triton.cdiv" => cdiv,
        "tl.next_power_of_2" | "triton.next_power_of_2" => next_power_of_2,
        "tlx.dtype_of" => dtype_of,
        "tlx.size_of" => size_of,
        "tl.pointer_type" => pointer_type,
        "tlx.layout" => first,
        "tlx.swizzled_layout"
        | "tlx.swizzled_layout.make_default"
        | "tlx.swizzled_shared_layout_encoding"
        | "tlx.swizzled_shared_layout_encoding.make_default"
        | "tlx.shared_linear_layout_encoding"
        | "tlx.nv_mma_shared_layout_encoding"
        | "tlx.nv_mma_shared_layout_encoding.make_default" => reordered,
        "tl.make_tensor_descriptor" | "tlx.make_tensor_descriptor" => descriptor,
        _ => return None,
    };
    Some(function(&arguments()))
}

/// A layout of shared memory that puts the same bytes into another order.
pub const REORDERED: &str = "tlx.layout";

fn reordered(_: &[Argument]) -> Constant {
    Constant::Member(REORDERED.to_owned())
}

fn unknown(reason: impl Into<String>) -> Constant {
    Constant::Unknown(Reason::new(reason))
}

fn first(arguments: &[Argument]) -> Constant {
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

fn cdiv(arguments: &[Argument]) -> Constant {
    let operands = integer(arguments.first()).and_then(|a| Ok((a, integer(arguments.get(1))?)));
    match operands {
        Ok((a, b)) if b > 0 => {
            a.checked_add(b - 1).map_or_else(|| unknown("too large"), |sum| Constant::Int(sum.div_euclid(b)))
        }
        Ok(_) => unknown("divides by something that is not positive"),
        Err(unknown) => unknown,
    }
}

fn next_power_of_2(arguments: &[Argument]) -> Constant {
    match integer(arguments.first()) {
        Ok(value) if (1..=1 << 40).contains(&value) => Constant::Int((value as u64).next_power_of_two() as i64),
        Ok(_) => unknown("the next power of two of something out of range"),
        Err(unknown) => unknown,
    }
}

fn dtype_of(arguments: &[Argument]) -> Constant {
    match arguments.first().map(|argument| &argument.value) {
        Some(value) if Dtype::from_constant(value).is_some() => value.clone(),
        Some(Constant::Unknown(reason)) => Constant::Unknown(reason.clone()),
        _ => unknown("the element type of something that has none"),
    }
}

fn size_of(arguments: &[Argument]) -> Constant {
    match arguments.first().map(|argument| &argument.value) {
        Some(Constant::Unknown(reason)) => Constant::Unknown(reason.clone()),
        Some(value) => match Dtype::from_constant(value) {
            Some(dtype) => Constant::Int(dtype.bytes() as i64),
            None => unknown("the size of something that is no element type"),
        },
        None => unknown("called without arguments"),
    }
}

fn pointer_type(arguments: &[Argument]) -> Constant {
    match arguments.first().map(|argument| &argument.value) {
        Some(Constant::Unknown(reason)) => Constant::Unknown(reason.clone()),
        Some(value) => match Dtype::from_constant(value).and_then(Dtype::pointer_to) {
            Some(pointer) => pointer.constant(),
            None => unknown("a pointer to something that is no element type"),
        },
        None => unknown("called without arguments"),
    }
}

/// A descriptor stands for its element type, which is that of its base pointer.
fn descriptor(arguments: &[Argument]) -> Constant {
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
    use tilefit_syntax::{Document, ast};

    use super::*;

    fn canonical(imports: &str, path: &str) -> Option<String> {
        let document = Document::new(imports);
        let (ast, _) = ast::parse(&document.blocks()[0].source);
        let mut imports = Imports::default();
        imports.add(&ast);
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
        assert_eq!(canonical("from triton import jit", "jit").as_deref(), Some("triton.jit"));
        assert_eq!(canonical("import triton.language as tl", "tl.float32").as_deref(), Some("tl.float32"));
    }
}

//! The names of TLX besides those of Triton: storage kinds, and functions of constants.

use std::fmt;

use tilefit_python::eval::{Argument, Constant, Imports};
use tilefit_python::finding::Reason;

use crate::language;

pub use crate::language::{Dtype, canonical};

/// False for files that no TLX kernel can be in.
pub fn has_tlx(imports: &Imports) -> bool {
    imports.modules().any(|path| path.starts_with("triton.language.extra.tlx"))
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

/// The meaning of a dotted name of TLX, by its canonical form.
pub fn name(canonical: &str) -> Option<Constant> {
    let name = canonical.strip_prefix("tlx.")?;
    let stands_for_itself = name.starts_with("storage_kind.") || name.starts_with("reuse_group_type.");
    stands_for_itself.then(|| Constant::Member(canonical.to_owned()))
}

/// The value of a TLX function of constants, given its canonical name; `None` for all others.
pub fn call(canonical: &str, arguments: &dyn Fn() -> Vec<Argument>) -> Option<Constant> {
    let function = match canonical {
        "tlx.dtype_of" => dtype_of,
        "tlx.size_of" => size_of,
        "tlx.layout" => language::first,
        "tlx.swizzled_layout"
        | "tlx.swizzled_layout.make_default"
        | "tlx.swizzled_shared_layout_encoding"
        | "tlx.swizzled_shared_layout_encoding.make_default"
        | "tlx.shared_linear_layout_encoding"
        | "tlx.nv_mma_shared_layout_encoding"
        | "tlx.nv_mma_shared_layout_encoding.make_default" => reordered,
        "tlx.make_tensor_descriptor" => language::descriptor,
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

fn dtype_of(arguments: &[Argument]) -> Constant {
    match arguments.first().map(|argument| &argument.value) {
        Some(value) if Dtype::from_constant(value).is_some() => value.clone(),
        Some(Constant::Unknown(reason)) => Constant::Unknown(reason.clone()),
        _ => unknown("the element type of a value without one"),
    }
}

fn size_of(arguments: &[Argument]) -> Constant {
    match arguments.first().map(|argument| &argument.value) {
        Some(Constant::Unknown(reason)) => Constant::Unknown(reason.clone()),
        Some(value) => match Dtype::from_constant(value) {
            Some(dtype) => Constant::Int(dtype.bytes() as i64),
            None => unknown("the size of a value that is not an element type"),
        },
        None => unknown("called without arguments"),
    }
}

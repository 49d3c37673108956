//! What a kernel under construction has: values on chip, tensors, scalars.

use tilefit_pypto::target::Space;
use tilefit_python::element::Dtype;

/// A value on chip: a tile, or a tensor in a scope, which the compiler makes one of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub name: String,
    pub kind: ValueType,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ValueType {
    pub shape: Vec<u64>,
    /// Expressions; `None` where all of it holds data.
    pub valid: Option<Vec<String>>,
    pub dtype: Dtype,
    pub space: Space,
    /// Its elements lie in another order than its shape says, or are padded: it is not assigned to a name again.
    pub is_special: bool,
}

impl ValueType {
    pub(super) fn vec(shape: &[u64], dtype: Dtype) -> ValueType {
        ValueType { shape: shape.to_vec(), valid: None, dtype, space: Space::Vec, is_special: false }
    }

    pub(super) fn at(self, space: Space) -> ValueType {
        ValueType { space, ..self }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.shape.iter().product::<u64>() * self.dtype.storage_bits() / 8
    }

    /// Rows and columns of a value of two axes.
    pub(super) fn extents(&self) -> Option<(u64, u64)> {
        match self.shape[..] {
            [rows, columns] => Some((rows, columns)),
            _ => None,
        }
    }

    pub(super) fn is_plain(&self) -> bool {
        self.space == Space::Vec && self.valid.is_none() && !self.is_special && self.shape.len() == 2
    }
}

/// A tensor in global memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tensor {
    pub name: String,
    pub shape: Vec<u64>,
    pub dtype: Dtype,
    pub is_output: bool,
    /// Made by the host's code, not a parameter.
    pub is_local: bool,
}

/// The extent that [`Tensor::spelled`] writes as a name: it is known at run time only.
pub(super) const DYNAMIC: u64 = 1 << 20;

/// That name.
pub(super) const DYNAMIC_NAME: &str = "T_DYN";

impl Tensor {
    /// `pl.Tensor[[16, 64], pl.FP32]`
    pub(super) fn spelled(&self) -> String {
        let extent = |extent: &u64| match *extent {
            DYNAMIC => DYNAMIC_NAME.to_owned(),
            extent => extent.to_string(),
        };
        let extents: Vec<String> = self.shape.iter().map(extent).collect();
        format!("pl.Tensor[{}, {}]", list(&extents), spelled(self.dtype))
    }
}

/// A scalar that an expression may name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScalarName {
    pub name: String,
    pub dtype: Dtype,
    /// One more than the largest value of an index.
    pub end: Option<u64>,
}

/// `pl.FP32`
pub(super) fn spelled(dtype: Dtype) -> String {
    format!("pl.{}", dtype.name())
}

/// `[16, 64]`
pub(super) fn list<T: ToString>(items: &[T]) -> String {
    format!("[{}]", items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
}

//! The values of names in PyPTO kernels, as far as completion tells them.

use tilefit_pypto::ir::{Kernel, Type};

use crate::db::{self, Unit};
use crate::ide::Context;
use crate::ide::language::{Value, ValueKind, Values};

pub(super) fn values<'db>(context: &Context<'db>, unit: Unit<'db>) -> Option<Values<'db>> {
    let kernels: Vec<&Kernel> = db::source_kernels(context.db, unit).collect();
    if kernels.is_empty() {
        return None;
    }
    Some(Box::new(move |name| kernels.iter().find_map(|kernel| type_of(kernel, name)).map(value)))
}

fn value(ty: &Type) -> Value {
    let kind = match ty {
        Type::Tile(_) => ValueKind::Tile,
        Type::Tensor(_) => ValueKind::Tensor,
        Type::Scalar(_) => ValueKind::Scalar,
        Type::Tuple(_) | Type::Array { .. } | Type::Unknown(_) => ValueKind::Other,
    };
    Value { kind, detail: described(ty) }
}

fn type_of<'k>(kernel: &'k Kernel, name: &str) -> Option<&'k Type> {
    kernel.vars.iter().rev().find(|var| var.name == name && var.inserted.is_none()).map(|var| &var.ty)
}

/// `Tile [64, 64] FP32, Vec`
fn described(ty: &Type) -> String {
    match ty {
        Type::Tile(tile) => {
            let space = tile.space.map_or(String::new(), |space| format!(", {space}"));
            format!("Tile {:?} {}{space}", tile.shape, tile.dtype)
        }
        Type::Tensor(tensor) => tensor.dtype.map_or("Tensor".to_owned(), |dtype| format!("Tensor {dtype}")),
        Type::Scalar(dtype) => format!("Scalar {dtype}"),
        Type::Tuple(_) => "Tuple".to_owned(),
        Type::Array { dtype, extent } => format!("Array [{extent}] {dtype}"),
        Type::Unknown(_) => String::new(),
    }
}

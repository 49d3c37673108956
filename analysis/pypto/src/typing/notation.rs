//! Types as authors write them: `pl.Tile[[64, 64], pl.FP32, pl.Mem.Vec]`, with what differs from the rule in a `pl.TileView`.

use tilefit_python::element::Pad;

use crate::ir::{Layout, Scalar, ScalarBinary, ScalarUnary, TensorLayout, TensorType, TileType};
use crate::ir::{Type, Var};

pub(crate) fn written(ty: &Type, vars: &[Var]) -> String {
    match ty {
        Type::Tile(tile) => self::tile(tile, vars),
        Type::Tensor(tensor) => self::tensor(tensor, vars),
        Type::Scalar(dtype) => format!("pl.Scalar[pl.{dtype}]"),
        Type::Array { dtype, extent } => format!("pl.Array[{extent}, pl.{dtype}]"),
        Type::Tuple(types) => {
            format!("pl.Tuple[{}]", types.iter().map(|ty| written(ty, vars)).collect::<Vec<_>>().join(", "))
        }
        Type::Unknown(_) => "an unknown type".to_owned(),
    }
}

fn tile(tile: &TileType, vars: &[Var]) -> String {
    let mut parts = vec![format!("{:?}", tile.shape), format!("pl.{}", tile.dtype)];
    parts.extend(tile.space.map(|space| format!("pl.Mem.{space}")));
    let fields = view(tile, vars);
    if !fields.is_empty() {
        parts.push(format!("pl.TileView({})", fields.join(", ")));
    }
    format!("pl.Tile[{}]", parts.join(", "))
}

/// The fields of a view that say more than shape and memory do.
fn view(tile: &TileType, vars: &[Var]) -> Vec<String> {
    let mut fields = Vec::new();
    if let Some(valid) = &tile.view.valid_shape {
        fields.push(format!("valid_shape={}", extents(valid, vars)));
    }
    let (layout, implicit) = (tile.layout(), Layout::implicit(&tile.shape, tile.space));
    if layout.blayout != implicit.blayout {
        fields.push(format!("blayout=pl.TileLayout.{}", layout.blayout.name()));
    }
    if layout.slayout != implicit.slayout {
        fields.push(format!("slayout=pl.TileLayout.{}", layout.slayout.name()));
    }
    if layout.fractal != implicit.fractal {
        fields.push(format!("fractal={}", layout.fractal));
    }
    if let Some(pad) = tile.view.pad.filter(|pad| *pad != Pad::Null) {
        fields.push(format!("pad=pl.PadValue.{}", pad.name()));
    }
    fields
}

fn tensor(tensor: &TensorType, vars: &[Var]) -> String {
    let mut parts = Vec::new();
    if tensor.rank_known {
        parts.push(extents(&tensor.shape, vars));
    }
    parts.extend(tensor.dtype.map(|dtype| format!("pl.{dtype}")));
    if tensor.layout != TensorLayout::Nd {
        parts.push(format!("pl.{}", tensor.layout.name()));
    }
    format!("pl.Tensor[{}]", parts.join(", "))
}

pub(crate) fn extents(extents: &[Scalar], vars: &[Var]) -> String {
    format!("[{}]", extents.iter().map(|extent| scalar(extent, vars)).collect::<Vec<_>>().join(", "))
}

pub fn scalar(value: &Scalar, vars: &[Var]) -> String {
    let name = |var: crate::ir::VarId| vars.get(var.0 as usize).map_or("?", |var| var.name.as_str());
    match value {
        Scalar::Int(value) => value.to_string(),
        Scalar::Float(value) => format!("{:?}", value.get()),
        Scalar::Bool(true) => "True".to_owned(),
        Scalar::Bool(false) => "False".to_owned(),
        Scalar::Var(var) => name(*var).to_owned(),
        Scalar::Unary(op, operand) => {
            let operand = scalar(operand, vars);
            match op {
                ScalarUnary::Neg => format!("-{operand}"),
                ScalarUnary::Not => format!("not {operand}"),
                ScalarUnary::BitNot => format!("~{operand}"),
                ScalarUnary::Abs => format!("abs({operand})"),
            }
        }
        Scalar::Binary(op, left, right) => {
            let (left, right) = (scalar(left, vars), scalar(right, vars));
            match op {
                ScalarBinary::Min => format!("pl.min({left}, {right})"),
                ScalarBinary::Max => format!("pl.max({left}, {right})"),
                _ => format!("{left} {} {right}", op.sign()),
            }
        }
        Scalar::Cast(dtype, operand) => format!("pl.cast({}, pl.{dtype})", scalar(operand, vars)),
        Scalar::Const(dtype, number) => format!("pl.const({}, pl.{dtype})", scalar(number, vars)),
        Scalar::Dim { tensor, axis } => format!("pl.dim({}, {axis})", name(*tensor)),
        Scalar::Dynamic(name) => name.clone(),
        Scalar::Call(call) => format!("pl.{}(...)", call.op.op().name),
        Scalar::Unknown(_) => "?".to_owned(),
    }
}

/// What an operand is, in a sentence: "a tile of [64, 64] FP32".
pub(crate) fn kind(ty: &Type) -> String {
    match ty {
        Type::Tile(tile) => format!("a tile of {:?} {}", tile.shape, tile.dtype),
        Type::Tensor(_) => "a tensor".to_owned(),
        Type::Scalar(dtype) => format!("a scalar of type {dtype}"),
        Type::Tuple(_) => "a tuple".to_owned(),
        Type::Array { dtype, extent } => format!("an array of {extent} {dtype}"),
        Type::Unknown(_) => "something unknown".to_owned(),
    }
}

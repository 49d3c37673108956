//! The type that an operation on tensors gives its result, in the author's terms: shape and element type of what its recipe
//! makes.

use rustc_hash::FxHashMap;
use tilefit_python::element::Dtype;
use tilefit_python::finding::Reason;

use super::{Conversion, Site};
use crate::ir::{
    AttrName, Call, Kernel, KernelKind, Operand, Role, Scalar, TensorLayout, TensorType, TileType, TileView, Type, Var,
    VarId, Why,
};
use crate::ops::OpId;
use crate::target::Target;
use crate::typing::{known, scalar};

/// Why an operation has no type.
pub(crate) enum Untyped {
    Unknown(Reason),
    /// The compiler refuses it.
    Refused(String),
}

impl From<Reason> for Untyped {
    fn from(reason: Reason) -> Untyped {
        Untyped::Unknown(reason)
    }
}

/// `constants` are the values of scalar variables that are assigned once.
pub(crate) fn result_type(call: &Call, vars: &[Var], constants: &FxHashMap<VarId, i64>) -> Result<Type, Untyped> {
    let operand = |index: usize| call.args.get(index).and_then(Operand::var).and_then(|var| vars.get(var.0 as usize));
    for var in call.args.iter().filter_map(Operand::var).filter_map(|var| vars.get(var.0 as usize)) {
        if let Type::Unknown(reason) = &var.ty {
            return Err(Untyped::Unknown(reason.clone()));
        }
    }
    match (call.op, operand(0).map(|var| &var.ty)) {
        (OpId::TENSOR_ASSEMBLE | OpId::TENSOR_WRITE | OpId::GATHER_ROW, Some(ty @ Type::Tensor(_))) => {
            return Ok(ty.clone());
        }
        (OpId::TENSOR_READ, Some(Type::Tensor(tensor))) => {
            return tensor.dtype.map(Type::Scalar).ok_or_else(|| Untyped::Unknown(no_dtype(operand(0))));
        }
        _ => {}
    }
    let made = by_recipe(call, vars, constants)?;
    Ok(match (made, call.op) {
        (Type::Tile(tile), OpId::TENSOR_MATMUL) => tensor_like(&tile, product_dtype(call, vars).unwrap_or(tile.dtype)),
        (Type::Tile(tile), OpId::TENSOR_MATMUL_ACC) => match operand(0).map(|var| &var.ty) {
            Some(Type::Tensor(TensorType { dtype: Some(dtype), .. })) => tensor_like(&tile, *dtype),
            _ => tensor_like(&tile, tile.dtype),
        },
        (Type::Tile(tile), _) => tensor_like(&tile, authored_dtype(call, vars).unwrap_or(tile.dtype)),
        (other, _) => other,
    })
}

fn no_dtype(var: Option<&Var>) -> Reason {
    let name = var.map_or("a tensor", |var| var.name.as_str());
    Reason::new(format!("the element type of `{name}` is unknown"))
}

/// Runs the recipe on tiles like the operands, in a kernel that holds nothing else.
fn by_recipe(call: &Call, vars: &[Var], constants: &FxHashMap<VarId, i64>) -> Result<Type, Untyped> {
    let mut kernel = Kernel::new("", KernelKind::InCore, call.origin);
    let mut alone = call.clone();
    for arg in &mut alone.args {
        match arg {
            Operand::Var(var) => {
                let Some(var) = vars.get(var.0 as usize) else { continue };
                let ty = match &var.ty {
                    // A window of it is taken out of global memory, whatever it will be.
                    Type::Tensor(tensor) if call.op != OpId::TENSOR_SLICE => Type::Tile(like_tensor(tensor, var)?),
                    other => other.clone(),
                };
                *arg = Operand::Var(kernel.add_var(Var { ty, ..var.clone() }));
            }
            Operand::List(list) => list.iter_mut().for_each(|scalar| *scalar = known(scalar, constants)),
            Operand::Scalar(scalar) => {
                let dtype = scalar::dtype(scalar, vars).unwrap_or(Dtype::Index);
                let ty = Type::Scalar(dtype);
                let name = String::new();
                let origin = call.origin;
                let var = kernel.add_var(Var { name, ty, role: Role::Def, inserted: Some(Why::Intermediate), origin });
                if scalar.as_int().is_none() {
                    *arg = Operand::Scalar(Scalar::Var(var));
                }
            }
            Operand::Unknown(reason) => return Err(Untyped::Unknown(reason.clone())),
        }
    }
    let unknown = Type::Unknown(Reason::new(format!("the result of `{}`", call.op.op().name)));
    let var = Var { name: String::new(), ty: unknown, role: Role::Def, inserted: None, origin: call.origin };
    let result = kernel.add_var(var);
    let site = Site::of(Some(result), call.origin, call.origin);
    // What differs by target is how a result is made, not its type.
    let mut conversion = Conversion::new(&mut kernel, Target::Ascend910b, Vec::new(), FxHashMap::default());
    conversion.recipe(site, alone);
    if let (OpId::RESHAPE, Some(refused)) = (call.op, kernel.rejections.pop()) {
        return Err(Untyped::Refused(refused.message));
    }
    match kernel.var(result).ty.clone() {
        Type::Unknown(reason) => Err(kernel.notes.first().map_or(reason, |note| note.reason.clone()).into()),
        ty => Ok(ty),
    }
}

fn like_tensor(tensor: &TensorType, var: &Var) -> Result<TileType, Reason> {
    let shape = constant_shape(tensor).ok_or_else(|| var.lack_of_shape())?;
    let dtype = tensor.dtype.ok_or_else(|| no_dtype(Some(var)))?;
    Ok(TileType { shape, dtype, space: None, view: TileView::default(), binding: None })
}

pub(super) fn constant_shape(tensor: &TensorType) -> Option<Vec<u64>> {
    if !tensor.rank_known || tensor.shape.is_empty() {
        return None;
    }
    tensor.shape.iter().map(|extent| u64::try_from(extent.as_int()?).ok().filter(|extent| *extent > 0)).collect()
}

pub(super) fn tensor_like(tile: &TileType, dtype: Dtype) -> Type {
    Type::Tensor(TensorType {
        shape: tile.shape.iter().map(|&extent| Scalar::Int(i64::try_from(extent).unwrap_or(i64::MAX))).collect(),
        dtype: Some(dtype),
        layout: TensorLayout::Nd,
        is_output: false,
        rank_known: true,
    })
}

/// Operations with a scalar whose result is as wide as the wider of both, while the tile keeps its element type.
const PROMOTED_BY_SCALAR: [OpId; 6] = [OpId::ADDS, OpId::MULS, OpId::DIVS, OpId::FMODS, OpId::MAXIMUMS, OpId::MINIMUMS];

/// Operations whose result is floating-point, while the tile keeps its element type.
const ALWAYS_FLOAT: [OpId; 5] = [OpId::EXP, OpId::SQRT, OpId::RECIP, OpId::RSQRT, OpId::TENSOR_RSQRT];

/// The element type of the author's value where that of the tile is another.
fn authored_dtype(call: &Call, vars: &[Var]) -> Option<Dtype> {
    let dtype = match &vars.get(call.args.first()?.var()?.0 as usize)?.ty {
        Type::Tensor(tensor) => tensor.dtype?,
        _ => return None,
    };
    if ALWAYS_FLOAT.contains(&call.op) {
        return Some(if dtype.is_float() { dtype } else { Dtype::Fp32 });
    }
    if call.op == OpId::EXPANDS {
        return Some(dtype);
    }
    if !PROMOTED_BY_SCALAR.contains(&call.op) {
        return None;
    }
    match call.args.get(1)? {
        Operand::Scalar(Scalar::Int(_)) => Some(dtype),
        // An index is refused, or its type is not known.
        Operand::Scalar(scalar) => {
            let scalar = scalar::dtype(scalar, vars).filter(|scalar| *scalar != Dtype::Index)?;
            Some(scalar::promoted(dtype, scalar))
        }
        _ => None,
    }
}

/// What the author's value is, which the tile that holds it need not be.
fn product_dtype(call: &Call, vars: &[Var]) -> Option<Dtype> {
    if let Some(dtype) = call.dtype(AttrName::OutDtype) {
        return Some(dtype);
    }
    let dtype = |operand: &Operand| match &vars.get(operand.var()?.0 as usize)?.ty {
        Type::Tensor(tensor) => tensor.dtype,
        Type::Tile(tile) => Some(tile.dtype),
        _ => None,
    };
    Some(scalar::promoted(dtype(call.args.first()?)?, dtype(call.args.get(1)?)?))
}

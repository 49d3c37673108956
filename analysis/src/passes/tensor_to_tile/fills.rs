//! Writes of single elements that the compiler gathers into tiles before it converts anything.

use crate::ir::{
    Attr, Call, For, Kernel, LoopKind, Operand, Role, Scalar, ScalarBinary, Stmt, TensorType, Type, Value, Var, VarId,
};
use crate::ops::OpId;
use crate::passes::walk;

/// Bits that a row of the filled part must be a multiple of.
const ROW_BITS: u64 = 256;

pub(super) fn run(kernel: &mut Kernel, body: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = Vec::with_capacity(body.len());
    for stmt in body {
        match stmt {
            Stmt::For(inner) => {
                let inner = For { body: run(kernel, inner.body), ..inner };
                match constant_fill(kernel, &inner) {
                    Some(filled) => out.extend(filled),
                    None => out.push(Stmt::For(inner)),
                }
            }
            Stmt::If(mut inner) => {
                inner.then = run(kernel, inner.then);
                inner.otherwise = run(kernel, inner.otherwise);
                out.push(Stmt::If(inner));
            }
            Stmt::While(mut inner) => {
                inner.body = run(kernel, inner.body);
                out.push(Stmt::While(inner));
            }
            leaf => out.push(leaf),
        }
    }
    out
}

/// A loop that writes one number to every element of a contiguous part of a tensor: a tile of that number, and a store.
fn constant_fill(kernel: &mut Kernel, inner: &For) -> Option<Vec<Stmt>> {
    let (start, stop, step) = (inner.start.as_int()?, inner.stop.as_int()?, inner.step.as_int()?);
    if start != 0 || stop <= 0 || step != 1 || inner.kind != LoopKind::Range || !inner.carries.is_empty() {
        return None;
    }
    let [Stmt::Eval { call, origin }] = inner.body.as_slice() else { return None };
    if call.op != OpId::TENSOR_WRITE {
        return None;
    }
    let [target, Operand::List(indices), Operand::Scalar(value)] = call.args.as_slice() else { return None };
    let constant = match value {
        Scalar::Cast(_, inner) => inner.as_ref(),
        value => value,
    };
    if !matches!(constant, Scalar::Int(_) | Scalar::Float(_)) {
        return None;
    }
    let tensor = kernel.tensor(target.var()?)?.clone();
    let dtype = tensor.dtype?;
    let offsets = filled_from(&tensor, indices, inner.index)?;
    let count = u64::try_from(stop).ok()?;
    if count.checked_mul(dtype.storage_bits())? % ROW_BITS != 0 {
        return None;
    }
    let varying = indices.iter().position(|index| mentions(index, inner.index))?;
    let logical: Vec<Scalar> =
        (0..indices.len()).map(|axis| Scalar::Int(if axis == varying { stop } else { 1 })).collect();

    let at = call.origin;
    let mut add = |name: &str, shape: &[Scalar]| {
        let ty = Type::Tensor(TensorType { shape: shape.to_vec(), is_output: false, ..tensor.clone() });
        kernel.add_var(Var { name: name.to_owned(), ty, role: Role::Def, inserted: true, origin: at })
    };
    let row = [Scalar::Int(1), Scalar::Int(stop)];
    let (full, part) = (add("scalar_fill_storage", &row), add("scalar_fill", &logical));
    let call = |op, args, attrs| Call { op, args, attrs, origin: at };
    let bind = |var: VarId, call: Call| Stmt::Let { var, value: Value::Call(call), origin: *origin };
    let value = Operand::Scalar(constant.clone());
    Some(vec![
        bind(
            full,
            call(OpId::TENSOR_FULL, vec![Operand::List(row.to_vec()), value], vec![("dtype", Attr::Dtype(dtype))]),
        ),
        bind(part, call(OpId::RESHAPE, vec![Operand::Var(full), Operand::List(logical)], Vec::new())),
        Stmt::Eval {
            call: call(
                OpId::TENSOR_ASSEMBLE,
                vec![target.clone(), Operand::Var(part), Operand::List(offsets)],
                Vec::new(),
            ),
            origin: *origin,
        },
    ])
}

/// Where the filled part starts, if it is contiguous: one axis runs with the loop, and those behind it have one element.
fn filled_from(tensor: &TensorType, indices: &[Scalar], index: VarId) -> Option<Vec<Scalar>> {
    if indices.len() != tensor.shape.len() {
        return None;
    }
    let mut offsets = Vec::with_capacity(indices.len());
    let mut varies = false;
    for (at, extent) in indices.iter().zip(&tensor.shape) {
        if !mentions(at, index) {
            if varies && (extent.as_int() != Some(1) || at.as_int() != Some(0)) {
                return None;
            }
            offsets.push(at.clone());
            continue;
        }
        if varies {
            return None;
        }
        varies = true;
        offsets.push(match at {
            Scalar::Var(_) => Scalar::Int(0),
            Scalar::Binary(ScalarBinary::Add, left, right) => match (left.as_ref(), right.as_ref()) {
                (Scalar::Var(var), base) | (base, Scalar::Var(var)) if *var == index && !mentions(base, index) => {
                    base.clone()
                }
                _ => return None,
            },
            _ => return None,
        });
    }
    varies.then_some(offsets)
}

fn mentions(scalar: &Scalar, index: VarId) -> bool {
    let mut found = false;
    walk::scalar_uses(scalar, &mut |var| found |= var == index);
    found
}

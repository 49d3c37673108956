//! LowerAutoVectorSplit: with `pl.split` the two vector units of a cluster share the vector work of a kernel for both cores, each
//! with half of every tile (`reference/tensor-level.md` §10).

use super::walk;
use crate::ir::{
    Call, Dtype, For, If, Kernel, Note, Operand, Reason, Role, Scalar, ScalarBinary, SplitMode, Stmt, TileType, Type,
    Value, Var, VarId, While,
};
use crate::ops::{Category, OpId, Shape};

/// Gives each unit its half. Scratch that an operation needs stays whole, as the compiler leaves it. Of what is not modelled no tile is
/// larger than the compiler's, so that none is said to exceed its memory that does not.
pub(super) fn divide(kernel: &mut Kernel, body: Vec<Stmt>, mode: SplitMode) -> Vec<Stmt> {
    let axis = match mode {
        SplitMode::UpDown => 0,
        SplitMode::LeftRight => 1,
    };
    let mut made = Vec::new();
    let mut what = None;
    collect(kernel, &body, axis, &mut made, &mut what);
    if let Some((at, what)) = what {
        kernel.notes.push(Note { at, reason: Reason(format!("{what} in a scope with `pl.split`")) });
    }
    for var in made {
        if let Type::Tile(tile) = &mut kernel.var_mut(var).ty {
            halve(tile, axis);
        }
    }
    let origin = kernel.origin;
    let ty = Type::Scalar(Dtype::Index);
    let unit = kernel.add_var(Var { name: "subblock_idx".into(), ty, role: Role::Def, inserted: true, origin });
    let query = Call { op: OpId::GET_SUBBLOCK_IDX, args: Vec::new(), attrs: Vec::new(), origin };
    let mut divided = vec![Stmt::Let { var: unit, value: Value::Call(query), origin }];
    divided.extend(walk::expand_leaves(body, &mut |mut stmt, out| {
        let result = if let Stmt::Let { var, .. } = &stmt { Some(*var) } else { None };
        if let Some(call) = walk::call_of_mut(&mut stmt) {
            place(kernel, call, result, axis, unit);
        }
        out.push(stmt);
    }));
    divided
}

type Refusal = Option<(crate::ir::Origin, String)>;

/// The tiles that are divided, and the first thing that stands in the way.
fn collect(kernel: &Kernel, body: &[Stmt], axis: usize, made: &mut Vec<VarId>, what: &mut Refusal) {
    for stmt in body {
        match stmt {
            Stmt::Let { var, value, origin } => {
                if let Value::Call(call) = value {
                    refuse(kernel, call, axis, what);
                    if call.op == OpId::CREATE {
                        continue;
                    }
                }
                let Some(tile) = kernel.tile(*var) else { continue };
                let odd = tile.shape.get(axis).is_some_and(|extent| *extent > 1 && extent % 2 != 0);
                if tile.shape.len() != 2 || odd {
                    what.get_or_insert((*origin, format!("a tile of {:?}, which has no halves,", tile.shape)));
                }
                made.push(*var);
            }
            Stmt::Eval { call, .. } => refuse(kernel, call, axis, what),
            Stmt::For(For { carries, body, .. }) | Stmt::While(While { carries, body, .. }) => {
                let carried = carries.iter().flat_map(|carry| [carry.iter, carry.result]);
                let carried: Vec<VarId> = carried.filter(|var| kernel.tile(*var).is_some()).collect();
                // The compiler leaves it whole, and what is computed of it alone.
                if !carried.is_empty() {
                    what.get_or_insert((stmt_origin(stmt), "a tile that a loop carries".to_owned()));
                }
                made.extend(carried);
                collect(kernel, body, axis, made, what);
            }
            Stmt::If(If { then, otherwise, results, .. }) => {
                collect(kernel, then, axis, made, what);
                collect(kernel, otherwise, axis, made, what);
                let chosen: Vec<VarId> = results.iter().copied().filter(|var| kernel.tile(*var).is_some()).collect();
                if !chosen.is_empty() {
                    what.get_or_insert((stmt_origin(stmt), "a tile that branches choose".to_owned()));
                }
                made.extend(chosen);
            }
            _ => {}
        }
    }
}

fn stmt_origin(stmt: &Stmt) -> crate::ir::Origin {
    match stmt {
        Stmt::For(inner) => inner.origin,
        Stmt::While(inner) => inner.origin,
        Stmt::If(inner) => inner.origin,
        Stmt::Let { origin, .. }
        | Stmt::Eval { origin, .. }
        | Stmt::Yield { origin, .. }
        | Stmt::Return { origin, .. }
        | Stmt::Break(origin)
        | Stmt::Continue(origin) => *origin,
    }
}

fn refuse(kernel: &Kernel, call: &Call, axis: usize, what: &mut Refusal) {
    let op = call.op.op();
    let touches_tiles = call.args.iter().filter_map(Operand::var).any(|var| kernel.tile(var).is_some());
    let is_divisible = match call.op {
        OpId::LOAD => matches!(call.args.get(1), Some(Operand::List(offsets)) if offsets.len() == 2),
        OpId::STORE => matches!(call.args.get(1), Some(Operand::List(offsets)) if offsets.len() == 2),
        OpId::TPOP_FROM_AIC | OpId::CREATE | OpId::CAST => true,
        OpId::FULL => true,
        _ if !touches_tiles => true,
        _ => match op.category {
            Category::Elementwise | Category::Unary | Category::Broadcast => true,
            Category::CompareSelect => axis == 0,
            Category::Reduction => (op.shape == Shape::RowReduced) == (axis == 0),
            _ => false,
        },
    };
    if !is_divisible {
        what.get_or_insert((call.origin, format!("`{}`", op.name)));
    }
}

fn halve(tile: &mut TileType, axis: usize) {
    match tile.shape.get_mut(axis) {
        Some(extent) if *extent > 1 => *extent /= 2,
        _ => return,
    }
    if let Some(valid) = &mut tile.view.valid_shape
        && let Some(Scalar::Int(extent)) = valid.get_mut(axis)
    {
        *extent /= 2;
    }
    tile.canonicalize();
}

/// Shapes that are written out follow the tile; transfers go to the unit's own half.
fn place(kernel: &Kernel, call: &mut Call, result: Option<VarId>, axis: usize, unit: VarId) {
    let tile = match call.op {
        OpId::STORE => call.args.first().and_then(Operand::var),
        OpId::LOAD | OpId::FULL => result,
        _ => return,
    };
    let Some(extent) = tile.and_then(|tile| kernel.tile(tile)).and_then(|tile| tile.shape.get(axis).copied()) else {
        return;
    };
    if extent <= 1 {
        return;
    }
    let half = Scalar::Int(i64::try_from(extent).unwrap_or(i64::MAX));
    let shapes: &[usize] = match call.op {
        OpId::LOAD => &[2, 3],
        OpId::FULL => &[0],
        _ => &[],
    };
    for index in shapes {
        if let Some(Operand::List(shape)) = call.args.get_mut(*index)
            && let Some(whole) = shape.get_mut(axis)
        {
            *whole = half.clone();
        }
    }
    if call.op != OpId::FULL
        && let Some(Operand::List(offsets)) = call.args.get_mut(1)
        && let Some(offset) = offsets.get_mut(axis)
    {
        let by = walk::fold_binary(ScalarBinary::Mul, Scalar::Var(unit), half);
        *offset = walk::fold_binary(ScalarBinary::Add, offset.clone(), by);
    }
}

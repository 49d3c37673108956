//! A product that a pipeline over K makes in an accumulator too large for the cube: the whole loop is repeated for each tile of the
//! result (the first phase of AutoTileMatmulL0).
//!
//! The compiler does so for one form only: an accumulator is created, a pipeline carries it and nothing else, loads both operands,
//! starts with a product and goes on with accumulating ones, and its result is stored. Every other accumulator stays whole.

use rustc_hash::FxHashMap;
use tilefit_python::element::Dtype;
use tilefit_python::finding::Origin;

use super::l0_tile::Extents;
use crate::ir::rewrite::{self, Substitution};
use crate::ir::{
    Attr, AttrName, Call, Carry, For, Kernel, LoopKind, Operand, Role, Scalar, ScalarBinary, Stmt, Type, Value, Var,
    VarId, Why, fold, visit,
};
use crate::ops::OpId;
use crate::target::Space;

/// A product as the compiler recognises it.
pub(super) struct SplitK {
    init: VarId,
    looped: For,
    store: Call,
    stored: VarId,
    origin: Origin,
    lhs: VarId,
    rhs: VarId,
    /// The product and the accumulating one, and what they are after the branch.
    values: [VarId; 3],
    /// Rows and columns of the result, and how much of K one round takes.
    pub(super) problem: Extents,
}

impl SplitK {
    pub(super) fn product(&self) -> VarId {
        self.values[0]
    }

    pub(super) fn operands(&self) -> (VarId, VarId) {
        (self.lhs, self.rhs)
    }

    /// Everything that is the accumulator.
    pub(super) fn accumulators(&self) -> impl Iterator<Item = VarId> + '_ {
        let carried = self.looped.carries.iter().flat_map(|carry| [carry.iter, carry.result]);
        carried.chain(self.values).chain([self.init])
    }

    pub(super) fn origin(&self) -> Origin {
        self.origin
    }
}

/// What becomes of one.
pub(super) enum SplitDecision {
    Whole,
    /// Tiles of so many rows and columns.
    Tiles(i64, i64),
}

/// Repeats every such loop for the tiles that `decide` says.
pub(super) fn run(kernel: &mut Kernel, mut decide: impl FnMut(&mut Kernel, &SplitK) -> SplitDecision) {
    let body = std::mem::take(&mut kernel.body);
    if !has_pipelined_product(&body) {
        kernel.body = body;
        return;
    }
    let mut reads: FxHashMap<VarId, usize> = FxHashMap::default();
    body.iter().for_each(|stmt| visit::uses(stmt, &mut |var| *reads.entry(var).or_default() += 1));
    let mut results = Substitution::default();
    let mut body = in_list(kernel, body, &reads, &mut results, &mut decide);
    results.apply(&mut body);
    kernel.body = body;
}

fn has_pipelined_product(body: &[Stmt]) -> bool {
    let mut found = false;
    visit::statements(body, &mut |stmt| {
        if let Stmt::For(For { kind: LoopKind::Pipeline { .. }, body, .. }) = stmt {
            found |= matches!(body.as_slice(), [.., Stmt::If(_), Stmt::Yield { .. }]);
        }
    });
    found
}

fn in_list(
    kernel: &mut Kernel,
    body: Vec<Stmt>,
    reads: &FxHashMap<VarId, usize>,
    results: &mut Substitution,
    decide: &mut impl FnMut(&mut Kernel, &SplitK) -> SplitDecision,
) -> Vec<Stmt> {
    let mut out: Vec<Stmt> = Vec::with_capacity(body.len());
    let mut rest = body.into_iter().peekable();
    while let Some(stmt) = rest.next() {
        // The accumulator is out already, the store is still to come.
        if let (Stmt::For(looped), Some(init), Some(store)) = (&stmt, out.last(), rest.peek())
            && let Some(found) = recognise(kernel, init, looped, store, reads)
            && let SplitDecision::Tiles(rows, columns) = decide(kernel, &found)
        {
            out.pop();
            rest.next();
            let last = tiles(kernel, &found, [rows, columns], &mut out);
            results.set(found.stored, last);
            continue;
        }
        out.push(stmt.map_blocks(|block| in_list(kernel, block, reads, results, decide)));
    }
    out
}

fn recognise(
    kernel: &Kernel,
    init: &Stmt,
    looped: &For,
    store: &Stmt,
    reads: &FxHashMap<VarId, usize>,
) -> Option<SplitK> {
    let Stmt::Let { var: init, value: Value::Call(Call { op: OpId::CREATE, .. }), .. } = init else { return None };
    let Stmt::Let { var: stored, value: Value::Call(store), origin } = store else { return None };
    let ([Carry { init: carried, iter, result, .. }], LoopKind::Pipeline { .. }) =
        (looped.carries.as_slice(), looped.kind)
    else {
        return None;
    };
    let [source, Operand::List(offsets), target] = store.args.as_slice() else { return None };
    let is_once = |var: &VarId| reads.get(var) == Some(&1);
    let is_chain = store.op == OpId::STORE
        && carried.var() == Some(*init)
        && source.var() == Some(*result)
        && target.var().is_some()
        && offsets.len() == 2
        && is_once(init)
        && is_once(result);
    let [before @ .., Stmt::If(branch), Stmt::Yield { values, .. }] = looped.body.as_slice() else { return None };
    let [phi] = branch.results.as_slice() else { return None };
    if !is_chain || !branch.has_else || values.as_slice() != [Operand::Var(*phi)] {
        return None;
    }
    let (first, next) = match (only_call(&branch.then)?, only_call(&branch.otherwise)?) {
        (one, other) if one.1.op == OpId::MATMUL && other.1.op == OpId::MATMUL_ACC => (one, other),
        (one, other) if one.1.op == OpId::MATMUL_ACC && other.1.op == OpId::MATMUL => (other, one),
        _ => return None,
    };
    let ([lhs, rhs], [accumulator, same_lhs, same_rhs]) = (first.1.args.as_slice(), next.1.args.as_slice()) else {
        return None;
    };
    let (lhs_var, rhs_var) = (lhs.var()?, rhs.var()?);
    if accumulator.var() != Some(*iter) || same_lhs != lhs || same_rhs != rhs || lhs_var == rhs_var {
        return None;
    }
    let mut loads = FxHashMap::default();
    for stmt in before {
        let Stmt::Let { var, value, .. } = stmt else { return None };
        match value {
            Value::Call(call) if call.op == OpId::LOAD && (*var == lhs_var || *var == rhs_var) => {
                loads.insert(*var, call);
            }
            Value::Scalar(scalar) if !matches!(scalar, Scalar::Call(_)) => {}
            _ => return None,
        }
    }
    let [m, depth] = full_load(kernel, lhs_var, loads.get(&lhs_var)?)?;
    let [k, n] = full_load(kernel, rhs_var, loads.get(&rhs_var)?)?;
    let problem = Extents { m: extent(m)?, n: extent(n)?, k: extent(k)? };
    let is_result = kernel.tile(*init).is_some_and(|tile| tile.shape == [m, n]);
    (depth == k && is_result).then(|| SplitK {
        init: *init,
        looped: looped.clone(),
        store: store.clone(),
        stored: *stored,
        origin: *origin,
        lhs: lhs_var,
        rhs: rhs_var,
        values: [first.0, next.0, *phi],
        problem,
    })
}

fn extent(value: u64) -> Option<i64> {
    i64::try_from(value).ok().filter(|value| (1..=1 << 20).contains(value))
}

/// The call of a branch that does nothing else and yields its value.
fn only_call(branch: &[Stmt]) -> Option<(VarId, &Call)> {
    match branch {
        [Stmt::Let { var, value: Value::Call(call), .. }, Stmt::Yield { values, .. }]
            if values.as_slice() == [Operand::Var(*var)] =>
        {
            Some((*var, call))
        }
        _ => None,
    }
}

/// The extents of a tile of two axes in L1 that is loaded without a gap.
fn full_load(kernel: &Kernel, var: VarId, load: &Call) -> Option<[u64; 2]> {
    let tile = kernel.tile(var).filter(|tile| tile.space == Some(Space::Mat))?;
    let shape: [u64; 2] = tile.shape.as_slice().try_into().ok()?;
    let [_, Operand::List(offsets), Operand::List(window), Operand::List(valid)] = load.args.as_slice() else {
        return None;
    };
    let is_shape =
        |list: &[Scalar]| list.iter().map(Scalar::as_int).eq(shape.iter().map(|&extent| i64::try_from(extent).ok()));
    (offsets.len() == 2 && is_shape(window) && is_shape(valid)).then_some(shape)
}

/// The loop for each tile of the result, column after column, each stored where the author's store would put it.
fn tiles(kernel: &mut Kernel, found: &SplitK, [rows, columns]: [i64; 2], out: &mut Vec<Stmt>) -> Operand {
    let Extents { m, n, .. } = found.problem;
    let mut last = found.store.args[2].clone();
    let mut step = 0;
    for column in (0..n).step_by(columns.max(1) as usize) {
        for row in (0..m).step_by(rows.max(1) as usize) {
            let part = [rows.min(m - row), columns.min(n - column)];
            last = tile(kernel, found, [row, column], part, (last, step), out);
            step += 1;
        }
    }
    last
}

fn tile(
    kernel: &mut Kernel,
    found: &SplitK,
    [row, column]: [i64; 2],
    [rows, columns]: [i64; 2],
    (target, step): (Operand, u32),
    out: &mut Vec<Stmt>,
) -> Operand {
    let init = kernel.add_var(kernel.var(found.init).clone());
    resize(kernel, init, [rows, columns]);
    kernel.var_mut(init).inserted = Some(Why::ProductTile);
    let attrs = vec![
        (AttrName::Dtype, Attr::Dtype(kernel.tile(init).map_or(Dtype::Fp32, |tile| tile.dtype))),
        (AttrName::TargetMemory, Attr::Space(Space::Acc)),
    ];
    let shape = Operand::List(vec![Scalar::Int(rows), Scalar::Int(columns)]);
    let create = Call { op: OpId::CREATE, args: vec![shape], attrs, origin: found.store.origin };
    out.push(Stmt::Let { var: init, value: Value::Call(create), origin: found.looped.origin });

    let mut copies = Substitution::default();
    copies.set(found.init, Operand::Var(init));
    let mut looped = rewrite::copy(kernel, &[Stmt::For(found.looped.clone())], &mut copies);
    let copy_of = |var: VarId| copies.var_of(var).unwrap_or(var);
    let (lhs, rhs) = (copy_of(found.lhs), copy_of(found.rhs));
    let k = found.problem.k;
    for (load, axis, at, shape) in [(lhs, 0, row, [rows, k]), (rhs, 1, column, [k, columns])] {
        narrow(&mut looped, load, axis, at, shape);
        resize(kernel, load, shape);
    }
    for value in found.accumulators().map(copy_of) {
        resize(kernel, value, [rows, columns]);
    }
    // No tile is one that the author wrote.
    looped
        .iter()
        .for_each(|stmt| visit::definitions(stmt, &mut |var| kernel.var_mut(var).inserted = Some(Why::ProductTile)));
    out.extend(looped);

    let mut store = copies.call(&found.store);
    store.args[2] = target;
    if let Operand::List(offsets) = &mut store.args[1] {
        for (offset, by) in offsets.iter_mut().zip([row, column]) {
            *offset = fold::binary(ScalarBinary::Add, offset.clone(), Scalar::Int(by));
        }
    }
    let stored = kernel.var(found.stored);
    let (name, ty, at) = (format!("{}_t{step}", stored.name), stored.ty.clone(), stored.origin);
    let var = kernel.add_var(Var { name, ty, role: Role::Def, inserted: Some(Why::Intermediate), origin: at });
    out.push(Stmt::Let { var, value: Value::Call(store), origin: found.origin });
    Operand::Var(var)
}

/// A part is a tile of its own, not in the declared allocation of the whole.
fn resize(kernel: &mut Kernel, var: VarId, shape: [i64; 2]) {
    if let Type::Tile(tile) = &mut kernel.var_mut(var).ty {
        tile.shape = shape.into_iter().map(|extent| extent.max(0) as u64).collect();
        tile.view.valid_shape = None;
        tile.binding = None;
    }
}

/// Makes a load one of a part of its window.
fn narrow(body: &mut [Stmt], load: VarId, axis: usize, at: i64, shape: [i64; 2]) {
    for stmt in body {
        match stmt {
            Stmt::For(inner) => narrow(&mut inner.body, load, axis, at, shape),
            Stmt::Let { var, value: Value::Call(call), .. } if *var == load => {
                let extents = Operand::List(shape.map(Scalar::Int).to_vec());
                if let [_, Operand::List(offsets), window, valid] = call.args.as_mut_slice() {
                    if let Some(offset) = offsets.get_mut(axis) {
                        *offset = fold::binary(ScalarBinary::Add, offset.clone(), Scalar::Int(at));
                    }
                    (*window, *valid) = (extents.clone(), extents);
                }
            }
            _ => {}
        }
    }
}

//! AutoTileMatmulL0: a product of operands in L1 that do not fit the operand memories is computed in blocks of K.
//!
//! Products whose accumulator does not fit are tiled in M and N too; that is not modelled and noted.

use super::l0_tile::{self, ElementBytes, Extents};
use super::layout;
use super::{spaces, walk};
use crate::diagnostics::Code;
use crate::ir::{
    Attr, Call, Carry, Dtype, For, If, Kernel, LoopKind, Note, Operand, Origin, Reason, Rejection, Role, Scalar,
    ScalarBinary, Stmt, TileType, TileView, Type, Value, Var, VarId,
};
use crate::ops::OpId;
use crate::target::{Space, Target};

/// Copies of the K loop's body.
const STAGES: u32 = 2;
/// Fewest iterations of a pipeline for which the compiler keeps two accumulators.
const TWO_ACCUMULATOR_TRIPS: i64 = 4;

pub(super) fn run(kernel: &mut Kernel, target: Target) {
    let body = std::mem::take(&mut kernel.body);
    note_two_accumulators(kernel, &body);
    kernel.body = walk::expand_leaves(body, &mut |stmt, out| match stmt {
        Stmt::Let { var, value: Value::Call(call), origin } if is_product(&call) => {
            Product { kernel, target, var, origin, out }.lower(call);
        }
        other => out.push(other),
    });
}

fn is_product(call: &Call) -> bool {
    let arity = match call.op {
        OpId::MATMUL => 2,
        OpId::MATMUL_ACC | OpId::MATMUL_BIAS => 3,
        _ => return false,
    };
    call.args.len() == arity
}

/// One product, and the statements that take its place.
struct Product<'a> {
    kernel: &'a mut Kernel,
    target: Target,
    var: VarId,
    origin: Origin,
    out: &'a mut Vec<Stmt>,
}

impl Product<'_> {
    fn lower(mut self, call: Call) {
        let first = usize::from(call.op == OpId::MATMUL_ACC);
        let operands = (call.args.get(first).and_then(Operand::var), call.args.get(first + 1).and_then(Operand::var));
        let (Some(lhs), Some(rhs)) = operands else { return self.keep(call) };
        self.reject_too_large(&call, lhs, Space::Left, "left", "L0A");
        self.reject_too_large(&call, rhs, Space::Right, "right", "L0B");
        let Some(problem) = self.problem(lhs, rhs) else { return self.keep(call) };
        let Some(tile) = self.tile(problem, lhs, rhs) else { return self.keep(call) };
        if tile == problem {
            return self.keep(call);
        }
        let in_vec = self.kernel.tile(lhs).is_some_and(|tile| tile.space == Some(Space::Vec));
        if tile.m != problem.m || tile.n != problem.n || call.op == OpId::MATMUL_BIAS || in_vec {
            let reason = Reason(format!(
                "`{}` of [{}, {}] x [{}, {}], which the compiler computes in parts",
                call.op.op().name,
                problem.m,
                problem.k,
                problem.k,
                problem.n
            ));
            self.kernel.notes.push(Note { at: call.origin, reason });
            return self.keep(call);
        }
        self.in_blocks(call, lhs, rhs, problem, tile.k);
    }

    fn keep(self, call: Call) {
        self.out.push(Stmt::Let { var: self.var, value: Value::Call(call), origin: self.origin });
    }

    /// An operand that the author placed and that is larger than its memory: no plan can help.
    fn reject_too_large(&mut self, call: &Call, operand: VarId, space: Space, side: &str, unit: &str) {
        let Some(tile) = self.kernel.tile(operand).filter(|tile| tile.space == Some(space)) else { return };
        let Some(capacity) = self.target.capacity(space) else { return };
        let elements = tile.shape.iter().fold(1, |product: u64, extent| product.saturating_mul(*extent));
        let required = elements.saturating_mul(tile.dtype.storage_bits()).div_ceil(8);
        if required <= capacity {
            return;
        }
        let name = &self.kernel.var(operand).name;
        let op = call.op.op().name;
        let message = format!(
            "{op} {side} operand '{name}' is already resident in {space} ({unit}) with physical shape {:?} and dtype {}, \
             requiring {required} bytes, but {} provides {capacity} bytes; keep the operand in Mat and pass it directly to \
             {op}, so that the compiler chooses tiles that fit, or extract a smaller {space} tile",
            tile.shape, tile.dtype, self.target,
        );
        self.kernel.rejections.push(Rejection { at: call.origin, code: Code::OperandTooLarge, message });
    }

    fn problem(&self, lhs: VarId, rhs: VarId) -> Option<Extents> {
        let (lhs, rhs) = (self.kernel.tile(lhs)?, self.kernel.tile(rhs)?);
        if !matches!(lhs.space, Some(Space::Mat | Space::Vec)) || rhs.space != Some(Space::Mat) {
            return None;
        }
        let ([m, k], [depth, n]) = (lhs.shape.as_slice(), rhs.shape.as_slice()) else { return None };
        let extent = |value: u64| i64::try_from(value).ok().filter(|value| (1..=1 << 20).contains(value));
        (k == depth).then_some(())?;
        Some(Extents { m: extent(*m)?, n: extent(*n)?, k: extent(*k)? })
    }

    fn tile(&self, problem: Extents, lhs: VarId, rhs: VarId) -> Option<Extents> {
        let result = self.kernel.tile(self.var)?.dtype;
        let bytes = |dtype: Dtype| dtype.logical_bits().is_multiple_of(8).then_some(dtype.logical_bits() as i64 / 8);
        let bytes = ElementBytes {
            left: bytes(self.kernel.tile(lhs)?.dtype)?,
            right: bytes(self.kernel.tile(rhs)?.dtype)?,
            acc: bytes(result)?,
        };
        let acc_rows = if result == Dtype::Int32 && self.target == Target::Ascend910b { 32 } else { 16 };
        l0_tile::choose(problem, bytes, acc_rows, self.target)
    }

    /// A pipelined loop over whole blocks of K, and the rest behind it.
    fn in_blocks(mut self, call: Call, lhs: VarId, rhs: VarId, problem: Extents, block: i64) {
        let base = self.kernel.var(self.var).name.clone();
        let at = call.origin;
        let blocks = problem.k / block;
        let rest = problem.k - blocks * block;
        let accumulator = (call.op == OpId::MATMUL_ACC).then(|| call.args.first().cloned()).flatten();
        let operands = Operands { lhs, rhs, m: problem.m, n: problem.n, at };
        let whole = if blocks >= 2 {
            let init = match &accumulator {
                Some(given) => given.clone(),
                None => Operand::Var(self.create_accumulator(&base, at)),
            };
            let is_last = rest == 0;
            self.block_loop(&base, &operands, init, accumulator.is_some(), block, blocks, is_last)
        } else {
            let target = (rest == 0).then_some(self.var);
            self.one_block(&base, "0", &operands, 0, block, accumulator, target)
        };
        if rest > 0 {
            self.one_block(&base, "t", &operands, blocks * block, rest, Some(Operand::Var(whole)), Some(self.var));
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn block_loop(
        &mut self,
        base: &str,
        operands: &Operands,
        init: Operand,
        accumulates: bool,
        block: i64,
        blocks: i64,
        is_last: bool,
    ) -> VarId {
        let at = operands.at;
        let index_ty = Type::Scalar(Dtype::Index);
        let index = self.add(format!("{base}_l0_ko"), index_ty, Role::LoopIndex, at);
        let iter = self.accumulator(format!("{base}_l0_c"), Role::IterArg, at);
        let mut body = Vec::new();
        let left = self.extract(base, "a", operands, Scalar::Var(index), block, &mut body);
        let right = self.extract(base, "b", operands, Scalar::Var(index), block, &mut body);
        let value = if accumulates {
            self.multiply(base, "_acc", Some(Operand::Var(iter)), left, right, at, &mut body)
        } else {
            self.first_or_next(base, index, iter, left, right, at, &mut body)
        };
        body.push(Stmt::Yield { values: vec![Operand::Var(value)], origin: self.origin });
        let result = if is_last {
            self.kernel.var_mut(self.var).role = Role::LoopResult;
            self.var
        } else {
            self.accumulator(format!("{base}_l0_kmain"), Role::LoopResult, at)
        };
        self.out.push(Stmt::For(For {
            kind: LoopKind::Pipeline { stages: STAGES },
            index,
            start: Scalar::Int(0),
            stop: Scalar::Int(blocks * block),
            step: Scalar::Int(block),
            carries: vec![Carry { init, iter, result, explicit: true }],
            body,
            origin: self.origin,
        }));
        result
    }

    /// The first block starts the accumulator, the others add to it.
    #[allow(clippy::too_many_arguments)]
    fn first_or_next(
        &mut self,
        base: &str,
        index: VarId,
        iter: VarId,
        left: VarId,
        right: VarId,
        at: Origin,
        body: &mut Vec<Stmt>,
    ) -> VarId {
        let origin = self.origin;
        let branch = |value: VarId| Stmt::Yield { values: vec![Operand::Var(value)], origin };
        let mut then = Vec::new();
        let first = self.multiply(base, "_first", None, left, right, at, &mut then);
        then.push(branch(first));
        let mut otherwise = Vec::new();
        let next = self.multiply(base, "_acc", Some(Operand::Var(iter)), left, right, at, &mut otherwise);
        otherwise.push(branch(next));
        let result = self.accumulator(format!("{base}_l0_c_phi"), Role::IfResult, at);
        let condition = walk::fold_binary(ScalarBinary::Eq, Scalar::Var(index), Scalar::Int(0));
        body.push(Stmt::If(If { condition, then, otherwise, has_else: true, results: vec![result], origin }));
        result
    }

    #[allow(clippy::too_many_arguments)]
    fn one_block(
        &mut self,
        base: &str,
        tag: &str,
        operands: &Operands,
        offset: i64,
        depth: i64,
        accumulator: Option<Operand>,
        target: Option<VarId>,
    ) -> VarId {
        let mut stmts = Vec::new();
        let left = self.extract(base, &format!("a{tag}"), operands, Scalar::Int(offset), depth, &mut stmts);
        let right = self.extract(base, &format!("b{tag}"), operands, Scalar::Int(offset), depth, &mut stmts);
        let value = self.multiply(base, tag, accumulator, left, right, operands.at, &mut stmts);
        self.out.extend(stmts);
        match target {
            // The author's name takes the place of the block's own.
            Some(target) => {
                if let Some(Stmt::Let { var, .. }) = self.out.last_mut() {
                    *var = target;
                }
                target
            }
            None => value,
        }
    }

    fn extract(
        &mut self,
        base: &str,
        tag: &str,
        operands: &Operands,
        offset: Scalar,
        depth: i64,
        out: &mut Vec<Stmt>,
    ) -> VarId {
        let is_left = tag.starts_with('a');
        let (source, space) = if is_left { (operands.lhs, Space::Left) } else { (operands.rhs, Space::Right) };
        let (shape, row, col) = if is_left {
            ([operands.m, depth], Scalar::Int(0), offset)
        } else {
            ([depth, operands.n], offset, Scalar::Int(0))
        };
        let call = Call {
            op: OpId::EXTRACT,
            args: vec![
                Operand::Var(source),
                Operand::Scalar(row),
                Operand::Scalar(col),
                Operand::List(shape.into_iter().map(Scalar::Int).collect()),
            ],
            attrs: vec![(spaces::TARGET_MEMORY, Attr::Space(space))],
            origin: operands.at,
        };
        let dtype = self.kernel.tile(source).map_or(Dtype::Fp32, |tile| tile.dtype);
        let shape = shape.into_iter().map(|extent| extent as u64).collect();
        let mut ty = TileType { shape, dtype, space: Some(space), view: TileView::default(), binding: None };
        let layout = layout::of_result(self.kernel, &call, &ty);
        layout::set(&mut ty, layout);
        let var = self.add(format!("{base}_l0_{tag}"), Type::Tile(ty), Role::Def, operands.at);
        out.push(Stmt::Let { var, value: Value::Call(call), origin: self.origin });
        var
    }

    #[allow(clippy::too_many_arguments)]
    fn multiply(
        &mut self,
        base: &str,
        tag: &str,
        accumulator: Option<Operand>,
        left: VarId,
        right: VarId,
        at: Origin,
        out: &mut Vec<Stmt>,
    ) -> VarId {
        let op = if accumulator.is_some() { OpId::MATMUL_ACC } else { OpId::MATMUL };
        let args = accumulator.into_iter().chain([Operand::Var(left), Operand::Var(right)]).collect();
        let call = Call { op, args, attrs: Vec::new(), origin: at };
        let var = self.accumulator(format!("{base}_l0_c{tag}"), Role::Def, at);
        out.push(Stmt::Let { var, value: Value::Call(call), origin: self.origin });
        var
    }

    fn create_accumulator(&mut self, base: &str, at: Origin) -> VarId {
        let var = self.accumulator(format!("{base}_l0_init"), Role::Def, at);
        let (shape, dtype) =
            self.kernel.tile(var).map_or((Vec::new(), Dtype::Fp32), |tile| (tile.shape.clone(), tile.dtype));
        let shape = shape.into_iter().map(|extent| Scalar::Int(i64::try_from(extent).unwrap_or(i64::MAX))).collect();
        let attrs = vec![("dtype", Attr::Dtype(dtype)), (spaces::TARGET_MEMORY, Attr::Space(Space::Acc))];
        let call = Call { op: OpId::CREATE, args: vec![Operand::List(shape)], attrs, origin: at };
        self.out.push(Stmt::Let { var, value: Value::Call(call), origin: self.origin });
        var
    }

    /// A tile like the product's own.
    fn accumulator(&mut self, name: String, role: Role, at: Origin) -> VarId {
        let mut ty = self.kernel.var(self.var).ty.clone();
        if let Type::Tile(tile) = &mut ty {
            tile.binding = None;
        }
        self.add(name, ty, role, at)
    }

    fn add(&mut self, name: String, ty: Type, role: Role, origin: Origin) -> VarId {
        self.kernel.add_var(Var { name, ty, role, inserted: true, origin })
    }
}

struct Operands {
    lhs: VarId,
    rhs: VarId,
    m: i64,
    n: i64,
    at: Origin,
}

/// In a long pipeline with one product of an operand that stays and one that changes, the compiler alternates between two
/// accumulators.
fn note_two_accumulators(kernel: &mut Kernel, body: &[Stmt]) {
    let mut found = Vec::new();
    walk::visit(body, &mut |stmt| {
        let Stmt::For(inner) = stmt else { return };
        let LoopKind::Pipeline { stages } = inner.kind else { return };
        let trips = walk::trip_count(&inner.start, &inner.stop, &inner.step).unwrap_or(0);
        if stages < 2 || trips < TWO_ACCUMULATOR_TRIPS || trips % i64::from(stages) != 0 {
            return;
        }
        let defined: Vec<VarId> = inner
            .body
            .iter()
            .filter_map(|stmt| if let Stmt::Let { var, .. } = stmt { Some(*var) } else { None })
            .collect();
        let products: Vec<&Call> =
            inner.body.iter().filter_map(walk::call_of).filter(|call| call.op == OpId::MATMUL).collect();
        let [product] = products.as_slice() else { return };
        let moving = product.args.iter().filter_map(Operand::var).filter(|var| defined.contains(var)).count();
        let in_l0 = product
            .args
            .iter()
            .filter_map(Operand::var)
            .all(|var| matches!(kernel.tile(var).and_then(|tile| tile.space), Some(Space::Left | Space::Right)));
        if moving == 1 && in_l0 {
            found.push(inner.origin);
        }
    });
    let reason = || Reason("a pipeline in which the compiler alternates between two accumulators".into());
    kernel.notes.extend(found.into_iter().map(|at| Note { at, reason: reason() }));
}

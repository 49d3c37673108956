//! Writes of single elements that the compiler gathers into tiles before it converts anything.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::element::Dtype;
use tilefit_python::finding::Origin;

use crate::ir::{
    Attr, AttrName, Call, For, Kernel, LoopKind, Operand, Role, Scalar, ScalarBinary, Stmt, TensorLayout, TensorType,
    Type, Value, Var, VarId, Why, rewrite, visit,
};
use crate::ops::OpId;

/// Bits that a row of the filled part must be a multiple of.
const ROW_BITS: u64 = 256;

pub(super) fn run(kernel: &mut Kernel, body: Vec<Stmt>) -> Vec<Stmt> {
    let body = stage_filled(kernel, body);
    fill_loops(kernel, body)
}

fn fill_loops(kernel: &mut Kernel, body: Vec<Stmt>) -> Vec<Stmt> {
    rewrite::expand_loops(body, &mut |inner, out| match constant_fill(kernel, &inner) {
        Some(filled) => out.extend(filled),
        None => out.push(Stmt::For(inner)),
    })
}

/// A loop that writes numbers to every element of contiguous parts of tensors: for each a tile of that number, and a store.
fn constant_fill(kernel: &mut Kernel, inner: &For) -> Option<Vec<Stmt>> {
    let (start, stop, step) = (inner.start.as_int()?, inner.stop.as_int()?, inner.step.as_int()?);
    if start != 0 || stop <= 0 || step != 1 || inner.kind != LoopKind::Range || !inner.carries.is_empty() {
        return None;
    }
    let fills: Vec<Fill> =
        inner.body.iter().map(|stmt| Fill::of(kernel, stmt, inner.index, stop)).collect::<Option<_>>()?;
    let (first, others) = fills.split_first()?;
    if !others.iter().all(|fill| fill.goes_with(first)) {
        return None;
    }
    Some(fills.into_iter().flat_map(|fill| fill.statements(kernel, stop)).collect())
}

/// One write of such a loop.
struct Fill {
    target: VarId,
    tensor: TensorType,
    dtype: Dtype,
    indices: Vec<Scalar>,
    /// Where the filled part starts, and the axis along which it runs.
    offsets: Vec<Scalar>,
    varying: usize,
    /// A literal. What is computed of one, also by a cast, is written element by element.
    value: Scalar,
    at: Origin,
    origin: Origin,
}

impl Fill {
    fn of(kernel: &Kernel, stmt: &Stmt, index: VarId, count: i64) -> Option<Fill> {
        let Stmt::Eval { call, origin } = stmt else { return None };
        if call.op != OpId::TENSOR_WRITE {
            return None;
        }
        let [
            target,
            Operand::List(indices),
            Operand::Scalar(value @ (Scalar::Int(_) | Scalar::Float(_) | Scalar::Const(..))),
        ] = call.args.as_slice()
        else {
            return None;
        };
        let target = target.var()?;
        let tensor = kernel.tensor(target)?.clone();
        let dtype = tensor.dtype?;
        let offsets = filled_from(&tensor, indices, index)?;
        if u64::try_from(count).ok()?.checked_mul(dtype.storage_bits())? % ROW_BITS != 0 {
            return None;
        }
        let varying = indices.iter().position(|at| mentions(at, index))?;
        let (indices, value) = (indices.clone(), value.clone());
        Some(Fill { target, tensor, dtype, indices, offsets, varying, value, at: call.origin, origin: *origin })
    }

    /// Several writes keep their order for each element only where they go through the same elements.
    fn goes_with(&self, first: &Fill) -> bool {
        let is_plain = |fill: &Fill| fill.tensor.layout == TensorLayout::Nd;
        let shape = |fill: &Fill| (fill.dtype, fill.tensor.shape.clone(), fill.indices.clone());
        is_plain(self) && is_plain(first) && shape(self) == shape(first)
    }

    fn statements(self, kernel: &mut Kernel, count: i64) -> [Stmt; 3] {
        let Fill { target, tensor, dtype, offsets, varying, value, at, origin, .. } = self;
        let row = vec![Scalar::Int(1), Scalar::Int(count)];
        let logical: Vec<Scalar> =
            (0..offsets.len()).map(|axis| Scalar::Int(if axis == varying { count } else { 1 })).collect();
        let mut add = |name: &str, shape: &[Scalar]| {
            let ty = Type::Tensor(TensorType { shape: shape.to_vec(), is_output: false, ..tensor.clone() });
            kernel.add_var(Var {
                name: name.to_owned(),
                ty,
                role: Role::Def,
                inserted: Some(Why::Intermediate),
                origin: at,
            })
        };
        let (full, part) = (add("scalar_fill_storage", &row), add("scalar_fill", &logical));
        let call = |op, args, attrs| Call { op, args, attrs, origin: at };
        let filled = vec![Operand::List(row), Operand::Scalar(value)];
        let filled = call(OpId::TENSOR_FULL, filled, vec![(AttrName::Dtype, Attr::Dtype(dtype))]);
        let shaped = call(OpId::RESHAPE, vec![Operand::Var(full), Operand::List(logical)], Vec::new());
        let stored = vec![Operand::Var(target), Operand::Var(part), Operand::List(offsets)];
        [
            Stmt::Let { var: full, value: Value::Call(filled), origin },
            Stmt::Let { var: part, value: Value::Call(shaped), origin },
            Stmt::Eval { call: call(OpId::TENSOR_ASSEMBLE, stored, Vec::new()), origin },
        ]
    }
}

/// Tensors that are filled as a whole and then changed element by element: the elements are written to the tile, which is stored at
/// the end (CanonicalizeFullTensorScalarUpdates).
fn stage_filled(kernel: &Kernel, mut body: Vec<Stmt>) -> Vec<Stmt> {
    if !matches!(body.last(), Some(Stmt::Return { .. })) {
        return body;
    }
    let mut staged = staged(kernel, &body);
    if staged.is_empty() {
        return body;
    }
    let mut uses = StagedUses::of(&staged);
    body.iter().for_each(|stmt| uses.see(stmt));
    staged.retain(|fill| uses.is_written_only(fill));
    let tile_of = staged.iter().map(|fill| (fill.target, fill.tile)).collect();
    write_to_tiles(&mut body, &tile_of);
    let is_store = |at: &usize| staged.iter().any(|fill| fill.store == *at);
    let (stores, mut rest): (Vec<_>, Vec<_>) = body.into_iter().enumerate().partition(|(at, _)| is_store(at));
    let end = rest.pop();
    rest.into_iter().chain(stores).chain(end).map(|(_, stmt)| stmt).collect()
}

/// `tile = full(...)`, and after it `target = assemble(parameter, tile, zeros)`.
struct Staged {
    tile: VarId,
    target: VarId,
    /// Where the assemble stands.
    store: usize,
}

fn staged(kernel: &Kernel, body: &[Stmt]) -> Vec<Staged> {
    let of_pair = |(at, pair): (usize, &[Stmt])| {
        let [Stmt::Let { var: tile, value: Value::Call(full), .. }, Stmt::Let { var, value: Value::Call(stored), .. }] =
            pair
        else {
            return None;
        };
        let [destination, source, Operand::List(offsets)] = stored.args.as_slice() else { return None };
        let is_pattern = full.op == OpId::TENSOR_FULL && stored.op == OpId::TENSOR_ASSEMBLE;
        let destination = destination.var().filter(|destination| kernel.params.contains(destination))?;
        let (whole, part) = (kernel.tensor(destination)?, kernel.tensor(*tile)?);
        let is_whole = source.var() == Some(*tile)
            && offsets.iter().all(|offset| offset.as_int() == Some(0))
            && whole.shape == part.shape
            && whole.dtype == part.dtype
            && whole.layout == TensorLayout::Nd;
        (is_pattern && is_whole).then_some(Staged { tile: *tile, target: *var, store: at + 1 })
    };
    body.windows(2).enumerate().filter_map(of_pair).collect()
}

/// How filled tensors are used besides the pair that makes them.
struct StagedUses {
    /// Writes of an element, and other uses, by the tensor or the tile.
    of: FxHashMap<VarId, (usize, usize)>,
    stores: FxHashSet<VarId>,
}

impl StagedUses {
    fn of(staged: &[Staged]) -> StagedUses {
        StagedUses {
            of: staged.iter().flat_map(|fill| [fill.target, fill.tile]).map(|var| (var, (0, 0))).collect(),
            stores: staged.iter().map(|fill| fill.target).collect(),
        }
    }

    fn see(&mut self, stmt: &Stmt) {
        visit::statements(std::slice::from_ref(stmt), &mut |stmt| {
            if matches!(stmt, Stmt::Let { var, .. } if self.stores.contains(var)) {
                return;
            }
            let mut used = |var: VarId, is_write: bool| {
                if let Some((writes, others)) = self.of.get_mut(&var) {
                    *(if is_write { writes } else { others }) += 1;
                }
            };
            match stmt {
                // To return the tensor reads nothing of it.
                Stmt::Return { values, .. } => {
                    let read = values.iter().filter_map(Operand::var).filter(|var| !self.stores.contains(var));
                    read.for_each(|var| used(var, false));
                }
                _ => match visit::call_of(stmt).filter(|call| call.op == OpId::TENSOR_WRITE) {
                    Some(call) => {
                        call.args.first().and_then(Operand::var).into_iter().for_each(|var| used(var, true));
                        let others = call.args.iter().skip(1);
                        others.for_each(|arg| visit::operand_uses(arg, &mut |var| used(var, false)));
                    }
                    None => visit::own_uses(stmt, &mut |var| used(var, false)),
                },
            }
        });
    }

    fn is_written_only(&self, fill: &Staged) -> bool {
        let uses = |var: VarId| self.of.get(&var).copied().unwrap_or_default();
        matches!(uses(fill.target), (1.., 0)) && uses(fill.tile) == (0, 0)
    }
}

fn write_to_tiles(body: &mut [Stmt], tile_of: &FxHashMap<VarId, VarId>) {
    for stmt in body {
        stmt.blocks_mut().for_each(|block| write_to_tiles(block, tile_of));
        let Some(call) = visit::call_of_mut(stmt).filter(|call| call.op == OpId::TENSOR_WRITE) else { continue };
        let tile = call.args.first().and_then(Operand::var).and_then(|target| tile_of.get(&target));
        if let Some(tile) = tile {
            call.args[0] = Operand::Var(*tile);
        }
    }
}

/// Where the filled part starts, if it is contiguous: one axis runs with the loop, and those after it have one element.
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
    visit::scalar_uses(scalar, &mut |var| found |= var == index);
    found
}

//! Products of more than two axes: one product for each batch, of parts of the whole operands in L1 (`tensor-level.md` §7.6,
//! `flatten_tile_nd_to_2d/batch_matmul.cpp`).

use rustc_hash::{FxHashMap, FxHashSet};

use super::pages::{Pages, extents, int, tile_type};
use super::{spaces, walk};
use crate::ir::{
    Attr, Call, Kernel, Note, Operand, Origin, Reason, Role, Scalar, ScalarBinary, Stmt, TileType, TileView, Type,
    Value, Var, VarId,
};
use crate::memory::sizes::tile_bytes;
use crate::ops::OpId;
use crate::target::{Space, Target};

/// What the statements of a kernel say of its batch products, before they are flattened.
pub(super) struct Batches {
    target: Target,
    types: Vec<Option<TileType>>,
    /// Loads, reshapes and transposing views by their results.
    definitions: FxHashMap<VarId, Call>,
    /// Products that the next statement stores: each batch is stored on its own.
    stored_at_once: FxHashMap<VarId, Stmt>,
    /// Results of those stores.
    taken: FxHashSet<VarId>,
}

impl Batches {
    pub(super) fn of(kernel: &Kernel, body: &[Stmt], target: Target) -> Batches {
        let mut batches = Batches {
            target,
            types: Vec::new(),
            definitions: FxHashMap::default(),
            stored_at_once: FxHashMap::default(),
            taken: FxHashSet::default(),
        };
        batches.collect(body);
        if batches.definitions.values().any(is_product) {
            batches.types = (0..kernel.vars.len()).map(|var| kernel.tile(VarId(var as u32)).cloned()).collect();
        }
        batches
    }

    fn collect(&mut self, body: &[Stmt]) {
        for (index, stmt) in body.iter().enumerate() {
            match stmt {
                Stmt::Let { var, value: Value::Call(call), .. } => {
                    let is_followed = matches!(call.op, OpId::LOAD | OpId::RESHAPE | OpId::TRANSPOSE_VIEW);
                    if is_followed || is_product(call) {
                        self.definitions.insert(*var, call.clone());
                    }
                    if call.op == OpId::BATCH_MATMUL
                        && let Some(next @ Stmt::Let { var: result, value: Value::Call(store), .. }) =
                            body.get(index + 1)
                        && store.op == OpId::STORE
                        && store.args.first().and_then(Operand::var) == Some(*var)
                    {
                        self.stored_at_once.insert(*var, next.clone());
                        self.taken.insert(*result);
                    }
                }
                Stmt::For(inner) => self.collect(&inner.body),
                Stmt::While(inner) => self.collect(&inner.body),
                Stmt::If(inner) => {
                    self.collect(&inner.then);
                    self.collect(&inner.otherwise);
                }
                _ => {}
            }
        }
    }

    fn tile(&self, var: VarId) -> Option<&TileType> {
        self.types.get(var.0 as usize)?.as_ref()
    }

    /// The operand as it is kept whole in L1.
    fn operand(&self, kernel: &Kernel, operand: Option<&Operand>) -> Result<Whole, String> {
        let unknown = || "a product of something that is not known".to_owned();
        let mut var = operand.and_then(Operand::var).ok_or_else(unknown)?;
        // Names for the same pages are looked through.
        while let Some(call) = self.definitions.get(&var).filter(|call| call.op == OpId::RESHAPE)
            && let Some(source) = call.args.first().and_then(Operand::var)
            && let (Some(inner), Some(outer)) = (self.tile(source), self.tile(var))
            && pages(&inner.shape) == pages(&outer.shape)
        {
            var = source;
        }
        let tile = self.tile(var).ok_or_else(unknown)?.clone();
        let name = &kernel.var(var).name;
        let view = self.definitions.get(&var).filter(|call| call.op == OpId::TRANSPOSE_VIEW);
        let loaded = match view {
            Some(view) => view.args.first().and_then(Operand::var).and_then(|source| self.definitions.get(&source)),
            None => self.definitions.get(&var),
        };
        if tile.space != Some(Space::Mat) {
            return Err(format!("a batch product of `{name}`, which is not in L1"));
        }
        if let Some(load) = loaded.filter(|call| call.op == OpId::LOAD)
            && !is_one_run(kernel, load)
        {
            return Err(format!("a batch product of `{name}`, whose window the compiler loads batch by batch"));
        }
        let Some((_, rows, columns)) = pages(&tile.shape) else { return Err(unknown()) };
        let bytes = tile_bytes(&tile, Space::Mat, self.target).unwrap_or(u64::MAX);
        let batch_shape = tile.shape[..tile.shape.len() - 2].to_vec();
        Ok(Whole { var, tile, batch_shape, rows, columns, turned: view.is_some(), bytes })
    }
}

fn is_product(call: &Call) -> bool {
    matches!(call.op, OpId::BATCH_MATMUL | OpId::BATCH_MATMUL_ACC)
}

/// Count, rows and columns of the matrices that a tile is made of.
fn pages(shape: &[u64]) -> Option<(u64, u64, u64)> {
    let [batches @ .., rows, columns] = shape else { return None };
    Some((batches.iter().product(), *rows, *columns))
}

/// Whether the rows of a window lie in memory as those of one matrix.
fn is_one_run(kernel: &Kernel, load: &Call) -> bool {
    let (Some(tensor), Some(Operand::List(window))) =
        (load.args.first().and_then(Operand::var).and_then(|var| kernel.tensor(var)), load.args.get(3))
    else {
        return true;
    };
    if window.len() <= 2 || tensor.shape.len() != window.len() {
        return true;
    }
    let leading = window.iter().zip(&tensor.shape).take(window.len() - 1);
    let mut behind = leading.skip_while(|(extent, _)| extent.as_int() == Some(1)).skip(1);
    behind.all(|(extent, whole)| extent == whole)
}

/// An operand in L1, before it is flattened.
struct Whole {
    var: VarId,
    tile: TileType,
    batch_shape: Vec<u64>,
    rows: u64,
    columns: u64,
    /// A transposing view, whose batches lie side by side.
    turned: bool,
    bytes: u64,
}

/// Makes the statements of a batch product; gives back every other statement.
pub(super) fn product(kernel: &mut Kernel, batches: &mut Batches, stmt: Stmt, out: &mut Vec<Stmt>) -> Option<Stmt> {
    let Stmt::Let { var, value: Value::Call(call), origin } = &stmt else { return Some(stmt) };
    if batches.taken.contains(var) {
        return None;
    }
    if !is_product(call) {
        return Some(stmt);
    }
    if let Err(what) = unrolled(kernel, batches, *var, call, *origin, out) {
        let reason = Reason(what);
        kernel.notes.push(Note { at: call.origin, reason: reason.clone() });
        // Its operands need not fit whole, and the compiler does not place them whole.
        kernel.var_mut(*var).ty = Type::Unknown(reason.clone());
        out.push(Stmt::Let { var: *var, value: Value::Scalar(Scalar::Unknown(reason)), origin: *origin });
        out.extend(batches.stored_at_once.remove(var));
    }
    None
}

fn unrolled(
    kernel: &mut Kernel,
    batches: &mut Batches,
    result: VarId,
    call: &Call,
    origin: Origin,
    out: &mut Vec<Stmt>,
) -> Result<(), String> {
    let adds = call.op == OpId::BATCH_MATMUL_ACC;
    let first = usize::from(adds);
    if call.args.len() != first + 2 {
        return Err("a batch product under a condition".to_owned());
    }
    let lhs = batches.operand(kernel, call.args.get(first))?;
    let rhs = batches.operand(kernel, call.args.get(first + 1))?;
    if lhs.bytes.saturating_add(rhs.bytes) > batches.target.capacity(Space::Mat).unwrap_or(0) {
        return Err(
            "a batch product whose operands do not fit L1 together, so that the compiler loads them batch by batch"
                .to_owned(),
        );
    }
    let output = broadcast(&lhs.batch_shape, &rhs.batch_shape)
        .ok_or_else(|| "a product of batches that do not match".to_owned())?;
    let count: u64 = output.iter().product();
    let dtype =
        batches.tile(result).map(|tile| tile.dtype).ok_or_else(|| "a batch product of unknown type".to_owned())?;
    let shape = [lhs.rows, rhs.columns];
    let mut pages = Pages { kernel, at: call.origin, origin, out };
    if adds && count != 1 {
        return Err("a batch product that is added to an accumulator batch by batch".to_owned());
    }
    let store = batches.stored_at_once.remove(&result);
    if count == 1 && store.is_none() {
        let (left, right) = (pages.page("lhs", &lhs, 0), pages.page("rhs", &rhs, 0));
        let mut args: Vec<Operand> = call.args.first().filter(|_| adds).cloned().into_iter().collect();
        args.extend([Operand::Var(left), Operand::Var(right)]);
        pages.kernel.var_mut(result).ty = product_type(shape, dtype);
        pages.bind(result, if adds { OpId::MATMUL_ACC } else { OpId::MATMUL }, args, Vec::new());
        return Ok(());
    }
    let model =
        TileType { shape: Vec::new(), dtype, space: Some(Space::Vec), view: TileView::default(), binding: None };
    let tall = [count * lhs.rows, rhs.columns];
    let mut whole = None;
    if store.is_none() {
        let made = pages.own(result, tall, &model);
        pages.create_as(made, tall);
        whole = Some(made);
    }
    let mut stored = match &store {
        Some(Stmt::Let { value: Value::Call(store), .. }) => store.args.get(2).cloned(),
        _ => None,
    };
    for batch in 0..count {
        let index = indices(batch, &output);
        let left = pages.page("lhs", &lhs, flat(&index, &lhs.batch_shape));
        let right = pages.page("rhs", &rhs, flat(&index, &rhs.batch_shape));
        let one = pages.inserted(format!("matmul_{batch}"), product_type(shape, dtype));
        pages.bind(one, OpId::MATMUL, vec![Operand::Var(left), Operand::Var(right)], Vec::new());
        let is_last = batch + 1 == count;
        if let Some(Stmt::Let { var, value: Value::Call(store), origin }) = &store {
            let next = if is_last {
                *var
            } else {
                let twin = pages.kernel.var(*var).clone();
                pages.kernel.add_var(twin)
            };
            let mut store = store.clone();
            store.args[0] = Operand::Var(one);
            if let (Some(Operand::List(offsets)), Some(tensor)) = (store.args.get_mut(1), stored.take()) {
                for (offset, index) in offsets.iter_mut().zip(&index) {
                    *offset = walk::fold_binary(ScalarBinary::Add, offset.clone(), int(*index));
                }
                store.args[2] = tensor;
            }
            pages.out.push(Stmt::Let { var: next, value: Value::Call(store), origin: *origin });
            stored = Some(Operand::Var(next));
        } else if let Some(target) = whole {
            let ty = tile_type(shape, &model);
            let moved = pages.inserted(format!("matmul_vec_{batch}"), ty);
            let attrs = vec![(spaces::TARGET_MEMORY, Attr::Space(Space::Vec))];
            pages.bind(moved, OpId::MOVE, vec![Operand::Var(one)], attrs);
            if is_last {
                pages.kernel.var_mut(result).ty = tile_type(tall, &model);
            }
            let next = if is_last { result } else { pages.own(result, tall, &model) };
            let place = Operand::List(vec![int(batch * lhs.rows), int(0)]);
            pages.bind(next, OpId::ASSEMBLE, vec![Operand::Var(target), Operand::Var(moved), place], Vec::new());
            whole = Some(next);
        }
    }
    Ok(())
}

impl Pages<'_> {
    /// The matrix of one batch of an operand.
    fn page(&mut self, side: &str, of: &Whole, batch: u64) -> VarId {
        let (row, column) = if of.turned { (0, batch * of.columns) } else { (batch * of.rows, 0) };
        let shape = [of.rows, of.columns];
        let ty = Type::Tile(TileType { shape: shape.to_vec(), binding: None, ..of.tile.clone() });
        let page = self.inserted(format!("{side}_slice_{batch}"), ty);
        let place = Operand::List(vec![int(row), int(column)]);
        self.bind(page, OpId::SLICE, vec![Operand::Var(of.var), extents(shape), place], Vec::new());
        page
    }

    fn inserted(&mut self, name: String, ty: Type) -> VarId {
        self.kernel.add_var(Var { name, ty, role: Role::Def, inserted: true, origin: self.at })
    }
}

fn product_type(shape: [u64; 2], dtype: crate::ir::Dtype) -> Type {
    let model =
        TileType { shape: Vec::new(), dtype, space: Some(Space::Acc), view: TileView::default(), binding: None };
    tile_type(shape, &model)
}

/// The shape of batches that both sides are spread to.
fn broadcast(one: &[u64], other: &[u64]) -> Option<Vec<u64>> {
    let rank = one.len().max(other.len());
    let extent = |shape: &[u64], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
    (0..rank)
        .map(|axis| match (extent(one, axis), extent(other, axis)) {
            (a, b) if a == b || b == 1 => Some(a),
            (1, b) => Some(b),
            _ => None,
        })
        .collect()
}

/// The place of a batch along each axis.
fn indices(mut batch: u64, shape: &[u64]) -> Vec<u64> {
    let mut places: Vec<u64> = shape
        .iter()
        .rev()
        .map(|extent| {
            let place = batch % extent.max(&1);
            batch /= extent.max(&1);
            place
        })
        .collect();
    places.reverse();
    places
}

/// The batch of an operand at a place of the result; axes of one extent are the same everywhere.
fn flat(place: &[u64], shape: &[u64]) -> u64 {
    let behind = place.len().saturating_sub(shape.len());
    place
        .iter()
        .skip(behind)
        .zip(shape)
        .fold(0, |flat, (at, extent)| flat * extent + if *extent == 1 { 0 } else { *at })
}

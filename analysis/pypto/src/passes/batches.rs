//! Products of more than two axes: one product for each batch, of parts of the whole operands in L1, or of windows that are loaded
//! batch by batch (`docs/reference/tensor-level.md`, "Batch products").

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::finding::{Note, Origin, Reason};

use super::pages::{Pages, extents, int, tile_type};
use crate::ir::{
    Attr, AttrName, Call, Kernel, Operand, Rejection, Role, Scalar, ScalarBinary, Stmt, TileType, TileView, Type,
    Value, Var, VarId, Why, fold, visit,
};
use crate::memory::sizes::tile_bytes;
use crate::ops::OpId;
use crate::target::{Space, Target};
use crate::typing::broadcast;

/// What the statements of a kernel say of its batch products, before they are flattened.
pub(super) struct Batches {
    target: Target,
    types: Vec<Option<TileType>>,
    /// Loads, reshapes, transposing views and products by their results, each with the list of statements that it stands in: the
    /// compiler follows an operand within the list of its product only.
    definitions: FxHashMap<VarId, (usize, Call)>,
    /// Products in the order of the text.
    products: Vec<VarId>,
    lists: usize,
    /// What only products use that load it batch by batch.
    dropped: FxHashSet<VarId>,
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
            products: Vec::new(),
            lists: 0,
            dropped: FxHashSet::default(),
            stored_at_once: FxHashMap::default(),
            taken: FxHashSet::default(),
        };
        batches.collect(body);
        if !batches.products.is_empty() {
            batches.types = (0..kernel.vars.len()).map(|var| kernel.tile(VarId(var as u32)).cloned()).collect();
            batches.drop_unread(kernel, body);
        }
        batches
    }

    fn collect(&mut self, body: &[Stmt]) {
        let list = self.lists;
        self.lists += 1;
        for (index, stmt) in body.iter().enumerate() {
            match stmt {
                Stmt::Let { var, value: Value::Call(call), .. } => {
                    let is_followed = matches!(call.op, OpId::LOAD | OpId::RESHAPE | OpId::TRANSPOSE_VIEW);
                    if is_followed || is_product(call) {
                        self.definitions.insert(*var, (list, call.clone()));
                    }
                    if is_product(call) {
                        self.products.push(*var);
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
                _ => stmt.blocks().for_each(|block| self.collect(block)),
            }
        }
    }

    fn tile(&self, var: VarId) -> Option<&TileType> {
        self.types.get(var.0 as usize)?.as_ref()
    }

    fn beside(&self, list: usize, var: VarId) -> Option<&Call> {
        self.definitions.get(&var).filter(|(other, _)| *other == list).map(|(_, call)| call)
    }

    /// Names for the same pages are looked through.
    fn peeled(&self, list: usize, mut var: VarId) -> VarId {
        while let Some(source) = self.beside(list, var).and_then(|call| self.source_of_same_pages(var, call)) {
            var = source;
        }
        var
    }

    fn source_of_same_pages(&self, var: VarId, call: &Call) -> Option<VarId> {
        let source = call.args.first().and_then(Operand::var).filter(|_| call.op == OpId::RESHAPE)?;
        let (inner, outer) = (self.tile(source)?, self.tile(var)?);
        (pages(&inner.shape) == pages(&outer.shape)).then_some(source)
    }

    /// The transposing view that an operand is, and the load that it views.
    fn view_and_load(&self, list: usize, operand: VarId) -> (Option<&Call>, Option<&Call>) {
        let view = self.beside(list, operand).filter(|call| call.op == OpId::TRANSPOSE_VIEW);
        let loaded = match view {
            Some(view) => view.args.first().and_then(Operand::var).and_then(|source| self.beside(list, source)),
            None => self.beside(list, operand),
        };
        (view, loaded.filter(|call| call.op == OpId::LOAD))
    }

    fn bytes(&self, var: VarId) -> Option<u64> {
        self.tile(var).and_then(|tile| tile_bytes(tile, Space::Mat, self.target))
    }

    /// Whether both operands of a product are kept in L1 at once.
    fn fit(&self, factors: [Option<VarId>; 2]) -> bool {
        let [Some(lhs), Some(rhs)] = factors.map(|factor| factor.and_then(|var| self.bytes(var))) else { return true };
        lhs.saturating_add(rhs) <= self.target.capacity(Space::Mat).unwrap_or(0)
    }

    /// The chains of statements that end in operands of products only, none of which keeps them whole.
    fn drop_unread(&mut self, kernel: &Kernel, body: &[Stmt]) {
        let mut uses: FxHashMap<VarId, usize> = FxHashMap::default();
        visit::statements(body, &mut |stmt| {
            visit::own_uses(stmt, &mut |var| *uses.entry(var).or_default() += 1);
        });
        let mut operands: FxHashMap<VarId, usize> = FxHashMap::default();
        let (mut whole, mut parted) = (FxHashSet::default(), FxHashSet::default());
        for product in &self.products {
            let Some((list, call)) = self.definitions.get(product) else { continue };
            let factors = factors(call);
            let fit = self.fit(factors);
            for factor in factors.into_iter().flatten() {
                *operands.entry(factor).or_default() += 1;
                let (_, load) = self.view_and_load(*list, self.peeled(*list, factor));
                let is_whole = fit && load.is_none_or(|load| is_one_run(kernel, load));
                let mut link = Some(factor);
                while let Some(var) = link {
                    if is_whole {
                        whole.insert(var)
                    } else {
                        parted.insert(var)
                    };
                    let call = self.beside(*list, var);
                    let call = call.filter(|call| matches!(call.op, OpId::RESHAPE | OpId::TRANSPOSE_VIEW));
                    link = call.and_then(|call| call.args.first()).and_then(Operand::var);
                }
            }
        }
        let mut open: Vec<VarId> =
            operands.into_iter().filter(|(var, count)| uses.get(var) == Some(count)).map(|(var, _)| var).collect();
        let mut only = FxHashSet::default();
        while let Some(var) = open.pop() {
            if !only.insert(var) {
                continue;
            }
            let Some((_, call)) = self.definitions.get(&var) else { continue };
            let source = match call.op {
                OpId::TRANSPOSE_VIEW => call.args.first().and_then(Operand::var),
                _ => self.source_of_same_pages(var, call),
            };
            open.extend(source.filter(|source| uses.get(source) == Some(&1)));
        }
        self.dropped = only;
        self.dropped.retain(|var| parted.contains(var) && !whole.contains(var) && self.definitions.contains_key(var));
    }

    /// The operand as it is kept whole in L1.
    fn operand(&self, kernel: &Kernel, list: usize, operand: Option<VarId>, fit: bool) -> Result<Factor, String> {
        let unknown = || "a product of an unknown operand".to_owned();
        let var = self.peeled(list, operand.ok_or_else(unknown)?);
        let tile = self.tile(var).ok_or_else(unknown)?.clone();
        let name = &kernel.var(var).name;
        if tile.space != Some(Space::Mat) {
            return Err(format!("a batch product of `{name}`, which is not in L1"));
        }
        let (view, load) = self.view_and_load(list, var);
        let load = load.filter(|load| !fit || !is_one_run(kernel, load)).cloned();
        let Some((_, rows, columns)) = pages(&tile.shape) else { return Err(unknown()) };
        let batch_shape = tile.shape[..tile.shape.len() - 2].to_vec();
        let valid = match tile.view.valid_shape.as_deref() {
            Some([.., valid_rows, valid_columns]) if load.is_none() => {
                Some([valid_rows.clone(), valid_columns.clone()])
            }
            _ => None,
        };
        let valid = valid.filter(|valid| *valid != [int(rows), int(columns)]);
        Ok(Factor { var, tile, batch_shape, rows, columns, valid, turned: view.is_some(), load })
    }
}

/// The variables that a product multiplies.
fn factors(call: &Call) -> [Option<VarId>; 2] {
    let first = usize::from(call.op == OpId::BATCH_MATMUL_ACC);
    [first, first + 1].map(|arg| call.args.get(arg).and_then(Operand::var))
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
pub(super) fn is_one_run(kernel: &Kernel, load: &Call) -> bool {
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
struct Factor {
    var: VarId,
    tile: TileType,
    batch_shape: Vec<u64>,
    rows: u64,
    columns: u64,
    /// The part of each matrix that holds data, where that is not all of it.
    valid: Option<[Scalar; 2]>,
    /// A transposing view, whose batches lie side by side.
    turned: bool,
    /// Where the whole operand does not stay in L1: how it would be loaded.
    load: Option<Call>,
}

/// Makes the statements of a batch product; gives back every other statement.
pub(super) fn product(kernel: &mut Kernel, batches: &mut Batches, stmt: Stmt, out: &mut Vec<Stmt>) -> Option<Stmt> {
    let Stmt::Let { var, value: Value::Call(call), origin } = &stmt else { return Some(stmt) };
    if batches.taken.contains(var) || batches.dropped.contains(var) {
        return None;
    }
    if !is_product(call) {
        return Some(stmt);
    }
    if let Err(what) = unrolled(kernel, batches, *var, call, *origin, out) {
        let reason = Reason::new(what);
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
    if call.args.len() != usize::from(adds) + 2 {
        return Err("a batch product under a condition".to_owned());
    }
    let list = batches.definitions.get(&result).map_or(0, |(list, _)| *list);
    let [lhs, rhs] = factors(call);
    let fit = batches.fit([lhs, rhs].map(|factor| factor.map(|var| batches.peeled(list, var))));
    let lhs = batches.operand(kernel, list, lhs, fit)?;
    let rhs = batches.operand(kernel, list, rhs, fit)?;
    let output = broadcast(&lhs.batch_shape, &rhs.batch_shape)
        .ok_or_else(|| "a product of batches that do not match".to_owned())?;
    let count: u64 = output.iter().product();
    let dtype =
        batches.tile(result).map(|tile| tile.dtype).ok_or_else(|| "a batch product of unknown type".to_owned())?;
    let shape = [lhs.rows, rhs.columns];
    let mut pages = Pages { kernel, at: call.origin, origin, out };
    if adds && count != 1 {
        let accumulator = call.args.first().and_then(Operand::var).ok_or("an unknown accumulator")?;
        pages.added(result, accumulator, [&lhs, &rhs], &output, dtype);
        return Ok(());
    }
    let store = batches.stored_at_once.remove(&result);
    if count == 1 && store.is_none() {
        let (left, right) = (pages.page("lhs", &lhs, 0), pages.page("rhs", &rhs, 0));
        let mut args: Vec<Operand> = call.args.first().filter(|_| adds).cloned().into_iter().collect();
        args.extend([Operand::Var(left), Operand::Var(right)]);
        pages.kernel.var_mut(result).ty = product_type(&lhs, &rhs, dtype);
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
        Some(Stmt::Let { value: Value::Call(store), .. }) => {
            pages.check_offsets(store, output.len() + 2);
            store.args.get(2).cloned()
        }
        _ => None,
    };
    for batch in 0..count {
        let index = indices(batch, &output);
        let left = pages.page("lhs", &lhs, flat(&index, &lhs.batch_shape));
        let right = pages.page("rhs", &rhs, flat(&index, &rhs.batch_shape));
        let one = pages.inserted(format!("matmul_{batch}"), product_type(&lhs, &rhs, dtype));
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
                    *offset = fold::binary(ScalarBinary::Add, offset.clone(), int(*index));
                }
                store.args[2] = tensor;
            }
            pages.out.push(Stmt::Let { var: next, value: Value::Call(store), origin: *origin });
            stored = Some(Operand::Var(next));
        } else if let Some(target) = whole {
            let ty = tile_type(shape, &model);
            let moved = pages.inserted(format!("matmul_vec_{batch}"), ty);
            let attrs = vec![(AttrName::TargetMemory, Attr::Space(Space::Vec))];
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
    /// A store that takes the matrices one by one has a place along each axis of the product.
    fn check_offsets(&mut self, store: &Call, rank: usize) {
        let Some(Operand::List(offsets)) = store.args.get(1) else { return };
        if offsets.len() != rank {
            let message = format!(
                "a product of batches with {rank} axes is stored at once, but the offset has {}; the compiler refuses it (\"tile.store offsets rank must match batch_matmul result rank\"); use operands without batches, or store into a tensor with {rank} axes",
                offsets.len()
            );
            let (at, code) = (store.origin, Code::Rejected);
            self.kernel.rejections.push(Rejection::new(at, code, message));
        }
    }

    /// The matrix of one batch of an operand.
    fn page(&mut self, side: &str, of: &Factor, batch: u64) -> VarId {
        let shape = [of.rows, of.columns];
        let view = TileView { valid_shape: of.valid.clone().map(Vec::from), ..of.tile.view.clone() };
        let tile = TileType { shape: shape.to_vec(), binding: None, view, ..of.tile.clone() };
        if let Some(load) = &of.load {
            return self.loaded_page(side, of, tile, load, batch);
        }
        let (row, column) = if of.turned { (0, batch * of.columns) } else { (batch * of.rows, 0) };
        let page = self.inserted(format!("{side}_slice_{batch}"), Type::Tile(tile));
        let place = Operand::List(vec![int(row), int(column)]);
        self.bind(page, OpId::SLICE, vec![Operand::Var(of.var), extents(shape), place], Vec::new());
        page
    }

    /// The same, loaded by itself out of a view of the tensor that has two axes.
    fn loaded_page(&mut self, side: &str, of: &Factor, tile: TileType, load: &Call, batch: u64) -> VarId {
        let mut load = load.clone();
        if let Some(tensor) = load.args.first().and_then(Operand::var) {
            let ty = self.kernel.var(tensor).ty.clone();
            let view = self.inserted(format!("{side}_pbview2d_{batch}"), ty);
            self.bind(view, OpId::TENSOR_VIEW, vec![Operand::Var(tensor)], Vec::new());
            load.args[0] = Operand::Var(view);
        }
        let place = indices(batch, &of.batch_shape);
        if let Some(Operand::List(offsets)) = load.args.get_mut(1) {
            for (offset, index) in offsets.iter_mut().zip(place) {
                *offset = fold::binary(ScalarBinary::Add, offset.clone(), int(index));
            }
        }
        let [rows, columns] = if of.turned { [of.columns, of.rows] } else { [of.rows, of.columns] };
        for window in load.args.iter_mut().skip(2) {
            if let Operand::List(window) = window {
                let batches = window.len().saturating_sub(2);
                *window = std::iter::repeat_n(1, batches).chain([rows, columns]).map(int).collect();
            }
        }
        let view = if of.turned { TileView::default() } else { tile.view.clone() };
        let natural = TileType { shape: vec![rows, columns], view, ..tile.clone() };
        let page = self.inserted(format!("{side}_pbload_{batch}"), Type::Tile(natural));
        self.bind(page, load.op, load.args, load.attrs);
        if !of.turned {
            return page;
        }
        let turned = self.inserted(format!("{side}_pbview_{batch}"), Type::Tile(tile));
        self.bind(turned, OpId::TRANSPOSE_VIEW, vec![Operand::Var(page)], Vec::new());
        turned
    }

    /// Each batch is added to its rows of the accumulator.
    fn added(&mut self, result: VarId, accumulator: VarId, [lhs, rhs]: [&Factor; 2], output: &[u64], dtype: Dtype) {
        let count: u64 = output.iter().product();
        let shape = [lhs.rows, rhs.columns];
        let mut sum = accumulator;
        for batch in 0..count {
            let index = indices(batch, output);
            let left = self.page("lhs", lhs, flat(&index, &lhs.batch_shape));
            let right = self.page("rhs", rhs, flat(&index, &rhs.batch_shape));
            let place = Operand::List(vec![int(batch * lhs.rows), int(0)]);
            let page = self.inserted(format!("acc_page_{batch}"), accumulator_type(shape, None, dtype));
            self.bind(page, OpId::SLICE, vec![Operand::Var(sum), extents(shape), place.clone()], Vec::new());
            let added = self.inserted(format!("matmul_acc_{batch}"), accumulator_type(shape, None, dtype));
            self.bind(added, OpId::MATMUL_ACC, [page, left, right].map(Operand::Var).to_vec(), Vec::new());
            let next = match batch + 1 == count {
                true => result,
                false => {
                    let twin = self.kernel.var(accumulator).clone();
                    self.kernel.add_var(twin)
                }
            };
            self.bind(next, OpId::ASSEMBLE, vec![Operand::Var(sum), Operand::Var(added), place], Vec::new());
            sum = next;
        }
    }

    fn inserted(&mut self, name: String, ty: Type) -> VarId {
        self.kernel.add_var(Var { name, ty, role: Role::Def, inserted: Some(Why::BatchPage), origin: self.at })
    }
}

/// A product of two matrices: as narrow as the rows of the one and the columns of the other.
fn product_type(lhs: &Factor, rhs: &Factor, dtype: Dtype) -> Type {
    let valid = (lhs.valid.is_some() || rhs.valid.is_some()).then(|| {
        let [rows, _] = lhs.valid.clone().unwrap_or([int(lhs.rows), int(lhs.columns)]);
        let [_, columns] = rhs.valid.clone().unwrap_or([int(rhs.rows), int(rhs.columns)]);
        vec![rows, columns]
    });
    accumulator_type([lhs.rows, rhs.columns], valid, dtype)
}

fn accumulator_type(shape: [u64; 2], valid_shape: Option<Vec<Scalar>>, dtype: Dtype) -> Type {
    let view = TileView { valid_shape, ..TileView::default() };
    Type::Tile(TileType { shape: shape.to_vec(), dtype, space: Some(Space::Acc), view, binding: None })
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

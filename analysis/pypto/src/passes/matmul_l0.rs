//! AutoTileMatmulL0: a product of operands in L1 that does not fit the memories of the cube is computed in parts: in blocks of
//! K, and where the accumulator does not fit either, in a grid of tiles that are stored one by one.
//!
//! Grids that are kept on chip for a next product are not modelled and noted. A bias is added by the first block of K; where it
//! does not fit its table, each tile loads its part of it.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::finding::{Note, Origin, Reason};

use super::io_order::Drains;
use super::l0_tile::{self, Choice, ElementBytes, Extents, Widths};
use super::layout;
use super::matmul_parts::{Grid, Parts};
use super::split_k::{self, SplitDecision, SplitK};
use super::two_accumulators;
use crate::ir::rewrite::Substitution;
use crate::ir::{
    Attr, AttrName, Call, Kernel, Operand, Rejection, Role, SLayout, Scalar, Stmt, TileType, TileView, Type, Value,
    Var, VarId, Why, visit,
};
use crate::memory::sizes;
use crate::ops::OpId;
use crate::target::{Machine, Planner, Space, Target};

/// Rounding to nearest, ties to even: what the path out of the accumulator does.
const RINT: i64 = 1;

/// Returns where the stores of pipelines go.
pub(super) fn run(kernel: &mut Kernel, machine: Machine, planner: Planner) -> Drains {
    split_k::run(kernel, |kernel, found| around_loop(kernel, machine, planner, found));
    let drains = two_accumulators::find(kernel, machine, planner);
    let body = std::mem::take(&mut kernel.body);
    let mut tiling = Tiling { kernel, machine, planner, results: Substitution::default(), drains };
    let mut body = tiling.body(body);
    let Tiling { results, drains, .. } = tiling;
    results.apply(&mut body);
    kernel.body = body;
    drains
}

/// The tiles of a product that a loop over K makes, if its accumulator is not whole.
fn around_loop(kernel: &mut Kernel, machine: Machine, planner: Planner, found: &SplitK) -> SplitDecision {
    let (lhs, rhs) = found.operands();
    let problem = found.problem;
    let Some(search) = search(kernel, machine, problem, found.product(), lhs, rhs) else { return SplitDecision::Whole };
    let Some(right) = kernel.tile(rhs).map(|tile| tile.dtype) else { return SplitDecision::Whole };
    let columns = (BOX_BITS / right.storage_bits().max(1)) as i64;
    let Some(choice) = search.around_loop(columns).choose(planner == Planner::DsaRp) else {
        return SplitDecision::Whole;
    };
    let Extents { m, n, .. } = choice.tile;
    if m == problem.m && n == problem.n {
        return SplitDecision::Whole;
    }
    let is_boxed = |extent: i64, tile: i64, of: i64| tile % of == 0 && extent % tile % of == 0;
    if !is_boxed(problem.m, m, BOX_ROWS) || !is_boxed(problem.n, n, columns) {
        let what = "a product in a pipeline over K, which the compiler computes in tiles that are not whole boxes";
        let reason = Reason::new(what);
        kernel.notes.push(Note { at: found.origin(), reason: reason.clone() });
        // Whole they need not fit, and the compiler has no tile of their size.
        found.accumulators().for_each(|var| kernel.var_mut(var).ty = Type::Unknown(reason.clone()));
        return SplitDecision::Whole;
    }
    SplitDecision::Tiles(m, n)
}

/// The boxes of operands in L1.
const BOX_ROWS: i64 = 16;
const BOX_BITS: u64 = 256;

fn search<'m>(
    kernel: &Kernel,
    machine: Machine<'m>,
    problem: Extents,
    result: VarId,
    lhs: VarId,
    rhs: VarId,
) -> Option<l0_tile::Search<'m>> {
    let result = kernel.tile(result)?.dtype;
    let bytes = |dtype: Dtype| dtype.logical_bits().is_multiple_of(8).then_some(dtype.logical_bits() as i64 / 8);
    let bytes = ElementBytes {
        left: bytes(kernel.tile(lhs)?.dtype)?,
        right: bytes(kernel.tile(rhs)?.dtype)?,
        acc: bytes(result)?,
    };
    let acc_rows = if result == Dtype::Int32 && machine.target == Target::Ascend910b { 32 } else { 16 };
    Some(l0_tile::Search::new(problem, bytes, acc_rows, machine))
}

struct Tiling<'a> {
    kernel: &'a mut Kernel,
    machine: Machine<'a>,
    planner: Planner,
    /// What replaces the tensors that grids store to.
    results: Substitution,
    drains: Drains,
}

/// What happens to one product.
enum Decision {
    /// It fits, or the compiler leaves it alone.
    Keep,
    Blocks(Extents, Choice),
    /// Stored tile by tile, at the place of this store.
    Grid(Extents, Choice, VarId),
    NotModelled(Extents),
}

impl Tiling<'_> {
    fn body(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        let has_product = body.iter().filter_map(visit::call_of).any(is_product);
        let readers = if has_product { Readers::of(&body) } else { Readers::default() };
        let mut grids: FxHashMap<VarId, (VarId, Call, Extents, Choice)> = FxHashMap::default();
        let mut replaced: FxHashSet<VarId> = FxHashSet::default();
        let mut out = Vec::with_capacity(body.len());
        for stmt in body {
            match stmt {
                compound if compound.is_compound() => out.push(compound.map_blocks(|block| self.body(block))),
                Stmt::Let { var, value: Value::Call(call), origin } if is_product(&call) => {
                    match self.decide(var, &call, origin, &readers) {
                        Decision::Keep => out.push(Stmt::Let { var, value: Value::Call(call), origin }),
                        Decision::Blocks(problem, choice) => {
                            let mut parts = Parts::new(self.kernel, var, &call, origin, problem, choice, &mut out);
                            parts.blocks();
                        }
                        Decision::Grid(problem, choice, store) => {
                            if choice.tile.n != problem.n {
                                replaced.extend(bias_of(&call));
                            }
                            grids.insert(store, (var, call, problem, choice));
                        }
                        Decision::NotModelled(problem) => out.push(self.not_modelled(var, &call, origin, problem)),
                    }
                }
                Stmt::Let { var, value: Value::Call(call), origin } if self.rounds_on_the_way(var, &call, &readers) => {
                    self.keep_in_mat(var, &call, origin, &mut out);
                }
                Stmt::Let { var, value: Value::Call(store), origin } => match grids.remove(&var) {
                    Some((product, call, problem, choice)) => {
                        let load = bias_of(&call).and_then(|bias| readers.bias_loads.get(&bias)).cloned();
                        let parts = Parts::new(self.kernel, product, &call, origin, problem, choice, &mut out);
                        let parts = parts.with_bias_load(load);
                        let Grid { last, drains } = parts.grid(&store);
                        self.drains.extend(drains);
                        self.results.set(var, last);
                    }
                    None => out.push(Stmt::Let { var, value: Value::Call(store), origin }),
                },
                leaf => out.push(leaf),
            }
        }
        if !replaced.is_empty() {
            out.retain(|stmt| !matches!(stmt, Stmt::Let { var, .. } if replaced.contains(var)));
        }
        out
    }

    fn decide(&mut self, var: VarId, call: &Call, statement: Origin, readers: &Readers) -> Decision {
        let first = usize::from(call.op == OpId::MATMUL_ACC);
        let operands = (call.args.get(first).and_then(Operand::var), call.args.get(first + 1).and_then(Operand::var));
        let (Some(lhs), Some(rhs)) = operands else { return Decision::Keep };
        self.reject_too_large(call, lhs, Space::Left, "left", "L0A");
        self.reject_too_large(call, rhs, Space::Right, "right", "L0B");
        let Some(problem) = self.problem(lhs, rhs) else { return Decision::Keep };
        let Some(search) = self.search(problem, var, call, lhs, rhs) else { return Decision::Keep };
        let Some(choice) = search.choose(self.planner == Planner::DsaRp) else { return Decision::Keep };
        let tiling = search.explain(choice, statement);
        let Extents { m, n, .. } = choice.tile;
        let lhs_in_vec = self.kernel.tile(lhs).is_some_and(|tile| tile.space == Some(Space::Vec));
        let bias = bias_of(call).filter(|_| n != problem.n);
        let decision = match () {
            () if choice.tile == problem => Decision::Keep,
            () if bias.is_some_and(|bias| !readers.bias_loads.contains_key(&bias)) => Decision::Keep,
            () if m == problem.m && n == problem.n => Decision::Blocks(problem, choice),
            // The accumulator is the author's, and stays whole.
            () if call.op == OpId::MATMUL_ACC || lhs_in_vec => Decision::Keep,
            () if self.stays_on_chip(var, readers) => Decision::NotModelled(problem),
            () => match readers.only_store(var) {
                Some(store) if bias.is_none() || readers.next.get(&var) == Some(&store) => {
                    Decision::Grid(problem, choice, store)
                }
                _ => Decision::Keep,
            },
        };
        let is_followed = choice.tile == problem || matches!(decision, Decision::Blocks(..) | Decision::Grid(..));
        if is_followed && !matches!(decision, Decision::NotModelled(_)) && !self.kernel.tilings.contains(&tiling) {
            self.kernel.tilings.push(tiling);
        }
        decision
    }

    /// Whether a conversion is one that the path out of the accumulator makes, of a product that fits and whose rounded value
    /// only products read.
    fn rounds_on_the_way(&self, var: VarId, call: &Call, readers: &Readers) -> bool {
        let source = call.args.first().and_then(Operand::var);
        if call.op != OpId::CAST || !readers.feeds_products_only(var) {
            return false;
        }
        let Some(tile) = source.and_then(|source| self.kernel.tile(source)) else { return false };
        let fits = self.machine.capacity(Space::Acc).is_some_and(|capacity| {
            sizes::tile_bytes(tile, Space::Acc, self.machine.target).is_some_and(|bytes| bytes <= capacity)
        });
        tile.space == Some(Space::Acc)
            && tile.dtype == Dtype::Fp32
            && tile.shape.len() == 2
            && fits
            && rounds_to_nearest(call)
    }

    /// The product goes to L1 rounded, where the next one reads it: `<product>_mat`.
    fn keep_in_mat(&mut self, var: VarId, call: &Call, origin: Origin, out: &mut Vec<Stmt>) {
        let Some(source) = call.args.first().and_then(Operand::var) else { return };
        let Some(rounded) = self.kernel.tile(var).cloned() else { return };
        let at = call.origin;
        let ty = TileType { space: Some(Space::Mat), view: TileView::default(), binding: None, ..rounded };
        let shape = ty.shape.iter().map(|extent| Scalar::Int(i64::try_from(*extent).unwrap_or(i64::MAX))).collect();
        let attrs = vec![(AttrName::Dtype, Attr::Dtype(ty.dtype)), (AttrName::TargetMemory, Attr::Space(Space::Mat))];
        let create = Call { op: OpId::CREATE, args: vec![Operand::List(shape)], attrs, origin: at };
        let name = format!("{}_mat", self.kernel.var(source).name);
        let scratch =
            Var { name, ty: Type::Tile(ty.clone()), role: Role::Def, inserted: Some(Why::ProductInMat), origin: at };
        let scratch = self.kernel.add_var(scratch);
        layout::refresh(self.kernel, scratch, &create);
        out.push(Stmt::Let { var: scratch, value: Value::Call(create), origin });
        let args = vec![Operand::Var(scratch), Operand::Var(source), Operand::List(vec![Scalar::Int(0); 2])];
        let write = Call { op: OpId::ASSEMBLE, args, attrs: Vec::new(), origin: at };
        let written = self.kernel.var_mut(var);
        (written.ty, written.inserted) = (Type::Tile(ty), Some(Why::ProductInMat));
        layout::refresh(self.kernel, var, &write);
        out.push(Stmt::Let { var, value: Value::Call(write), origin });
    }

    /// Whether the compiler keeps the whole product in L1, for products that read it. Of conversions it is known to do so where
    /// the path out of the accumulator makes them; whether with others is not known.
    fn stays_on_chip(&self, var: VarId, readers: &Readers) -> bool {
        if self.machine.target == Target::Ascend950 && readers.feeds_products_only(var) {
            return true;
        }
        let converted = readers.converted.get(&var).copied();
        readers.reads.get(&var) == Some(&1) && converted.is_some_and(|converted| readers.feeds_products_only(converted))
    }

    /// An operand that the author placed and that is larger than its memory: no plan can help.
    fn reject_too_large(&mut self, call: &Call, operand: VarId, space: Space, side: &str, unit: &str) {
        let Some(tile) = self.kernel.tile(operand).filter(|tile| tile.space == Some(space)) else { return };
        let Some(capacity) = self.machine.capacity(space) else { return };
        let required = bytes_of(tile);
        if required <= capacity {
            return;
        }
        let name = &self.kernel.var(operand).name;
        let op = call.op.op().name;
        let message = format!(
            "{op} {side} operand '{name}' is already resident in {space} ({unit}) with physical shape {:?} and dtype {}, \
             requiring {required} bytes, but {} provides {capacity} bytes; keep the operand in Mat and pass it directly to {op}: the compiler then chooses tiles that fit; or extract a smaller {space} tile",
            tile.shape, tile.dtype, self.machine.target,
        );
        self.kernel.rejections.push(Rejection::new(call.origin, Code::OperandTooLarge, message));
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

    /// `None` where the compiler leaves the product alone.
    fn search(&self, problem: Extents, var: VarId, call: &Call, lhs: VarId, rhs: VarId) -> Option<l0_tile::Search<'_>> {
        let search = search(self.kernel, self.machine, problem, var, lhs, rhs)?;
        if call.op != OpId::MATMUL_BIAS {
            return Some(search);
        }
        let (bias, sum) = (self.kernel.tile(bias_of(call)?)?, self.kernel.tile(var)?.dtype);
        let (left, right) = (self.kernel.tile(lhs)?, self.kernel.tile(rhs)?);
        let columns = u64::try_from(problem.n).ok()?;
        if bias.shape != [1, columns] || left.space != Some(Space::Mat) {
            return None;
        }
        let capacity = self.machine.capacity(Space::Bias).unwrap_or(0) / sum.get_byte();
        let most = i64::try_from(capacity).unwrap_or(i64::MAX);
        let widths = match bias.space {
            Some(Space::Mat) => Widths { least: 1, most, ahead: most / 2, ahead_twice: most / 4 },
            // A part of the table is no operand.
            Some(Space::Bias) => Widths { least: problem.n, most, ahead: most, ahead_twice: most },
            _ => return None,
        };
        Some(search.with_bias(box_of(left)?, box_of(right)?, widths))
    }

    /// Whole, the product would not fit although the compiler makes it fit: it must not count.
    fn not_modelled(&mut self, var: VarId, call: &Call, origin: Origin, problem: Extents) -> Stmt {
        let Extents { m, n, k } = problem;
        let what = format!("`{}` of [{m}, {k}] x [{k}, {n}], which the compiler computes in parts", call.op.op().name);
        let reason = Reason::new(what);
        self.kernel.notes.push(Note { at: call.origin, reason: reason.clone() });
        self.kernel.var_mut(var).ty = Type::Unknown(reason.clone());
        Stmt::Let { var, value: Value::Scalar(Scalar::Unknown(reason)), origin }
    }
}

/// Rows and columns of the boxes of an operand in L1.
fn box_of(tile: &TileType) -> Option<[i64; 2]> {
    let packed = i64::try_from(BOX_BITS / tile.dtype.storage_bits().max(1)).ok()?;
    match tile.layout().slayout {
        SLayout::RowMajor => Some([BOX_ROWS, packed]),
        SLayout::ColMajor => Some([packed, BOX_ROWS]),
        SLayout::NoneBox => None,
    }
}

fn bias_of(call: &Call) -> Option<VarId> {
    call.args.get(2).and_then(Operand::var).filter(|_| call.op == OpId::MATMUL_BIAS)
}

fn bytes_of(tile: &TileType) -> u64 {
    let elements = tile.shape.iter().fold(1, |product: u64, extent| product.saturating_mul(*extent));
    elements.saturating_mul(tile.dtype.storage_bits()).div_ceil(8)
}

/// A conversion to 16 bits as the path out of the accumulator makes it.
fn rounds_to_nearest(call: &Call) -> bool {
    call.int(AttrName::Mode) == Some(RINT)
        && matches!(call.dtype(AttrName::TargetType), Some(Dtype::Bf16 | Dtype::Fp16))
}

fn is_product(call: &Call) -> bool {
    let arity = match call.op {
        OpId::MATMUL => 2,
        OpId::MATMUL_ACC | OpId::MATMUL_BIAS => 3,
        _ => return false,
    };
    call.args.len() == arity
}

/// Who reads what, in one list of statements and those inside of it.
#[derive(Debug, Default)]
struct Readers {
    reads: FxHashMap<VarId, usize>,
    /// As an operand of a product, not as its accumulator.
    product_reads: FxHashMap<VarId, usize>,
    /// Stores of the list itself, by what they store: result and number of operands.
    stores: FxHashMap<VarId, VarId>,
    /// Conversions of the list itself, by what they convert.
    converted: FxHashMap<VarId, VarId>,
    /// Loads of biases that only the product reads, where nothing but loads stands between the two: parts of them can be loaded
    /// instead.
    bias_loads: FxHashMap<VarId, Call>,
    /// By product with a bias, what the next statement defines that is no load.
    next: FxHashMap<VarId, VarId>,
}

impl Readers {
    fn of(body: &[Stmt]) -> Readers {
        let mut readers = Readers::default();
        body.iter().for_each(|stmt| visit::uses(stmt, &mut |var| *readers.reads.entry(var).or_default() += 1));
        visit::statements(body, &mut |stmt| {
            let Some(call) = visit::call_of(stmt).filter(|call| is_product(call)) else { return };
            let operands = call.args.iter().skip(usize::from(call.op == OpId::MATMUL_ACC)).take(2);
            for var in operands.filter_map(Operand::var) {
                *readers.product_reads.entry(var).or_default() += 1;
            }
        });
        for stmt in body {
            let Stmt::Let { var, value: Value::Call(call), .. } = stmt else { continue };
            let Some(source) = call.args.first().and_then(Operand::var) else { continue };
            match (call.op, call.args.as_slice()) {
                (OpId::STORE, [_, Operand::List(offsets), _]) if offsets.len() == 2 => {
                    readers.stores.entry(source).or_insert(*var);
                }
                (OpId::CAST, _) => {
                    readers.converted.insert(source, *var);
                }
                _ => {}
            }
        }
        readers.biases(body);
        readers
    }

    fn biases(&mut self, body: &[Stmt]) {
        let mut loads: FxHashMap<VarId, &Call> = FxHashMap::default();
        let mut open = None;
        for stmt in body {
            let bound = match stmt {
                Stmt::Let { var, value: Value::Call(call), .. } => Some((*var, call)),
                _ => None,
            };
            if let Some((var, call)) = bound.filter(|(_, call)| call.op == OpId::LOAD) {
                loads.insert(var, call);
                continue;
            }
            if let (Some(product), Some((var, _))) = (open.take(), bound) {
                self.next.insert(product, var);
            }
            if let Some((var, call)) = bound
                && let Some(bias) = bias_of(call)
            {
                open = Some(var);
                let load = loads.get(&bias).filter(|load| is_whole_row(load) && self.reads.get(&bias) == Some(&1));
                self.bias_loads.extend(load.map(|load| (bias, (*load).clone())));
            }
            loads.clear();
        }
    }

    /// Whether a value is read, and only as an operand of products.
    fn feeds_products_only(&self, var: VarId) -> bool {
        let reads = self.reads.get(&var).copied().unwrap_or(0);
        reads > 0 && self.product_reads.get(&var) == Some(&reads)
    }

    fn only_store(&self, var: VarId) -> Option<VarId> {
        let store = self.stores.get(&var)?;
        (self.reads.get(&var) == Some(&1)).then_some(*store)
    }
}

/// A load of one row, all of which holds data.
fn is_whole_row(load: &Call) -> bool {
    matches!(load.args.as_slice(), [_, Operand::List(offsets), Operand::List(shape), Operand::List(valid)]
        if offsets.len() == 2 && shape == valid && matches!(shape.as_slice(), [Scalar::Int(1), Scalar::Int(_)]))
}

//! Pipelines of the author's in which AutoTileMatmulL0 alternates between two accumulators, so that one is drained while the
//! next one is made. The compiler does so where that pays and the accumulators of the whole kernel still fit, and under its
//! default planner only.

use rustc_hash::{FxHashMap, FxHashSet};

use super::io_order::{Drain, Drains, is_product};
use crate::ir::{Call, For, Kernel, LoopKind, Operand, Stmt, Value, VarId, visit};
use crate::memory::sizes;
use crate::ops::OpId;
use crate::target::{Machine, Planner, Space};

/// Fewest iterations that pay where the accumulator is stored to global memory.
const TRIPS_TO_STORE: i64 = 4;
/// Fewest iterations that pay where it is assembled in L1, and the part of the accumulator memory that it must fill.
const TRIPS_TO_ASSEMBLE: i64 = 8;
const LEAST_PART_TO_ASSEMBLE: u64 = 4;

pub(super) fn find(kernel: &Kernel, machine: Machine, planner: Planner) -> Drains {
    let mut drains = Drains::default();
    let Some(capacity) = machine.capacity(Space::Acc).filter(|_| planner != Planner::DsaRp) else { return drains };
    let search = Search { kernel, machine, capacity };
    let mut more: u64 = 0;
    visit::statements(&kernel.body, &mut |stmt| {
        if let Stmt::For(each) = stmt
            && let Some(bytes) = search.accumulator(each)
        {
            more = more.saturating_add(bytes);
            drains.insert(each.index, Drain::InPairs);
        }
    });
    if !drains.is_empty() && search.accumulators().is_none_or(|bytes| bytes.saturating_add(more) > capacity) {
        drains.clear();
    }
    drains
}

struct Search<'a> {
    kernel: &'a Kernel,
    machine: Machine<'a>,
    /// Bytes of the accumulator memory.
    capacity: u64,
}

impl Search<'_> {
    fn bytes(&self, var: VarId) -> Option<u64> {
        let tile = self.kernel.tile(var)?;
        sizes::tile_bytes(tile, Space::Acc, self.machine.target).map(sizes::aligned)
    }

    fn is_in(&self, var: VarId, space: Space) -> bool {
        self.kernel.tile(var).is_some_and(|tile| tile.space == Some(space))
    }

    /// Bytes of the accumulator of a loop that is worth a second one.
    fn accumulator(&self, each: &For) -> Option<u64> {
        let LoopKind::Pipeline { stages, .. } = each.kind else { return None };
        let (stages, trips) = (i64::from(stages), each.trip_count()?);
        if stages < 2 || trips < stages || trips % stages != 0 {
            return None;
        }
        if each.body.iter().any(Stmt::is_compound) {
            return None;
        }
        let product = self.only_product(each)?;
        self.one_operand_moves(each, product.1)?;
        let drain = self.drain(each, product.0)?;
        let bytes = self.bytes(product.0)?;
        let pays = match drain {
            OpId::ASSEMBLE => trips >= TRIPS_TO_ASSEMBLE && bytes >= self.capacity.div_ceil(LEAST_PART_TO_ASSEMBLE),
            _ => trips >= TRIPS_TO_STORE,
        };
        pays.then_some(bytes)
    }

    /// The one accumulator that the body makes, by a plain product.
    fn only_product<'k>(&self, each: &'k For) -> Option<(VarId, &'k Call)> {
        let mut made = each.body.iter().filter_map(|stmt| match stmt {
            Stmt::Let { var, value, .. } if self.is_in(*var, Space::Acc) => Some((*var, value)),
            _ => None,
        });
        match (made.next(), made.next()) {
            (Some((var, Value::Call(call))), None) if call.op == OpId::MATMUL => Some((var, call)),
            _ => None,
        }
    }

    /// One operand stays from before the loop, the other one is fetched from L1 in each iteration.
    fn one_operand_moves(&self, each: &For, product: &Call) -> Option<()> {
        let [left, right] = product.args.as_slice() else { return None };
        let (left, right) = (left.var()?, right.var()?);
        if !self.is_in(left, Space::Left) || !self.is_in(right, Space::Right) {
            return None;
        }
        let producer = |operand: VarId| {
            each.body.iter().find_map(|stmt| match stmt {
                Stmt::Let { var, value, .. } if *var == operand => Some(value),
                _ => None,
            })
        };
        let (moving, stays) = match (producer(left), producer(right)) {
            (Some(moving), None) => (moving, right),
            (None, Some(moving)) => (moving, left),
            _ => return None,
        };
        let Value::Call(fetch) = moving else { return None };
        let from_mat = fetch.args.first().and_then(Operand::var).is_some_and(|var| self.is_in(var, Space::Mat));
        let is_carried = each.carries.iter().any(|carry| carry.iter == stays);
        (matches!(fetch.op, OpId::EXTRACT | OpId::MOVE) && from_mat && !is_carried).then_some(())
    }

    /// The store or assembly that is the only reader of the accumulator, onto what the loop carries.
    fn drain(&self, each: &For, accumulator: VarId) -> Option<OpId> {
        let mut reads: FxHashMap<VarId, usize> = FxHashMap::default();
        each.body.iter().for_each(|stmt| visit::uses(stmt, &mut |var| *reads.entry(var).or_default() += 1));
        let reads_of = |var: VarId| reads.get(&var).copied().unwrap_or(0);
        let reads_other = reads.keys().any(|var| *var != accumulator && self.is_in(*var, Space::Acc));
        if reads_of(accumulator) != 1 || reads_other {
            return None;
        }
        let drains = |call: &Call| matches!(call.op, OpId::STORE | OpId::ASSEMBLE | OpId::WRITE);
        let mut stores = each.body.iter().filter(|stmt| visit::call_of(stmt).is_some_and(drains));
        let (Some(Stmt::Let { var: stored, value: Value::Call(call), .. }), None) = (stores.next(), stores.next())
        else {
            return None;
        };
        let [first, second, third] = call.args.as_slice() else { return None };
        let (source, onto) = if call.op == OpId::ASSEMBLE { (second, first) } else { (first, third) };
        let slot = visit::yielded(&each.body).iter().position(|value| value.var() == Some(*stored))?;
        let carried = each.carries.get(slot)?.iter;
        let in_place =
            call.op != OpId::ASSEMBLE || (self.is_in(carried, Space::Mat) && self.is_in(*stored, Space::Mat));
        let canonical = source.var() == Some(accumulator) && onto.var() == Some(carried);
        (canonical && in_place && reads_of(*stored) == 1 && reads_of(carried) == 1).then_some(call.op)
    }

    /// Bytes of all accumulators, those that pipelining copies as often as it does.
    fn accumulators(&self) -> Option<u64> {
        let mut copies: FxHashMap<VarId, u64> = FxHashMap::default();
        self.count(&self.kernel.body, 1, &mut copies);
        let mut total: u64 = 0;
        for (var, copies) in copies {
            total = total.checked_add(self.bytes(var)?.checked_mul(copies)?)?;
        }
        Some(total)
    }

    fn count(&self, body: &[Stmt], depth: u64, copies: &mut FxHashMap<VarId, u64>) {
        let mut named: FxHashSet<VarId> = FxHashSet::default();
        for stmt in body {
            visit::uses(stmt, &mut |var| named.extend([var]));
            visit::definitions(stmt, &mut |var| named.extend([var]));
            match stmt {
                Stmt::For(each) => {
                    let stages = if let LoopKind::Pipeline { stages, .. } = each.kind { u64::from(stages) } else { 1 };
                    self.count(&each.body, depth.saturating_mul(stages), copies);
                }
                Stmt::Let { var, value, .. } if self.is_in(*var, Space::Acc) => {
                    // The cube makes one product after the other.
                    let once = matches!(value, Value::Call(call) if is_product(call));
                    let times = copies.entry(*var).or_insert(1);
                    *times = (*times).max(if once { 1 } else { depth });
                }
                _ => stmt.blocks().for_each(|block| self.count(block, depth, copies)),
            }
        }
        for var in named.into_iter().filter(|var| self.is_in(*var, Space::Acc)) {
            copies.entry(var).or_insert(1);
        }
    }
}

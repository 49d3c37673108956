//! Columns of tensor memory that products take (`HoistTMEMAlloc.cpp`, `PromoteLHSToTMem.cpp`).

use rustc_hash::FxHashMap;
use tilefit_python::work;

use super::super::plan::LEAST_COLUMNS;
use super::super::program::{Block, Kind, Op, Product, Program, Tile, ValueId};
use super::{Machine, Unit};

const ROWS: u64 = 128;

/// At least and at most; `None` where no product ends there. Each result has its own, twice where a round starts with another one while the last is
/// still read, and a left side that is computed may be there too.
pub(crate) fn columns_of_results(program: &Program, machine: &Machine) -> Option<(u64, u64)> {
    let mut columns = Columns { program, machine, uses: FxHashMap::default(), least: 0, most: 0 };
    program.body.each(&mut |op| {
        work::spend(1);
        for &operand in &op.operands {
            *columns.uses.entry(operand).or_default() += 1;
        }
    });
    let live = columns.block(&program.body, false);
    columns.least = columns.least.max(live);
    // More than there are does not run, and what is missing is not rounded.
    let least = if columns.least > THERE_ARE { columns.least } else { taken(columns.least) };
    (columns.most > 0).then(|| (least, taken(columns.most).max(least)))
}

/// Columns of a multiprocessor.
const THERE_ARE: u64 = 512;

/// What a block is given where so many columns are in use.
fn taken(columns: u64) -> u64 {
    columns.max(LEAST_COLUMNS).checked_next_power_of_two().unwrap_or(u64::MAX)
}

struct Columns<'a> {
    program: &'a Program,
    machine: &'a Machine,
    uses: FxHashMap<ValueId, usize>,
    least: u64,
    most: u64,
}

impl Columns<'_> {
    /// The columns of results that are surely there at once: those that one loop carries through all of its rounds.
    fn block(&mut self, block: &Block, is_loop: bool) -> u64 {
        let mut carried: u64 = 0;
        for op in &block.ops {
            work::spend(1);
            for inner in op.kind.blocks() {
                let live = self.block(inner, matches!(op.kind, Kind::For { .. }));
                self.least = self.least.max(live);
            }
            let Some(product) = op.results.first().and_then(|result| self.program.products.get(result)) else {
                continue;
            };
            if self.machine.unit(product) != Unit::Tcgen05 {
                continue;
            }
            let result = of(&product.result, 32);
            // Where loops are made one, the next result starts while the last is still read.
            let is_carried = is_loop && self.program.flattened.is_empty() && self.is_carried(op, block);
            self.least = self.least.max(result);
            // Results of 64 rows may lie beside each other.
            if is_carried && rows(&product.result) >= ROWS {
                carried = carried.saturating_add(result);
            }
            let copies = if is_carried { 1 } else { 2 };
            self.most = self.most.saturating_add(result.saturating_mul(copies)).saturating_add(self.left(op, product));
        }
        carried
    }

    /// Columns that the left side may take.
    fn left(&self, op: &Op, product: &Product) -> u64 {
        let [tile, _] = &product.operands;
        // What threads load by rows is there at once as tensor memory wants it.
        let load = op.operands.first().and_then(|left| self.load(*left));
        let is_by_rows = load.is_some_and(|load| self.program.loads[&load].runs_along != Some(1));
        let copies = u64::from(product.parts).saturating_mul(2);
        match load.is_some() && !is_by_rows && product.parts == 1 {
            true => 0,
            false => of(tile, tile.bits).saturating_mul(copies),
        }
    }

    /// What a value is loaded as that is at most seen from another side.
    fn load(&self, value: ValueId) -> Option<ValueId> {
        let mut value = value;
        let mut found = None;
        while found.is_none() && !self.program.loads.contains_key(&value) {
            work::spend(1);
            self.program.body.each(&mut |op| {
                if op.results.first() == Some(&value) {
                    found = Some((op.name, op.operands.first().copied()));
                }
            });
            match found.take() {
                Some(("permute", Some(of))) => value = of,
                _ => return None,
            }
        }
        Some(value)
    }

    /// Whether a loop hands a result on from round to round, and does nothing else with it.
    fn is_carried(&self, op: &Op, body: &Block) -> bool {
        let Some(last) = body.ops.last().filter(|last| matches!(last.kind, Kind::Yield)) else { return false };
        let once = |value: ValueId| self.uses.get(&value) == Some(&1);
        let is_param = |value: &ValueId| body.params.contains(value) && once(*value);
        let id = op.results[0];
        if op.operands.get(2).is_some_and(is_param) && once(id) && last.operands.contains(&id) {
            return true;
        }
        let sum = body.ops.iter().find(|sum| sum.name == "add" && sum.operands.contains(&id));
        once(id)
            && sum.is_some_and(|sum| {
                let result = sum.results[0];
                sum.operands.iter().any(|operand| *operand != id && is_param(operand))
                    && once(result)
                    && last.operands.contains(&result)
            })
    }
}

fn rows(tile: &Tile) -> u64 {
    tile.shape.iter().rev().nth(1).copied().unwrap_or(1)
}

/// Columns of 32 bits of a matrix.
fn of(tile: &Tile, bits: u32) -> u64 {
    let columns = tile.shape.last().copied().unwrap_or(1);
    let blocks = rows(tile).div_ceil(ROWS);
    columns.saturating_mul(blocks).saturating_mul(u64::from(bits)).div_ceil(32)
}

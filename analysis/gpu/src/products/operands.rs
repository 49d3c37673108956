//! The buffers of operands that no loop keeps copies of: where products read them in shared memory, or through which they come to the threads that
//! multiply them (`AccelerateMatmul.cpp`, `OptimizeDotOperands.cpp`, `ReduceDataDuplication.cpp`). Each is filled right behind what it is made of,
//! and equal ones are one (`ReorderInstructions.cpp`, `LoopAwareCSE`).

use rustc_hash::FxHashSet;
use tilefit_python::finding::Reason;

use super::super::device::Compiler;
use super::super::program::{BufferId, Bytes, Op, Product, Tile, Use, ValueId, bytes_of};
use super::latencies::Taker;
use super::{
    BARRIER_BYTES, COPIES, Holds, Loop, OF_REGISTERS, OPERAND, Stager, Unit, in_place_alignment, let_go, read_back,
};

/// How an operand lies in shared memory: equal ones of one tensor are one buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Lies {
    /// For a product that reads it there: as its elements are in memory, or along a dimension.
    InPlace(Option<usize>),
    /// For one that loads it into registers.
    Swizzled { vec: u64, is_turned: bool },
    /// It passes through on its way to registers.
    Passing,
}

/// A buffer of an operand, and the product that loads it first.
#[derive(Debug, Clone)]
pub(super) struct Brought {
    buffer: ValueId,
    nth: usize,
    product: Product,
    /// The blocks around it.
    within: Vec<u32>,
}

/// An operand of a product, and what it is made of.
struct Operand {
    nth: usize,
    value: ValueId,
    /// The same, seen from the side from which it is computed or loaded.
    root: ValueId,
    is_turned: bool,
    tile: Tile,
    holds: Option<Holds>,
}

impl Stager<'_> {
    /// Puts a product with the buffers of those of its operands that have none yet.
    pub(super) fn operands(&mut self, ops: &mut Vec<Op>, mut op: Op, product: &Product, around: Option<&Loop>) {
        if self.machine.is_amd() {
            return self.operands_on_amd(ops, op, product, around);
        }
        let unit = self.machine.unit(product);
        let overlap = op.results.first().and_then(|id| around?.overlaps.get(id).copied()).unwrap_or(Holds::Not);
        if unit == Unit::Tcgen05 && overlap != Holds::Surely {
            let size = match overlap {
                Holds::Not => Bytes::Exactly(BARRIER_BYTES),
                _ => Bytes::Between(0, BARRIER_BYTES, Reason::new(COPIES)),
            };
            let made = self.buffer(op.at, "barrier of `tl.dot`", (vec![1], "int64", size, 16, Use::Barrier));
            op.operands.extend(&made.results);
            ops.push(made);
            if around.is_some_and(|around| around.overlaps.values().any(|&overlap| overlap == Holds::Surely)) {
                // Before a loop in which other products overlap, a part of a round is done once more.
                let perhaps = Bytes::Between(0, BARRIER_BYTES, Reason::new(COPIES));
                let made = self.buffer(op.at, "barrier of `tl.dot`", (vec![1], "int64", perhaps, 16, Use::Barrier));
                op.operands.extend(&made.results);
                self.hoisted.push((ValueId(u32::MAX), made));
            }
        }
        if unit != Unit::Tcgen05 || self.computes_otherwise(unit) {
            self.convert_result(ops, &mut op, product);
        }
        self.left.clear();
        for nth in 0..2 {
            let Some(&value) = op.operands.get(nth) else { continue };
            let (root, is_turned) = self.root(value);
            let load = self.cast_of.get(&root).copied().or_else(|| Some(self.sources.get(&root)?.load)).unwrap_or(root);
            let holds = around.and_then(|around| around.staging(load)).map(|staging| staging.holds);
            let mut tile = product.operands[nth].clone();
            if self.machine.has_no_tensor_cores() {
                // Each thread multiplies numbers of the result's type.
                tile.bits = tile.bits.max(product.result.bits);
            }
            let operand = Operand { nth, value, root, is_turned, tile, holds };
            self.turn_before_cast(ops, &mut op, &operand);
            self.load_before(&mut op, &operand, unit);
            match unit {
                Unit::Wgmma => self.for_wgmma(ops, &mut op, operand, product),
                Unit::Tcgen05 => self.for_tcgen05(ops, &mut op, operand, product, overlap),
                Unit::TensorCores => self.bring_to_registers(ops, &mut op, operand, product),
                Unit::Threads => self.bring_to_threads(ops, &mut op, operand, product),
            }
        }
        if unit == Unit::Tcgen05 && self.within.is_empty() {
            self.read_late = op.results.first().copied();
        }
        ops.push(op);
    }

    /// What a product of tensor memory gives is read as late as it can be (`InterleaveTMem.cpp`): what is loaded below the product in the text may be
    /// in shared memory before that.
    fn load_before(&mut self, op: &mut Op, operand: &Operand, unit: Unit) {
        let Some(product) = self.read_late else { return };
        let is_loaded = self.program.loads.contains_key(&operand.root) && self.places.is_before(product, operand.root);
        if unit == Unit::TensorCores && self.within.is_empty() && is_loaded {
            let perhaps = Bytes::Between(0, operand.tile.bytes(), Reason::new(OPERAND));
            let made = self.operand_buffer(op, operand, perhaps);
            op.operands.extend(&made.results);
            self.behind.entry(product).or_default().push(made);
        }
    }

    /// What is computed and taken from the other side may be converted before it is cast.
    fn turn_before_cast(&mut self, ops: &mut Vec<Op>, op: &mut Op, operand: &Operand) {
        let is_computed = !self.program.loads.contains_key(&operand.root) && self.made_at.contains_key(&operand.root);
        let is_turned = operand.is_turned || self.made_of_turned.contains(&operand.root);
        if is_computed && is_turned && operand.tile.bits < 32 {
            let bytes = bytes_of(&operand.tile.shape, 32);
            let made = self.operand_buffer(op, operand, Bytes::Between(0, bytes, Reason::new(OPERAND)));
            op.operands.extend(&made.results);
            ops.push(made);
        }
    }

    /// `wgmma` reads its right side in shared memory, and its left side too where that is loaded.
    fn for_wgmma(&mut self, ops: &mut Vec<Op>, op: &mut Op, operand: Operand, product: &Product) {
        let is_loaded = self.program.loads.contains_key(&operand.root);
        let is_loaded = is_loaded || !self.made_at.contains_key(&operand.root);
        if operand.nth == 0 && (!is_loaded || product.parts > 1) {
            if self.of_products.contains(&operand.root) {
                let is_at_hand = self.machine.warps == 4 || product.needs[0] == Some(false);
                return match is_at_hand && !operand.is_turned {
                    true => {}
                    false => self.uncertain(ops, op, &operand, operand.tile.bytes()),
                };
            }
            return self.bring_to_registers(ops, op, operand, product);
        }
        if product.parts > 1 {
            return self.parts_of(ops, op, &operand, product);
        }
        let either_way = operand.tile.dtype == "float16" || operand.tile.dtype == "bfloat16";
        self.in_place(ops, op, &operand, product, either_way);
    }

    /// `tcgen05` reads both sides in shared memory, but for a left side that is computed next to it: that goes to tensor memory.
    fn for_tcgen05(&mut self, ops: &mut Vec<Op>, op: &mut Op, operand: Operand, product: &Product, overlap: Holds) {
        let bytes = operand.tile.bytes();
        let is_loaded = self.program.loads.contains_key(&operand.root);
        let is_here = self.within.last().is_none_or(|within| within.contains(&operand.root));
        if product.parts > 1 {
            return self.parts_of(ops, op, &operand, product);
        }
        if operand.nth == 0 && self.is_carried_by_while(operand.root) {
            // As `in_place` has it, for what may be in shared memory all the same.
            let perhaps = Bytes::Between(0, bytes, Reason::new(OPERAND));
            self.carried(op, &operand, (operand.root, Lies::Passing), product, perhaps);
        }
        if operand.nth == 0 && self.is_by_rows(operand.root) && operand.holds != Some(Holds::Surely) {
            // It may be in tensor memory, which it is loaded for at once, or twice in shared memory: all through the loop where rounds overlap.
            // What is loaded before the loop is brought there at once.
            let perhaps = || Bytes::Between(0, bytes, Reason::new(OPERAND));
            return (0..2).for_each(|_| match overlap {
                Holds::Surely | Holds::Perhaps if is_here => {
                    self.carried(op, &operand, (operand.root, Lies::Passing), product, perhaps());
                }
                _ => self.uncertain(ops, op, &operand, bytes),
            });
        }
        if operand.nth == 0 && !is_loaded && is_here && !operand.is_turned {
            if self.of_products.contains(&operand.root) && self.machine.warps == 4 {
                return;
            }
            // A conversion to the layout in which tensor memory is written.
            let most = self.leaves.get(&operand.root).map_or(0, |leaf| leaf.1).max(bytes);
            return self.uncertain(ops, op, &operand, most);
        }
        // What is made of no loads, or of one that more is done with, may have a layout that is one of tensor memory.
        let is_for_products = self.leaves.get(&operand.root).is_some_and(|&(load, _)| !self.takers(load).1);
        if operand.nth == 0 && !is_here && !operand.is_turned && !is_loaded && !is_for_products {
            return self.uncertain(ops, op, &operand, bytes);
        }
        let is_staged = is_loaded && operand.holds == Some(Holds::Surely);
        if !is_here || is_staged || overlap == Holds::Not || self.tiles.contains_key(&operand.root) {
            return self.in_place(ops, op, &operand, product, operand.tile.bits < 32);
        }
        // Its rounds overlap: what is loaded has a buffer before the loop and one in it, what is computed one before it.
        let key = (operand.root, Lies::InPlace(self.runs_along_in_place(&operand, operand.tile.bits < 32)));
        let passing = (operand.root, Lies::Passing);
        if let Some(found) = self.brought.get(&key) {
            op.operands.push(found.buffer);
            // A product whose rounds do not overlap has brought there what is loaded in each round; before the loop there is none so far.
            if is_loaded && !self.brought.contains_key(&passing) {
                let size = match overlap {
                    Holds::Surely => Bytes::Exactly(bytes),
                    _ => Bytes::Between(0, bytes, Reason::new(OPERAND)),
                };
                self.carried(op, &operand, passing, product, size);
            }
            return;
        }
        if operand.holds == Some(Holds::Perhaps) {
            self.uncertain(ops, op, &operand, bytes);
            return self.carried(op, &operand, key, product, Bytes::Between(0, bytes, Reason::new(OPERAND)));
        }
        match (overlap, is_loaded) {
            (Holds::Surely, true) => {
                let before = match self.may_be_loaded_before(operand.root) {
                    true => Bytes::Between(0, bytes, Reason::new(OPERAND)),
                    false => Bytes::Exactly(bytes),
                };
                self.carried(op, &operand, (operand.root, Lies::Passing), product, before);
                self.carried(op, &operand, key, product, Bytes::Exactly(bytes));
            }
            (Holds::Surely, false) => self.carried(op, &operand, key, product, Bytes::Exactly(bytes)),
            _ => {
                let perhaps = || Bytes::Between(0, bytes, Reason::new(OPERAND));
                self.carried(op, &operand, (operand.root, Lies::Passing), product, perhaps());
                if self.program.products.len() > 1 {
                    self.carried(op, &operand, (operand.root, Lies::Passing), product, perhaps());
                }
                self.in_place(ops, op, &operand, product, operand.tile.bits < 32);
            }
        }
    }

    /// A buffer that is there before the loop and all through it.
    fn carried(&mut self, op: &mut Op, operand: &Operand, key: (ValueId, Lies), product: &Product, size: Bytes) {
        let made = self.operand_buffer(op, operand, size);
        op.operands.extend(&made.results);
        self.remember(key, operand, product, &made);
        let hangs_on = if self.flat > 0 { ValueId(u32::MAX) } else { operand.root };
        self.hoisted.push((hangs_on, made));
    }

    /// An operand that is read where it is in shared memory. `either_way`: along whichever dimension its elements lie side by side.
    fn in_place(&mut self, ops: &mut Vec<Op>, op: &mut Op, operand: &Operand, product: &Product, either_way: bool) {
        let bytes = operand.tile.bytes();
        if self.program.loads.contains_key(&operand.root) {
            match operand.holds {
                Some(Holds::Surely) if self.is_brought_again(operand.root) => {
                    // One for each of the rounds that overlap.
                    return self.uncertain(ops, op, operand, bytes.saturating_mul(2));
                }
                Some(Holds::Surely) => return,
                Some(Holds::Perhaps) => return self.uncertain(ops, op, operand, bytes),
                _ => {}
            }
            if let Some(&loaded) = self.tiles.get(&operand.root) {
                op.operands.push(loaded);
                return;
            }
        }
        if self.is_carried_by_while(operand.root) {
            // What a `while` carries may be brought there before it, and be carried there.
            let size = || Bytes::Between(0, bytes, Reason::new(OPERAND));
            let made = self.operand_buffer(op, operand, size());
            op.operands.extend(&made.results);
            ops.push(made);
            return self.carried(op, operand, (operand.root, Lies::Passing), product, size());
        }
        let is_from_descriptor = self.through_descriptor.contains(&operand.root);
        // What is computed before a loop that loads ahead is brought there before it, or in each round.
        let is_computed = !self.program.loads.contains_key(&operand.root) && self.is_outside(operand.root);
        let is_open = self.loads_ahead && is_computed && self.machine.unit(product) == Unit::Wgmma;
        let size = match is_from_descriptor || is_open {
            true => Bytes::Between(0, bytes, Reason::new(OPERAND)),
            false => Bytes::Exactly(bytes),
        };
        let lies = Lies::InPlace(self.runs_along_in_place(operand, either_way));
        let is_new = !self.brought.contains_key(&(operand.root, lies));
        let is_outside = self.is_outside(operand.root);
        if is_new && operand.is_turned && (self.machine.unit(product) == Unit::Tcgen05 || is_outside) {
            return self.turned_in_place(ops, op, operand, product, (lies, size));
        }
        self.keep(ops, op, operand, product, (lies, size));
    }

    /// Whether what is loaded is brought to another place, since its elements do not lie side by side along what is summed: `wgmma` takes
    /// only those of 16 bits as they lie, `tcgen05` those of 32 bits not.
    pub(super) fn is_brought_again(&self, load: ValueId) -> bool {
        let (takers, _) = self.takers(load);
        let is_against = |taker: &Taker| {
            let Some(product) = self.program.products.get(&taker.product) else { return false };
            let along_k = usize::from((taker.nth == 0) != taker.is_turned);
            let bits = product.operands[taker.nth].bits;
            let has_to = match self.machine.unit(product) {
                Unit::Wgmma => bits != 16,
                Unit::Tcgen05 => bits >= 32,
                Unit::TensorCores | Unit::Threads => false,
            };
            // What threads load they may bring to tensor memory themselves.
            let is_brought = self.through_descriptor.contains(&load)
                || taker.nth == 0 && self.machine.unit(product) == Unit::Tcgen05;
            has_to && is_brought && self.program.loads[&load].runs_along != Some(along_k)
        };
        self.program.loads.contains_key(&load) && takers.iter().any(is_against)
    }

    /// What is taken from the other side may be brought there only where it is taken, unless it is taken as it is as well: always by `tcgen05`, by `wgmma`
    /// where it is the same in all rounds of a loop.
    fn turned_in_place(
        &mut self,
        ops: &mut Vec<Op>,
        op: &mut Op,
        operand: &Operand,
        product: &Product,
        (lies, size): (Lies, Bytes),
    ) {
        if self.made_at.contains_key(&operand.root) {
            let sooner = Bytes::Between(0, size.high(), Reason::new(OPERAND));
            let sooner = self.operand_buffer(op, operand, sooner);
            ops.extend(read_back(&sooner));
            self.put(operand.root, sooner);
        }
        let made = self.operand_buffer(op, operand, size);
        self.remember((operand.root, lies), operand, product, &made);
        op.operands.extend(&made.results);
        ops.push(made);
    }

    /// Whether another load of the loop may be equal in the first round, where the number of the round is zero: the two have one buffer before the loop.
    fn may_be_loaded_before(&self, load: ValueId) -> bool {
        let Some(within) = self.within.last() else { return false };
        let mut loads = self.program.loads.iter().filter(|(other, _)| within.contains(other));
        loads.any(|(&other, it)| {
            it.tile.shape == self.program.loads[&load].tile.shape
                && self.places.is_before(other, load)
                && self.places.are_of_one_pointer(other, load)
        })
    }

    fn runs_along_in_place(&self, operand: &Operand, either_way: bool) -> Option<usize> {
        (!either_way).then_some(usize::from((operand.nth == 0) != operand.is_turned))
    }

    /// Both sides of a product that is computed as several, of parts of their numbers (`F32DotTC.cpp`). What is the same in all rounds of a loop is
    /// brought there before it.
    fn parts_of(&mut self, ops: &mut Vec<Op>, op: &mut Op, operand: &Operand, product: &Product) {
        let unit = self.machine.unit(product);
        let id = op.results.first().copied().unwrap_or(ValueId(u32::MAX));
        let is_in_front = self.is_outside(operand.root) && !self.places.is_written_between(operand.root, id);
        for part in 0..product.parts {
            let bytes = operand.tile.bytes();
            let size = match (unit, part) {
                (Unit::Wgmma, 0 | 1) if product.parts == 2 => Bytes::Exactly(bytes),
                _ => Bytes::Between(0, bytes.saturating_mul(2), Reason::new(OPERAND)),
            };
            let made = self.operand_buffer(op, operand, size);
            op.operands.extend(&made.results);
            match is_in_front {
                true => self.hoisted.push((operand.root, made)),
                false => ops.push(made),
            }
        }
    }

    fn is_carried_by_while(&self, value: ValueId) -> bool {
        !self.made_at.contains_key(&value) && self.counted.last() == Some(&false)
    }

    /// Whether a value is the same in all rounds of the loop around.
    fn is_outside(&self, value: ValueId) -> bool {
        self.within.last().is_some_and(|within| !within.contains(&value))
    }

    /// `mma` takes its operands from registers, in layouts of its own.
    fn bring_to_registers(&mut self, ops: &mut Vec<Op>, op: &mut Op, operand: Operand, product: &Product) {
        let bytes = operand.tile.bytes();
        // Elements of 8 bits that these tensor cores do not multiply are cast to 16, before they are brought there where they are the same in all
        // rounds of a loop, or are loaded a round before.
        let is_widened = operand.tile.bits == 8 && !matches!(self.machine.hardware.capability, 89 | 120..130);
        let cast = bytes.saturating_mul(if is_widened { 2 } else { 1 });
        let most = self.leaves.get(&operand.root).map_or(0, |leaf| leaf.1).max(cast);
        let is_alone = self.machine.warps == 1;
        // Before 3.9 each part of its numbers is brought there once more.
        let is_again = product.parts > 1 && self.machine.hardware.compiler < Compiler::V3_9;
        if self.program.loads.contains_key(&operand.root) {
            let is_cast = operand.is_turned || product.parts > 1;
            return match operand.holds {
                Some(Holds::Surely) if is_again => self.uncertain(ops, op, &operand, most),
                Some(Holds::Surely) => {}
                Some(Holds::Perhaps) => self.uncertain(ops, op, &operand, most),
                // Within a warp elements are exchanged without shared memory.
                _ if is_cast
                    || is_alone
                    || product.stays[operand.nth]
                    || self.through_descriptor.contains(&operand.root)
                    || self.is_taken_otherwise(operand.root) =>
                {
                    // The parts of its numbers are brought there one by one where they are the same in all rounds of a loop.
                    let buffers = if self.is_outside(operand.root) { product.parts } else { 1 };
                    (0..buffers).for_each(|_| self.uncertain(ops, op, &operand, most));
                }
                _ => {
                    let size = match operand.tile.bits >= 16 {
                        true => Bytes::Exactly(bytes),
                        false => Bytes::Between(0, cast, Reason::new(OPERAND)),
                    };
                    let lies = self.swizzled_for(op, &operand, product);
                    self.keep(ops, op, &operand, product, (lies, size));
                }
            };
        }
        if let (Some(&load), false) = (self.cast_of.get(&operand.root), operand.is_turned) {
            let is_here = self.within.last().is_none_or(|within| within.contains(&load));
            let is_scaled = self.scaled.contains(&operand.root);
            return match operand.holds {
                // Such a number keeps it from being brought there before it is computed (`hoistConvertDotOperand`).
                _ if is_scaled && self.machine.unit(product) == Unit::Wgmma => self.uncertain(ops, op, &operand, most),
                _ if is_scaled && product.stays[operand.nth] => self.uncertain(ops, op, &operand, most),
                _ if is_scaled && is_here && !is_alone && !is_widened && !self.is_entangled(load) => {
                    let lies = self.swizzled_for(op, &operand, product);
                    self.keep(ops, op, &operand, product, (lies, Bytes::Exactly(bytes)));
                }
                Some(Holds::Surely) if is_again => self.uncertain(ops, op, &operand, most),
                Some(Holds::Surely) => {}
                None | Some(Holds::Not)
                    if is_here && !is_alone && !self.through_descriptor.contains(&load) && !self.is_entangled(load) =>
                {
                    self.pass(&operand, product, load);
                }
                // The parts of its numbers are brought there one by one where they are the same in all rounds of a loop.
                _ => {
                    let buffers = if self.is_outside(operand.root) { product.parts } else { 1 };
                    (0..buffers).for_each(|_| self.uncertain(ops, op, &operand, most));
                }
            };
        }
        // Where a result is brought that is taken from the other side in a loop is not modelled, nor where its parts are.
        let is_open = operand.is_turned && self.is_outside(operand.root) || product.parts > 1;
        if is_open || !self.of_products.contains(&operand.root) {
            return self.uncertain(ops, op, &operand, most.saturating_mul(u64::from(product.parts)));
        }
        let needs = match operand.is_turned {
            true => Some(true),
            false if operand.nth == 0 && product.is_left_at_hand => Some(false),
            false => product.needs[operand.nth],
        };
        let size = match needs {
            Some(false) if self.computes_otherwise(Unit::TensorCores) => Bytes::Between(0, bytes, Reason::new(OPERAND)),
            Some(false) => return,
            Some(true) => Bytes::Exactly(bytes),
            None => Bytes::Between(0, bytes, Reason::new(OPERAND)),
        };
        let lies = self.swizzled_for(op, &operand, product);
        self.keep(ops, op, &operand, product, (lies, size));
    }

    /// Whether tensor cores that read their operands from shared memory take it as well: where it is brought there for the others is not known.
    fn is_taken_otherwise(&self, load: ValueId) -> bool {
        let units = self.takers(load).0.into_iter().filter_map(|taker| self.program.products.get(&taker.product));
        units.into_iter().any(|product| self.machine.unit(product).is_asynchronous())
    }

    /// Whether some product is computed by other instructions than these.
    fn computes_otherwise(&self, unit: Unit) -> bool {
        self.program.products.values().any(|product| self.machine.unit(product) != unit)
    }

    /// Results that are added to those of another product, or are an accumulator in a loop that is unrolled, may be converted while the operands are
    /// there.
    fn convert_result(&mut self, ops: &mut Vec<Op>, op: &mut Op, product: &Product) {
        let Some(&id) = op.results.first() else { return };
        // One product of a round goes on with the result of the other one as it is.
        let is_round = |value: &ValueId| self.within.last().is_some_and(|within| within.contains(value));
        // What `mma` gives has the warps in ways that depend on the products beside it, in a loop and behind it.
        let is_mma = self.machine.unit(product) == Unit::TensorCores;
        let is_made = |value: &ValueId| self.of_products.contains(value) || is_mma && self.of_loops.contains(value);
        let of_other = |value: &ValueId| *value != id && is_made(value) && !is_round(value);
        let is_in_sums = |of: &dyn Fn(&ValueId) -> bool| {
            let added = |by: &ValueId| self.sums.get(by).is_some_and(|sum| sum.iter().any(of));
            op.operands.get(2).is_some_and(of) || self.uses.get(&id).into_iter().flatten().any(|(by, _)| added(by))
        };
        // All but the last one, which goes into no other product, have the warps along the rows (`warpsPerTileV3`); where there are fewer rows than
        // warps for them, the last one has not.
        let rows = product.result.shape.first().copied().unwrap_or(1);
        let is_shared_out = rows < self.machine.warps.saturating_mul(16);
        let of_round = |value: &ValueId| *value != id && self.of_products.contains(value);
        let unit = self.machine.unit(product);
        let (is_of_round, is_mixed) = (is_in_sums(&of_round), self.computes_otherwise(unit));
        let is_laid_otherwise = match unit {
            Unit::Wgmma => (is_of_round || self.program.is_unrolled) && (is_shared_out || is_mixed),
            _ => is_of_round && is_mixed,
        };
        // Of one that is computed as several, each may be converted.
        let is_of_parts = product.parts > 1 && self.program.products.len() > 1;
        if is_laid_otherwise || is_of_parts || is_in_sums(&of_other) {
            let Tile { shape, dtype, .. } = product.result.clone();
            let size = Bytes::Between(0, product.result.bytes(), Reason::new(OPERAND));
            let made = self.buffer(
                op.at,
                "conversion of the result of `tl.dot`",
                (shape, dtype, size, OF_REGISTERS, Use::Staging),
            );
            op.operands.extend(&made.results);
            ops.push(made);
        }
    }

    /// Without tensor cores: each thread loads the rows and columns that it multiplies.
    fn bring_to_threads(&mut self, ops: &mut Vec<Op>, op: &mut Op, operand: Operand, product: &Product) {
        let bytes = operand.tile.bytes();
        let is_cast = operand.tile.bits != product.operands[operand.nth].bits;
        let is_loaded = self.program.loads.contains_key(&operand.root) && !is_cast;
        let is_staged = is_loaded && operand.holds == Some(Holds::Surely);
        if is_staged && !(operand.is_turned && self.through_descriptor.contains(&operand.root)) {
            return;
        }
        if is_staged {
            // It is transposed in shared memory, where it does not lie as the descriptor brought it.
            let made = self.operand_buffer(op, &operand, Bytes::Exactly(bytes));
            op.operands.extend(&made.results);
            ops.push(made);
            return;
        }
        let most = self.leaves.get(&operand.root).map_or(0, |leaf| leaf.1).max(bytes);
        if !is_loaded || operand.holds == Some(Holds::Perhaps) {
            // What is computed is converted before it is seen from the other side.
            let buffers = if !is_loaded && operand.is_turned { 2 } else { 1 };
            return (0..buffers).for_each(|_| self.uncertain(ops, op, &operand, most));
        }
        let size = Bytes::Between(0, most, Reason::new(OPERAND));
        self.keep(ops, op, &operand, product, (Lies::Swizzled { vec: 1, is_turned: false }, size));
    }

    /// Of tiles whose elements are contiguous along what is summed, words are kept together; so they are of all tiles of 16 bits.
    fn swizzled_for(&self, op: &Op, operand: &Operand, product: &Product) -> Lies {
        let id = op.results.first().copied().unwrap_or(ValueId(u32::MAX));
        let wide = 4 * (32 / self.together(id, product).max(1)).max(1);
        let along_k = usize::from((operand.nth == 0) != operand.is_turned);
        let vec = if self.runs_along(operand.root).is_none_or(|along| along == along_k) { wide } else { 8 };
        Lies::Swizzled { vec, is_turned: operand.is_turned }
    }

    /// The axis along which the elements of what is loaded lie in memory.
    fn runs_along(&self, root: ValueId) -> Option<usize> {
        self.program.loads.get(&root).and_then(|load| load.runs_along)
    }

    /// An operand that takes up to so many bytes, from where it is loaded until it is multiplied; how it is brought there is not known.
    fn uncertain(&mut self, ops: &mut Vec<Op>, op: &mut Op, operand: &Operand, most: u64) {
        let size = Bytes::Between(0, self.padded(most).high(), Reason::new(OPERAND));
        let made = self.operand_buffer(op, operand, size);
        op.operands.extend(&made.results);
        let from = self.leaves.get(&operand.root).map_or(operand.root, |leaf| leaf.0);
        match self.made_at.contains_key(&from) {
            true => self.put(from, made),
            false => ops.push(made),
        }
    }

    /// What is loaded goes through shared memory at once, before anything is computed of it.
    fn pass(&mut self, operand: &Operand, product: &Product, load: ValueId) {
        let key = (load, Lies::Passing);
        if self.brought.get(&key).is_some_and(|found| found.nth == operand.nth) {
            return;
        }
        let Some(tile) = self.program.loads.get(&load).map(|load| load.tile.clone()) else { return };
        let at = self.made_at[&load];
        // `wgmma` takes a left side from registers part by part; in what order threads exchange the elements of a wide one is not modelled.
        let summed = tile.shape.last().copied().unwrap_or(1).saturating_mul(u64::from(tile.bits));
        let size = match self.machine.unit(product) {
            Unit::Wgmma if summed > MOST_IN_ONE || self.is_by_rows(load) => {
                Bytes::Between(0, tile.bytes(), Reason::new(OPERAND))
            }
            _ => Bytes::Exactly(tile.bytes()),
        };
        let made = self.buffer(at, NAMES[operand.nth], (tile.shape, tile.dtype, size, OF_REGISTERS, Use::Staging));
        self.remember(key, operand, product, &made);
        let read = read_back(&made);
        let behind = self.behind.entry(load).or_default();
        // Where both sides take it, both are brought there before one is read.
        behind.insert(0, made);
        behind.extend(read);
    }

    /// A buffer that is filled as soon as there is something to fill it with, and is one for all products that read the same there.
    fn keep(
        &mut self,
        ops: &mut Vec<Op>,
        op: &mut Op,
        operand: &Operand,
        product: &Product,
        (lies, size): (Lies, Bytes),
    ) {
        let key = (operand.root, lies);
        let is_made = self.made_at.contains_key(&operand.root);
        let is_swizzled = matches!(lies, Lies::Swizzled { .. });
        // For a `while` it may be read into registers before it, or in it.
        if is_made && is_swizzled && self.is_read_before_while(operand.root) {
            return self.uncertain(ops, op, operand, size.high());
        }
        if let Some(found) = self.brought.get(&key).filter(|_| is_made).cloned() {
            if matches!(lies, Lies::InPlace(_)) {
                op.operands.push(found.buffer);
                return;
            }
            return match self.is_in_registers(&found, operand, product) {
                Holds::Surely => {}
                // Of which elements words are kept together decides along what the tile lies.
                Holds::Not if is_swizzled && found.nth != operand.nth && self.runs_along(operand.root).is_none() => {
                    op.operands.push(found.buffer);
                    self.uncertain(ops, op, operand, size.high());
                }
                Holds::Not => op.operands.push(found.buffer),
                Holds::Perhaps => self.uncertain(ops, op, operand, size.high()),
            };
        }
        // What products outside of a loop take as well is read before it, if they take it in one layout.
        let elsewhere = |within: &FxHashSet<ValueId>| {
            let is_elsewhere = |taker: &Taker| !within.contains(&taker.product);
            !within.contains(&operand.root) && self.takers(operand.root).0.iter().any(is_elsewhere)
        };
        let is_shared = is_swizzled && self.within.last().is_some_and(elsewhere);
        let id = op.results.first().copied().unwrap_or(ValueId(u32::MAX));
        let apart = if is_swizzled { self.places.are_apart(operand.root, id) } else { Holds::Not };
        let is_open = is_shared || apart == Holds::Perhaps || self.is_entangled(operand.root);
        let size = if is_open { Bytes::Between(0, size.high(), Reason::new(OPERAND)) } else { size };
        let made = self.operand_buffer(op, operand, size);
        self.remember(key, operand, product, &made);
        op.operands.extend(&made.results);
        if operand.nth == 0 && is_swizzled {
            self.left.extend(&made.results);
        }
        // What a loop carries is there when a round starts.
        let is_of_round = self.within.last().is_some_and(|within| within.contains(&operand.root));
        // A result that is seen from the other side is brought to registers where it is turned.
        let is_turned_result = operand.is_turned && self.of_products.contains(&operand.root);
        match lies {
            Lies::Swizzled { .. } if is_made && is_turned_result => self.put(operand.value, made),
            Lies::Swizzled { .. } if is_made && apart == Holds::Surely => {
                if is_of_round || self.within.is_empty() {
                    if operand.nth == 1 {
                        self.left_is_read(ops, op);
                    }
                    ops.push(made);
                } else {
                    self.made_for.extend(made.results.first().copied().zip(op.results.first().copied()));
                    self.hoisted.push((operand.root, made));
                }
            }
            Lies::InPlace(_) if is_made && self.places.is_written_between(operand.root, operand.value) => {
                self.put(operand.value, made);
            }
            Lies::InPlace(_) if !is_made && is_of_round => self.starts.push(made),
            _ if is_made => self.put(operand.root, made),
            _ => ops.push(made),
        }
    }

    /// The left side comes to the registers before the right side is brought to shared memory only where the product takes it.
    fn left_is_read(&mut self, ops: &mut Vec<Op>, op: &mut Op) {
        op.operands.retain(|operand| !self.left.contains(operand));
        ops.extend(self.left.drain(..).map(|buffer| let_go(op, buffer)));
    }

    /// Fills a buffer right behind what gives a value.
    fn put(&mut self, from: ValueId, made: Op) {
        self.behind.entry(from).or_default().push(made);
    }

    /// Whether products take a tile in several ways, among others: which of those share a buffer is not modelled.
    fn is_entangled(&self, root: ValueId) -> bool {
        let (takers, has_others) = self.takers(root);
        let Some(first) = takers.first() else { return false };
        let differ = |way: &dyn Fn(&Taker) -> (usize, bool, bool)| takers.iter().any(|it| way(it) != way(first));
        let result = |it: &Taker| self.program.products.get(&it.product).map(|product| &product.result.shape);
        // Beside others, two that take it alike may be given it by one read before the loop, or by one each in it.
        let are_some = takers.len() > 1 && self.program.products.len() > takers.len();
        let is_outside = self.is_outside(root);
        let is_in_while = self.counted.last() == Some(&false);
        is_outside
            && (differ(&|it| (0, it.is_turned, false))
                || are_some
                || takers.iter().any(|it| result(it) != result(first)))
            || self.program.products.len() > 2 && differ(&|it| (it.nth, it.is_turned, it.is_computed))
            || differ(&|it| (0, false, it.is_computed))
            // Computed, and multiplied with itself.
            || first.is_computed && takers.iter().skip(1).any(|it| it.product == first.product)
            || has_others && is_in_while
    }

    /// What is the same in all rounds may be loaded into registers before a `while`, and is only where it is needed in loops that count.
    fn is_read_before_while(&self, root: ValueId) -> bool {
        let mut left = self.within.iter().zip(&self.counted).filter(|(within, _)| !within.contains(&root)).peekable();
        left.peek().is_some() && left.all(|(_, &is_counted)| !is_counted)
    }

    /// Whether a product has in registers what an earlier one loaded: as the same side, in the same layout, where control surely came by.
    fn is_in_registers(&self, found: &Brought, operand: &Operand, product: &Product) -> Holds {
        if found.nth != operand.nth || !self.path.starts_with(&found.within) {
            return Holds::Not;
        }
        match (&found.product.warps, &product.warps) {
            (Some(one), Some(two)) if one == two => Holds::Surely,
            (Some(_), Some(_)) => Holds::Not,
            (None, None) if found.product.result.shape == product.result.shape => Holds::Surely,
            _ => Holds::Perhaps,
        }
    }

    fn operand_buffer(&mut self, op: &Op, operand: &Operand, size: Bytes) -> Op {
        let at = self.made_at.get(&operand.value).copied().unwrap_or(op.at);
        let Tile { shape, dtype, bits } = operand.tile.clone();
        let unit = op.results.first().and_then(|id| self.program.products.get(id)).map(|it| self.machine.unit(it));
        let alignment = match unit {
            Some(Unit::Wgmma | Unit::Tcgen05) => {
                // Which way it goes through memory is not known of what is computed: mostly along its rows.
                let row = shape.last().copied().unwrap_or(1).saturating_mul(u64::from(bits)) / 8;
                in_place_alignment(row)
            }
            _ => OF_REGISTERS,
        };
        let of_load = self.program.loads.get(&operand.root).and_then(|load| load.assigned.as_ref());
        let assigned = self.program.assigned.get(&operand.value).or(of_load);
        let assigned = assigned.or_else(|| self.program.assigned.get(&operand.root)).cloned();
        let (name, name_at) = assigned.unwrap_or_else(|| (NAMES[operand.nth].into(), None));
        // One that may not be there has no hint.
        let name_at = name_at.filter(|_| matches!(size, Bytes::Exactly(_)));
        let id = BufferId(self.program.buffers.len() as u32);
        let made = self.buffer(at, &name, (shape, dtype, size, alignment, Use::Staging));
        self.program.buffers[id.0 as usize].name_at = name_at;
        made
    }

    fn remember(&mut self, key: (ValueId, Lies), operand: &Operand, product: &Product, made: &Op) {
        let brought =
            Brought { buffer: made.results[0], nth: operand.nth, product: product.clone(), within: self.path.clone() };
        self.brought.insert(key, brought);
    }

    /// AMD's compiler reads an operand back at once where one product takes it.
    fn operands_on_amd(&mut self, ops: &mut Vec<Op>, mut op: Op, product: &Product, around: Option<&Loop>) {
        for (nth, tile) in product.operands.iter().enumerate() {
            let Some(&operand) = op.operands.get(nth) else { continue };
            let source = self.sources.get(&operand).copied();
            let holds = source.and_then(|source| around?.staging(source.load)).map(|staging| staging.holds);
            if holds == Some(Holds::Surely) && source.is_some_and(|source| source.is_direct) {
                continue;
            }
            let loaded = self.leaves.get(&operand).map_or(0, |leaf| leaf.1);
            // What is computed may be brought there before it is cast, and threads multiply numbers of the result's type.
            let is_small = product.result.shape.iter().any(|&length| length < 16);
            let is_cast = source.is_none() || is_small || tile.bits < 16;
            let computed = if is_cast { bytes_of(&tile.shape, tile.bits.max(32)) } else { 0 };
            let most = self.padded(tile.bytes().max(loaded).max(computed)).high();
            let size = Bytes::Between(0, most, Reason::new(OPERAND));
            let at = self.made_at.get(&operand).copied().unwrap_or(op.at);
            let made = self.buffer(at, NAMES[nth], (tile.shape.clone(), tile.dtype, size, 1024, Use::Staging));
            // What several products take may wait for each of them.
            let takers = |value: ValueId| self.takers(value).0.len();
            let waits = takers(operand).max(source.map_or(0, |source| takers(source.load))) > 1;
            if waits {
                op.operands.extend(&made.results);
            }
            let read = read_back(&made).into_iter().filter(|_| !waits);
            if self.within.last().is_some_and(|within| !within.contains(&operand)) {
                self.hoisted.push((operand, made));
                self.hoisted.extend(read.map(|read| (operand, read)));
            } else {
                ops.push(made);
                ops.extend(read);
            }
        }
        ops.push(op);
    }
}

/// Bits of a row up to which threads exchange the whole of a left side of `wgmma` at once.
const MOST_IN_ONE: u64 = 1024;

const NAMES: [&str; 2] = ["left side of `tl.dot`", "right side of `tl.dot`"];

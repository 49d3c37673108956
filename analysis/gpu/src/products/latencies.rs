//! Which loads of a loop are kept in several copies because rounds overlap, and for how many rounds ahead
//! (`lib/Dialect/TritonGPU/Transforms/Pipeliner/AssignLatencies.cpp`).

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::work;

use super::super::program::{Block, Effect, Kind, Op, Product, Tile, Type, ValueId};
use super::{Holds, Stager, Unit};

/// Bits that a thread must load side by side for a load to be copied in the background.
pub(super) const LEAST_ACCESS: u64 = 32;

/// What is known of the copies of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Staging {
    pub holds: Holds,
    /// Rounds that lie between a load and its use, at least and at most.
    pub rounds: (u64, u64),
}

/// How a tile lies in shared memory for what takes it. Loads with several copies have one way only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// For a product that reads it there: by the dimension that is contiguous.
    InPlace(usize),
    /// For a product that loads it into registers: the same, and what is swizzled.
    Swizzled { along: usize, vec: u64, per_phase: u64, phases: u64 },
    /// One of these; which is not known.
    Unknown { nth: usize, is_turned: bool },
}

/// A product that takes what is loaded.
pub(super) struct Taker {
    pub product: ValueId,
    pub nth: usize,
    pub is_turned: bool,
    /// Something is computed in between, element by element.
    pub is_computed: bool,
}

type Defined<'a> = FxHashMap<ValueId, &'a Op>;

impl Stager<'_> {
    /// What is known of the copies that a loop keeps; `None` where its rounds do not overlap.
    pub(super) fn staged(&self, body: &Block, stages: i64, is_told: bool) -> Option<FxHashMap<ValueId, Staging>> {
        if stages < 2
            || self.machine.has_no_tensor_cores()
            || body.ops.iter().any(super::has_loop)
            || body.is_kept_in_order()
        {
            return None;
        }
        let before = u64::try_from(stages - 1).unwrap_or(1);
        let defined: Defined =
            body.ops.iter().flat_map(|op| op.results.iter().map(move |&result| (result, op))).collect();
        if self.machine.is_amd() {
            return Some(self.staged_on_amd(body, &defined, before, is_told));
        }
        let ways = [true, false].map(|perhaps| self.latencies(body, &defined, before, perhaps));
        let mut staged = FxHashMap::default();
        for (&load, &one) in ways.iter().flatten() {
            let both = ways.each_ref().map(|way| way.get(&load).copied());
            let holds = match both {
                // Whether a number that is loaded by itself is copied depends on what is done with it.
                [Some(_), Some(_)] if self.width(&load).is_some() => self.is_beneficial(load),
                _ => Holds::Perhaps,
            };
            let other = both.into_iter().flatten().find(|&other| other != one).unwrap_or(one);
            staged.insert(load, Staging { holds, rounds: (one.min(other), one.max(other)) });
        }
        // What goes into a result in tensor memory by other ways counts as well, and every load where the author asks for it.
        let of_tcgen05 = |op: &Op| self.product(op).is_some_and(|it| self.machine.unit(it) == Unit::Tcgen05);
        let is_open = is_told || body.ops.iter().any(of_tcgen05);
        for op in body.ops.iter().filter(|op| op.effect == Effect::Reads && op.results.len() == 1) {
            let load = op.results[0];
            let is_wide = self.width(&load).is_none_or(|(_, most)| most >= LEAST_ACCESS);
            if is_wide && (is_open || self.is_carried(body, load)) {
                staged.entry(load).or_insert(Staging { holds: Holds::Perhaps, rounds: (1, before) });
            }
        }
        Some(staged)
    }

    /// Rounds ahead for each load that leads to a product. `perhaps`: loads that may be too narrow count as wide enough.
    fn latencies(&self, body: &Block, defined: &Defined, before: u64, perhaps: bool) -> FxHashMap<ValueId, u64> {
        let mut levels: FxHashMap<ValueId, u64> = FxHashMap::default();
        let mut excluded: FxHashSet<ValueId> = FxHashSet::default();
        for op in body.ops.iter().filter(|op| self.product(op).is_some()) {
            let mut seen = FxHashSet::default();
            // The operands of a product that are multiplied, the first one on top.
            let mut open: Vec<(ValueId, u64)> = op.operands.iter().take(2).rev().map(|&it| (it, 0)).collect();
            while let Some((value, level)) = open.pop() {
                work::spend(1);
                let Some(op) = defined.get(&value) else { continue };
                let Some(&id) = op.results.first() else { continue };
                if !seen.insert(id) || excluded.contains(&id) {
                    continue;
                }
                let mut level = level;
                if is_load(op) {
                    match self.is_beneficial(id) {
                        Holds::Not => continue,
                        Holds::Perhaps if !perhaps => continue,
                        _ => {}
                    }
                    if levels.get(&id).is_some_and(|&known| known != level) {
                        levels.remove(&id);
                        excluded.insert(id);
                        continue;
                    }
                    levels.insert(id, level);
                    level += 1;
                }
                // What a product is added to is a part of it, and not multiplied.
                let mut operands = match self.is_added_to(op, defined) {
                    Some(product) => vec![product],
                    None => op.operands.clone(),
                };
                operands.truncate(if self.product(op).is_some() { 2 } else { operands.len() });
                nested_operands(op, &mut operands);
                open.extend(operands.into_iter().rev().map(|operand| (operand, level)));
            }
        }
        levels.retain(|_, level| *level < before);
        let deepest = levels.values().copied().max().unwrap_or(0);
        levels.into_keys().map(|load| (load, before / (deepest + 1))).collect()
    }

    /// The product that a sum becomes a part of, which goes on from what else there is: of two the one that is added.
    fn is_added_to(&self, op: &Op, defined: &Defined) -> Option<ValueId> {
        let product_of = |mut value: ValueId| {
            while self.uses.get(&value).is_some_and(|uses| uses.len() == 1)
                && let Some(op) = defined.get(&value)
            {
                match self.product(op) {
                    Some(product) => return (op.operands.len() == 2 && self.machine.adds(product)).then_some(value),
                    None if op.name == "convert_layout" => value = op.operands[0],
                    None => return None,
                }
            }
            None
        };
        op.operands.iter().rev().filter(|_| op.name == "add").find_map(|&value| product_of(value))
    }

    /// Whether the compiler may copy a load in the background, and all that take it agree how it lies in shared memory.
    fn is_beneficial(&self, load: ValueId) -> Holds {
        let Some((least, most)) = self.width(&load) else {
            // A number that is loaded by itself.
            let is_wide = self.scalar_bits(load) >= LEAST_ACCESS as u32;
            return if is_wide { Holds::Surely } else { Holds::Perhaps };
        };
        if most < LEAST_ACCESS {
            return Holds::Not;
        }
        match self.is_agreed_on(load) {
            Holds::Surely if least < LEAST_ACCESS => Holds::Perhaps,
            // How it is copied follows from where its elements are.
            Holds::Surely if self.program.loads[&load].runs_along.is_none() => Holds::Perhaps,
            holds => holds,
        }
    }

    /// Bits of a number that is loaded by itself.
    pub(super) fn scalar_bits(&self, load: ValueId) -> u32 {
        match self.program.types[load.0 as usize] {
            Type::Scalar { bits } => bits,
            Type::Pointer => 64,
            _ => 0,
        }
    }

    /// The dimension along which the compiler lays out in shared memory what it loads (`getOrderForMemory` in `lib/Dialect/TritonGPU/IR/Dialect.cpp`):
    /// that along which it is contiguous, but the other one where each thread has one whole row.
    fn memory_order(&self, load: ValueId) -> Option<usize> {
        let of = &self.program.loads[&load];
        let along = of.runs_along?;
        let &[rows, columns] = of.tile.shape.as_slice() else { return Some(along) };
        let (row, others) = if along == 1 { (columns, rows) } else { (rows, columns) };
        let threads = u64::from(self.machine.hardware.lanes()) * self.machine.warps;
        let row = row.saturating_mul(u64::from(of.tile.bits));
        let (least, most) = of.width;
        match others <= threads && !self.through_descriptor.contains(&load) {
            true if least >= row => Some(1 - along),
            true if most >= row => None,
            _ => Some(along),
        }
    }

    /// Bits that a load of a tile takes side by side, at least and at most; `None` for a number that is loaded by itself.
    pub(super) fn width(&self, load: &ValueId) -> Option<(u64, u64)> {
        self.program.loads.get(load).map(|load| load.width)
    }

    fn is_agreed_on(&self, load: ValueId) -> Holds {
        let of = &self.program.loads[&load];
        if of.tile.shape.len() != 2 || self.through_descriptor.contains(&load) {
            return Holds::Surely;
        }
        let (takers, has_others) = self.takers(load);
        let orders: Vec<Order> = takers.iter().filter_map(|taker| self.order(load, taker)).collect();
        let Some(&first) = orders.first() else {
            // What goes to several layouts has to agree in some way that is not modelled.
            let is_converted = self.uses.get(&load).into_iter().flatten().any(|(by, _)| self.converted.contains(by));
            return if is_converted { Holds::Perhaps } else { Holds::Surely };
        };
        // What else is done with a tile of `mma` may need it in a layout that looks like an operand of another order.
        let is_in_place = matches!(first, Order::InPlace(_));
        if has_others && !is_in_place {
            return Holds::Perhaps;
        }
        // Threads without tensor cores take it in a layout of their own.
        let by_threads = |taker: &Taker| {
            self.program.products.get(&taker.product).is_some_and(|it| self.machine.unit(it) == Unit::Threads)
        };
        if takers.iter().any(by_threads) || orders.iter().any(|order| matches!(order, Order::InPlace(_)) != is_in_place)
        {
            return Holds::Perhaps;
        }
        let not = if has_others || takers.len() > orders.len() { Holds::Perhaps } else { Holds::Not };
        if orders.iter().any(|&order| order != first) {
            let is_known = orders.iter().all(|order| !matches!(order, Order::Unknown { .. }));
            return if is_known { not } else { Holds::Perhaps };
        }
        // Elements that lie side by side in global memory have to do so there as well, or each is copied by itself.
        let is_narrow = u64::from(of.tile.bits) < LEAST_ACCESS;
        let along = match first {
            Order::InPlace(along) | Order::Swizzled { along, .. } => Some(along),
            Order::Unknown { .. } => None,
        };
        match along.zip(of.runs_along) {
            Some((along, runs_along)) if is_narrow && along != runs_along => not,
            None if is_narrow && of.runs_along.is_some() => Holds::Perhaps,
            _ => Holds::Surely,
        }
    }

    /// The products that take what is loaded, seen from another side or after something is computed of it, and whether anything else does.
    pub(super) fn takers(&self, load: ValueId) -> (Vec<Taker>, bool) {
        let (mut takers, mut has_others) = (Vec::new(), false);
        let mut open = vec![(load, false, false)];
        let mut seen = FxHashSet::default();
        while let Some((value, is_turned, is_computed)) = open.pop() {
            work::spend(1);
            for &(by, nth) in self.uses.get(&value).into_iter().flatten() {
                if self.program.products.contains_key(&by) && nth < 2 {
                    takers.push(Taker { product: by, nth, is_turned, is_computed });
                } else if self.turned.contains(&by) && seen.insert(by) {
                    open.push((by, !is_turned, is_computed));
                } else if self.elementwise.contains(&by) && !self.of_products.contains(&by) && seen.insert(by) {
                    open.push((by, is_turned, true));
                } else {
                    has_others = true;
                }
            }
        }
        (takers, has_others)
    }

    /// How a taker needs a load to lie in shared memory; `None` where it is computed first.
    fn order(&self, load: ValueId, taker: &Taker) -> Option<Order> {
        let product = self.program.products.get(&taker.product)?;
        let unit = self.machine.unit(product);
        let is_computed = taker.is_computed || product.parts > 1;
        match unit {
            Unit::Wgmma if is_computed && taker.nth == 0 => Some(self.swizzled(load, taker, product)),
            Unit::Wgmma | Unit::Tcgen05 if is_computed => None,
            Unit::Wgmma | Unit::Tcgen05 => Some(match self.contiguous(load, taker, product, unit) {
                Some(along) => Order::InPlace(along),
                None => Order::Unknown { nth: taker.nth, is_turned: taker.is_turned },
            }),
            Unit::TensorCores => Some(self.swizzled(load, taker, product)),
            Unit::Threads => None,
        }
    }

    /// The dimension of a load that is contiguous where a product reads it in place.
    fn contiguous(&self, load: ValueId, taker: &Taker, product: &Product, unit: Unit) -> Option<usize> {
        let of = &self.program.loads[&load];
        let along_k = usize::from((taker.nth == 0) != taker.is_turned);
        let either_way = match unit {
            Unit::Wgmma => of.tile.bits == 16,
            _ => product.operands[0].bits < 32,
        };
        Some(if either_way { self.memory_order(load)? } else { along_k })
    }

    /// `SwizzledSharedEncodingAttr` of an operand of `mma` (`include/triton/Dialect/TritonGPU/IR/TritonGPUAttrDefs.td`).
    fn swizzled(&self, load: ValueId, taker: &Taker, product: &Product) -> Order {
        let of = &self.program.loads[&load];
        let along_k = usize::from((taker.nth == 0) != taker.is_turned);
        // What is seen from the other side is converted first, so that it is contiguous along what is summed.
        let along = if taker.is_turned { Some(along_k) } else { self.memory_order(load) };
        let Some(along) = along else { return Order::Unknown { nth: taker.nth, is_turned: taker.is_turned } };
        let together = self.together(taker.product, product).min(u64::from(of.tile.bits)).max(1);
        swizzled_as(&of.tile, along, (32 / together).max(1), along == along_k)
    }

    /// Bits of the narrowest loads that the sides of a product are made of; a thread takes a word at once.
    pub(super) fn together(&self, id: ValueId, product: &Product) -> u64 {
        let sides = self.operands_of.get(&id).into_iter().flatten().zip(&product.operands);
        let bits = sides.map(|(value, tile)| self.least_bits.get(value).copied().unwrap_or(tile.bits).min(tile.bits));
        u64::from(bits.min().unwrap_or(32))
    }

    /// The products of such a unit that read a load where it is in shared memory, and whether anything else takes it.
    pub(super) fn read_in_place(&self, load: ValueId, unit: Unit) -> (Vec<ValueId>, bool) {
        let (takers, mut has_others) = self.takers(load);
        let mut found = Vec::new();
        for taker in takers {
            let Some(product) = self.program.products.get(&taker.product) else { continue };
            match self.machine.unit(product) == unit && !taker.is_computed && product.parts == 1 {
                true => found.push(taker.product),
                false => has_others = true,
            }
        }
        (found, has_others)
    }

    /// Whether a load is brought to registers behind where it is loaded, and not where a product takes it: what is computed of it, or another
    /// view of it, is (`RemoveLayoutConversions.cpp`).
    pub(super) fn is_brought_at_once(&self, load: ValueId) -> bool {
        let (takers, _) = self.takers(load);
        takers.iter().any(|taker| {
            let Some(product) = self.program.products.get(&taker.product) else { return false };
            match self.machine.unit(product) {
                Unit::Threads => false,
                Unit::TensorCores => taker.is_computed || taker.is_turned || product.parts > 1,
                Unit::Wgmma => taker.nth == 0 && (taker.is_computed || product.parts > 1),
                Unit::Tcgen05 => false,
            }
        })
    }

    /// Whether a load is handed to the next round as it is.
    fn is_carried(&self, body: &Block, load: ValueId) -> bool {
        body.ops.last().is_some_and(|last| matches!(last.kind, Kind::Yield) && last.operands.contains(&load))
    }

    /// The compiler for AMD looks at loads by rules of its own.
    fn staged_on_amd(
        &self,
        body: &Block,
        defined: &Defined,
        before: u64,
        is_told: bool,
    ) -> FxHashMap<ValueId, Staging> {
        let mut staged = FxHashMap::default();
        let products = body.ops.iter().filter(|op| self.product(op).is_some());
        let operands: Vec<ValueId> = products.flat_map(|op| op.operands.iter().take(2)).copied().collect();
        let rounds = (before, before);
        for &operand in &operands {
            let mut open = vec![operand];
            let mut seen = FxHashSet::default();
            while let Some(value) = open.pop() {
                work::spend(1);
                let Some(op) = defined.get(&value).filter(|_| seen.insert(value)) else { continue };
                if let Some((least, most)) = self.width(&value) {
                    let is_sure = least >= LEAST_ACCESS
                        && self.program.loads[&value].runs_along.is_some()
                        && self.goes_to_products_only(value)
                        && self.is_seen_from_one_side(value)
                        && !self.hangs_on_loads(op, defined);
                    let holds = match is_sure {
                        _ if most < LEAST_ACCESS && self.machine.is_padded() => Holds::Perhaps,
                        _ if most < LEAST_ACCESS => Holds::Not,
                        true => Holds::Surely,
                        false => Holds::Perhaps,
                    };
                    staged.insert(value, Staging { holds, rounds });
                }
                open.extend(&op.operands);
            }
        }
        if !operands.is_empty() || is_told {
            for op in body.ops.iter().filter(|op| op.effect == Effect::Reads && op.results.len() == 1) {
                let most = self.width(&op.results[0]).map_or(LEAST_ACCESS, |(_, most)| most);
                if most >= LEAST_ACCESS {
                    staged.entry(op.results[0]).or_insert(Staging { holds: Holds::Perhaps, rounds });
                }
            }
        }
        staged
    }

    /// Whether all products that take a load take it as the same operand, and none as it is and another one transposed.
    fn is_seen_from_one_side(&self, load: ValueId) -> bool {
        let (takers, _) = self.takers(load);
        let side = |taker: &Taker| (taker.nth, taker.is_turned);
        takers.iter().all(|taker| side(taker) == side(&takers[0]))
    }

    /// Whether where something is loaded from is loaded in the same loop.
    fn hangs_on_loads(&self, op: &Op, defined: &Defined) -> bool {
        let mut open = op.operands.clone();
        let mut seen = FxHashSet::default();
        while let Some(value) = open.pop() {
            work::spend(1);
            let Some(op) = defined.get(&value).filter(|_| seen.insert(value)) else { continue };
            if is_load(op) || self.program.loads.contains_key(&value) {
                return true;
            }
            open.extend(&op.operands);
        }
        false
    }

    /// Whether a loop loads something from where, or if, something says that it has loaded in the same round.
    pub(super) fn loads_in_a_row(&self, body: &Block) -> bool {
        let defined: Defined =
            body.ops.iter().flat_map(|op| op.results.iter().map(move |&result| (result, op))).collect();
        let within = |op: &Op| {
            let mut loads = false;
            op.kind.blocks().into_iter().for_each(|inner| inner.each(&mut |op| loads |= is_load(op)));
            loads
        };
        body.ops.iter().any(|op| within(op) || is_load(op) && self.hangs_on_loads(op, &defined))
    }

    /// Whether nothing else is done with what is loaded than to multiply it.
    pub(super) fn goes_to_products_only(&self, value: ValueId) -> bool {
        let Some(uses) = self.uses.get(&value) else { return false };
        uses.iter().all(|(by, nth)| match self.program.products.get(by) {
            Some(_) => *nth < 2,
            None => self.turned.contains(by) && self.goes_to_products_only(*by),
        })
    }
}

/// `k_width`: elements that a thread takes side by side of an operand of a product.
fn swizzled_as(tile: &Tile, along: usize, k_width: u64, is_along_k: bool) -> Order {
    let bits = u64::from(tile.bits).max(1);
    let row = tile.shape.get(along).copied().unwrap_or(1).saturating_mul(bits) / 8;
    let mut per_phase = (128 / row.max(1)).max(1);
    if is_along_k && 32 / bits != k_width {
        per_phase = per_phase.max(2 * (32 / bits));
    }
    let (vec, stride) = if is_along_k { (4 * k_width, 8) } else { (8, 4 * k_width) };
    Order::Swizzled { along, vec, per_phase, phases: (stride / per_phase).max(1) }
}

pub(super) fn is_load(op: &Op) -> bool {
    op.name == "load" || matches!(op.kind, Kind::StagedLoad { .. })
}

/// What the blocks of an operation take from around it.
pub(super) fn nested_operands(op: &Op, operands: &mut Vec<ValueId>) {
    for block in op.kind.blocks() {
        block.each(&mut |inner| operands.extend(&inner.operands));
    }
}

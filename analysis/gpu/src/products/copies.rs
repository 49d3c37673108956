//! The buffers of what a loop loads for rounds that come later, and the barriers by which its products wait
//! (`lib/Dialect/TritonGPU/Transforms/Pipeliner/LowerLoops.cpp`).

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::finding::Reason;
use tilefit_python::work;

use super::super::program::{Block, BufferId, Bytes, Effect, Kind, Op, Product, Site, Tile, Use, ValueId, elements};
use super::latencies::Staging;
use super::{BARRIER_BYTES, COPIES, Holds, Loop, OF_REGISTERS, ORDER, Stager, Unit, in_place_alignment};

/// A product, its operands, and what is known of it.
type Taker = (ValueId, Vec<ValueId>, Product);

/// Loads through descriptors that are waited for together, until one of them is used.
#[derive(Default)]
struct Group {
    loads: FxHashSet<ValueId>,
    copies: u64,
    /// Whether it is known where the first of them is used.
    is_sure: bool,
}

/// What becomes of the result of a product of tensor memory in a loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// It is carried from round to round, and nothing else is done with it.
    Carried,
    /// It is carried, and changed before a round adds to it.
    Rescaled,
    /// Each round has one of its own.
    Fresh,
    /// One of several that add to what is carried, one after the other.
    Chained,
    /// It is added to another one of the same round.
    Summed,
    Other,
}

/// Where values of a loop's body come from, and where they go.
struct Flow<'a> {
    body: &'a Block,
    /// By any of their results.
    makers: FxHashMap<ValueId, &'a Op>,
    uses: &'a FxHashMap<ValueId, Vec<(ValueId, usize)>>,
}

impl<'a> Flow<'a> {
    fn of(body: &'a Block, uses: &'a FxHashMap<ValueId, Vec<(ValueId, usize)>>) -> Self {
        let makers = body.ops.iter().flat_map(|op| op.results.iter().map(move |&result| (result, op)));
        Flow { body, makers: makers.collect(), uses }
    }

    fn uses_of(&self, value: ValueId) -> &'a [(ValueId, usize)] {
        self.uses.get(&value).map_or(&[], Vec::as_slice)
    }

    fn conversion(&self, value: ValueId) -> Option<&'a Op> {
        self.makers.get(&value).copied().filter(|op| op.name == "convert_layout")
    }

    fn sum(&self, value: ValueId) -> Option<&'a Op> {
        self.makers.get(&value).copied().filter(|op| op.name == "add")
    }

    /// The first sum that a value goes into.
    fn added_in(&self, value: ValueId) -> Option<&'a Op> {
        self.uses_of(value).iter().find_map(|&(by, _)| self.sum(by))
    }

    /// Where a value goes, in whatever layout.
    fn converted(&self, mut value: ValueId) -> ValueId {
        while let &[(by, _)] = self.uses_of(value)
            && self.conversion(by).is_some()
        {
            value = by;
        }
        value
    }

    /// Where it comes from.
    fn unconverted(&self, mut value: ValueId) -> ValueId {
        while let Some(op) = self.conversion(value) {
            value = op.operands[0];
        }
        value
    }

    fn is_within(&self, value: ValueId) -> bool {
        self.body.params.contains(&value) || self.makers.contains_key(&value)
    }

    /// Whether a value is the same in all rounds of the loop, wherever it is made.
    fn is_invariant(&self, value: ValueId) -> bool {
        let mut open = vec![value];
        let mut seen = FxHashSet::default();
        while let Some(value) = open.pop() {
            work::spend(1);
            match self.makers.get(&value) {
                Some(op) if op.effect != Effect::None || !op.kind.blocks().is_empty() => return false,
                Some(op) => open.extend(op.operands.iter().filter(|&&operand| seen.insert(operand))),
                None if self.body.params.contains(&value) => return false,
                None => {}
            }
        }
        true
    }

    /// From the round before, and nothing else is done with it.
    fn is_carried_in(&self, value: ValueId) -> bool {
        self.body.params.contains(&value) && self.uses_of(value).len() == 1
    }

    fn is_yielded(&self, value: ValueId) -> bool {
        self.body.ops.last().is_some_and(|last| matches!(last.kind, Kind::Yield) && last.operands.contains(&value))
    }
}

impl Stager<'_> {
    /// The buffers of a loop's loads, which are there all through it. `is_plain`: the author asks for nothing, and it has more rounds than stages.
    pub(super) fn copies(
        &mut self,
        at: Site,
        body: &mut Block,
        looped: &mut Loop,
        stages: i64,
        is_plain: bool,
    ) -> Vec<Op> {
        let stages = u64::try_from(stages).unwrap_or(1);
        let index = body.params.first().copied();
        let mut made = Vec::new();
        let is_plain = is_plain && !self.loads_in_a_row(body);
        let products: Vec<Taker> = body
            .ops
            .iter()
            .filter_map(|op| Some((*op.results.first()?, op.operands.clone(), self.product(op)?.clone())))
            .collect();
        // `tcgen05` tells two barriers in turn that it is done.
        looped.overlaps = self.overlaps(body, looped, &products);
        looped.depths = self.depths(body);
        for op in &mut body.ops {
            let Some(&overlap) = op.results.first().and_then(|result| looped.overlaps.get(result)) else { continue };
            let size = match overlap {
                // Of tasks, the results of a product are waited for a round later.
                Holds::Surely if self.program.wants_tasks => {
                    Bytes::Between(2 * BARRIER_BYTES, 3 * BARRIER_BYTES, Reason::new(COPIES))
                }
                Holds::Surely => Bytes::Exactly(2 * BARRIER_BYTES),
                Holds::Perhaps => Bytes::Between(0, 3 * BARRIER_BYTES, Reason::new(COPIES)),
                Holds::Not => continue,
            };
            let barriers = (vec![2, 1], "int64", size, 16, Use::Barrier);
            let barriers = self.buffer(at, "barriers of `tl.dot`", barriers);
            op.operands.extend(&barriers.results);
            made.push(barriers);
        }
        let mut group = Group::default();
        for op in &mut body.ops {
            if op.operands.iter().any(|operand| group.loads.contains(operand)) && !self.is_folded(op) {
                group = Group::default();
            }
            let Some(&load) = op.results.first() else { continue };
            let Some(staging) = looped.staging(load).filter(|staging| staging.holds != Holds::Not) else { continue };
            let bits = self.scalar_bits(load).max(8);
            let scalar = || Tile { shape: vec![1], bits, dtype: if bits == 32 { "int32" } else { "int64" } };
            let tile = self.program.loads.get(&load).map_or_else(scalar, |load| load.tile.clone());
            let bytes = tile.bytes();
            let (least, most) = self.kept(load, staging, looped, &products, stages);
            // What is loaded again in another layout has buffers of its own.
            let threads = u64::from(self.machine.hardware.lanes()) * self.machine.warps;
            let is_small = elements(&tile.shape) < threads;
            let again = if is_small && staging.holds == Holds::Perhaps { 2 } else { 1 };
            let all = most.saturating_mul(bytes).saturating_mul(again);
            // Instructions that read operands from shared memory need one there in any case.
            let is_read_there = self.is_operand_only(op)
                && self.sources.get(&load).is_some_and(|it| it.is_direct)
                && !self.may_be_in_tensor_memory(load);
            // Those of other products may be there at other times.
            let is_of_first =
                self.products_of(load, &products).next().map(|it| it.0) == products.first().map(|it| it.0);
            let once = if is_read_there && is_of_first && !products.is_empty() { bytes } else { 0 };
            let size = match staging.holds {
                Holds::Surely if least == most => self.padded(all),
                Holds::Surely => {
                    Bytes::Between(least.saturating_mul(bytes), self.padded(all).high(), Reason::new(COPIES))
                }
                _ => Bytes::Between(once, self.padded(all.max(bytes.saturating_mul(2))).high(), Reason::new(COPIES)),
            };
            let name = format!("{most} pipeline copies of an operand of tl.dot");
            let buffers = if let Kind::StagedLoad { staging, barrier } = op.kind {
                // What is loaded through a descriptor has a buffer in any case.
                let ring = most.saturating_mul(BARRIER_BYTES);
                let is_known = matches!(size, Bytes::Exactly(_));
                let tile_size = if is_known { size } else { Bytes::Between(bytes, all, Reason::new(COPIES)) };
                let barrier_size = self.waited_for(&mut group, load, most, is_known, &products);
                self.resize(staging, tile_size, &name);
                self.program.call(staging, load, most);
                self.resize(barrier, barrier_size.unwrap_or(Bytes::Between(0, ring, Reason::new(ORDER))), BARRIERS);
                self.program.buffers[barrier.0 as usize].at = at;
                op.kind = Kind::Plain;
                vec![self.allocation(op.at, staging), self.allocation(op.at, barrier)]
            } else {
                let shape = std::iter::once(most).chain(tile.shape.iter().copied()).collect();
                let alignment = self.alignment(load, &tile);
                let made = self.buffer(op.at, &name, (shape, tile.dtype, size, alignment, Use::Staging));
                self.program.call(BufferId(self.program.buffers.len() as u32 - 1), load, most);
                vec![made]
            };
            if let Some(Kind::Allocation(id)) = buffers.first().map(|it| &it.kind)
                && let Some(index) = index.filter(|_| is_plain)
                && self.is_held(load, staging, stages)
            {
                self.program.held.insert(*id, (index, (stages - 1).saturating_mul(bytes)));
            }
            for buffer in buffers {
                op.operands.extend(&buffer.results);
                made.push(buffer);
            }
        }
        made
    }

    /// Whether each Triton from 3.2 on keeps a copy of a load for each round that is loaded ahead, as long as the loop lasts. That holds of what one product
    /// takes as it is loaded. Before 3.7 there are not more of them for `wgmma` and `tcgen05`, which have none of what they do not take either way round.
    fn is_held(&self, load: ValueId, staging: Staging, stages: u64) -> bool {
        let (takers, has_others) = self.takers(load);
        let ([taker], Some(of)) = (takers.as_slice(), self.program.loads.get(&load)) else { return false };
        let product = &self.program.products[&taker.product];
        let is_either_way = of.tile.bits == 16 || !self.machine.unit(product).is_asynchronous();
        let is_taken_as_it_is = !has_others && !taker.is_computed && product.parts == 1 && is_either_way;
        let is_for_each_round = staging.holds == Holds::Surely && staging.rounds == (stages - 1, stages - 1);
        is_taken_as_it_is
            && is_for_each_round
            && !self.machine.is_amd()
            && !self.program.wants_tasks
            && !self.program.is_unrolled
    }

    /// A left side of `tcgen05` that threads have by rows may go from them to tensor memory (`PromoteLHSToTMem.cpp`).
    fn may_be_in_tensor_memory(&self, load: ValueId) -> bool {
        let is_left = |taker: &super::latencies::Taker| {
            let product = self.program.products.get(&taker.product);
            taker.nth == 0 && product.is_some_and(|product| self.machine.is_in_tensor_memory(product))
        };
        self.is_by_rows(load) && self.takers(load).0.iter().any(is_left)
    }

    /// Whether threads may have rows of what is loaded.
    pub(super) fn is_by_rows(&self, load: ValueId) -> bool {
        self.program.loads.get(&load).is_some_and(|load| load.runs_along != Some(1))
    }

    /// Of the copies of a load.
    fn alignment(&self, load: ValueId, tile: &Tile) -> u64 {
        let is_in_place = [Unit::Wgmma, Unit::Tcgen05].iter().any(|&unit| !self.read_in_place(load, unit).0.is_empty());
        let along = self.program.loads.get(&load).and_then(|load| load.runs_along);
        let row = along.and_then(|along| tile.shape.get(along)).or(tile.shape.last()).copied().unwrap_or(1);
        match is_in_place {
            true => in_place_alignment(row.saturating_mul(u64::from(tile.bits)) / 8),
            false => OF_REGISTERS,
        }
    }

    /// The barriers of a load that joins a group; `None` where it is not known whether it does.
    fn waited_for(
        &self,
        group: &mut Group,
        load: ValueId,
        copies: u64,
        is_known: bool,
        products: &[Taker],
    ) -> Option<Bytes> {
        let joins = !group.loads.is_empty() && group.copies == copies;
        // Loads for one product are waited for together; for others that depends on when those are computed.
        let takers = self.takers(load).0;
        let is_theirs = |other: &ValueId| {
            self.takers(*other).0.iter().any(|other| takers.iter().any(|taker| taker.product == other.product))
        };
        let was_sure = group.loads.is_empty() || group.is_sure && group.loads.iter().any(is_theirs);
        if !joins {
            *group = Group { copies, is_sure: true, ..Group::default() };
        }
        group.loads.insert(load);
        // Elements of 8 bits are cast for `mma`, and what is cast is waited for by itself.
        let is_cast =
            |(_, _, product): &Taker| product.operands[0].bits <= 8 && !self.machine.unit(product).is_asynchronous();
        let (takers, has_others) = self.uses_of(load);
        let is_told = is_known && !has_others && takers > 0 && !self.products_of(load, products).any(is_cast);
        let is_told = is_told && !self.is_brought_again(load);
        let result = match (was_sure && is_told, joins) {
            (false, _) => None,
            (true, true) => Some(Bytes::Exactly(0)),
            (true, false) => Some(Bytes::Exactly(copies.saturating_mul(BARRIER_BYTES))),
        };
        group.is_sure = result.is_some();
        // It is brought to registers right behind where it is loaded, which ends the group.
        if is_told && self.is_brought_at_once(load) {
            *group = Group::default();
        }
        result
    }

    /// How many products take a load, and whether anything else does.
    fn uses_of(&self, load: ValueId) -> (usize, bool) {
        let (takers, has_others) = self.takers(load);
        (takers.len(), has_others)
    }

    /// A view of a tile in shared memory, which is no use of it.
    fn is_folded(&self, op: &Op) -> bool {
        op.results.first().is_some_and(|result| self.turned.contains(result))
    }

    /// Products that take a load, at once or after something is computed of it.
    fn products_of<'t>(&'t self, load: ValueId, products: &'t [Taker]) -> impl Iterator<Item = &'t Taker> {
        products.iter().filter(move |(_, operands, _)| {
            operands.iter().take(2).any(|operand| self.sources.get(operand).is_some_and(|it| it.load == load))
        })
    }

    /// Copies of a load that a loop of so many stages keeps, at least and at most.
    fn kept(&self, load: ValueId, staging: Staging, looped: &Loop, products: &[Taker], stages: u64) -> (u64, u64) {
        let before = stages - 1;
        if self.machine.is_padded() {
            return (0, stages);
        }
        if self.machine.is_amd() {
            // Products that take each other's results are scheduled by rules of their own.
            return if products.len() == 1 { (before, before) } else { (1.min(before), before.max(2)) };
        }
        let (least, most) = staging.rounds;
        let (more_least, more_most) = self.more_copies(load, looped);
        (least + more_least, most + more_most)
    }

    /// Copies that are read while others are loaded: of operands that a product reads in shared memory until it is waited for.
    fn more_copies(&self, load: ValueId, looped: &Loop) -> (u64, u64) {
        let (of_wgmma, has_others) = self.read_in_place(load, Unit::Wgmma);
        let (of_tcgen05, _) = self.read_in_place(load, Unit::Tcgen05);
        if !of_wgmma.is_empty() {
            // What is brought to registers too, or by another operation, is not read in place by it alone; where products follow each other,
            // the one that reads it in place may still be waited for later.
            let is_open = has_others || self.is_brought_again(load);
            return if is_open { (0, u64::from(!has_others || self.program.products.len() > 2)) } else { (1, 1) };
        }
        let overlaps = of_tcgen05.iter().filter_map(|product| looped.overlaps.get(product));
        // What the first product of a chain takes and the last one as well is there until that is waited for.
        let depths = || of_tcgen05.iter().filter_map(|product| looped.depths.get(product)).copied();
        let spread = depths().max().unwrap_or(0) - depths().min().unwrap_or(0);
        let (least, most) = overlaps.fold((0, 0), |(least, most), &holds| {
            (least.max(u64::from(holds == Holds::Surely)), most.max(u64::from(holds != Holds::Not)))
        });
        let least = if self.is_brought_again(load) { 0 } else { least };
        (least, most + spread + u64::from(self.program.wants_tasks && most > 0))
    }

    /// How many products of tensor memory follow each other from each one of a loop on.
    fn depths(&self, body: &Block) -> FxHashMap<ValueId, u64> {
        let mut depths: FxHashMap<ValueId, u64> = FxHashMap::default();
        for op in body.ops.iter().rev() {
            work::spend(1);
            let of_users = op.results.iter().filter_map(|result| depths.get(result)).copied().max().unwrap_or(0);
            let is_one = self.product(op).is_some_and(|product| self.machine.unit(product) == Unit::Tcgen05);
            let depth = of_users + u64::from(is_one);
            let mut of_op = op.operands.clone();
            super::latencies::nested_operands(op, &mut of_op);
            for value in of_op.into_iter().chain(op.results.first().copied()) {
                let known = depths.entry(value).or_default();
                *known = depth.max(*known);
            }
        }
        depths
    }

    /// Whether the rounds of each product of tensor memory overlap (`AssignMMALatencies`).
    fn overlaps(&self, body: &Block, looped: &Loop, products: &[Taker]) -> FxHashMap<ValueId, Holds> {
        let unit = |product: &Product| self.machine.unit(product);
        // Where tensor cores take operands from registers as well, nothing overlaps.
        let is_mixed = products.iter().any(|(_, _, product)| unit(product) != Unit::Tcgen05);
        let flow = Flow::of(body, &self.uses);
        let together = self.fates_together(products, &flow);
        let keeps = body.params.first().is_some_and(|index| self.program.keeping_accumulators.contains(index));
        let mut staged = looped.staged.iter().flatten();
        let is_bare = staged.all(|(_, staging)| staging.holds == Holds::Not);
        let before = rescaled_within(products, &flow);
        let keeps_invariants = body.params.first().is_some_and(|index| self.program.keeping_invariants.contains(index));
        let mut found = FxHashMap::default();
        for (id, operands, product) in products.iter().filter(|(_, _, product)| unit(product) == Unit::Tcgen05) {
            work::spend(1);
            let sides = operands.iter().take(2).enumerate().map(|(nth, &operand)| {
                let (root, _) = self.root(operand);
                match looped.staging(root).map(|staging| staging.holds) {
                    _ if !flow.is_within(root) => Holds::Surely,
                    // It is computed before the loop, and brought to shared memory in it.
                    _ if !keeps_invariants && flow.is_invariant(root) => Holds::Perhaps,
                    Some(Holds::Surely) if nth == 0 && self.may_be_in_tensor_memory(root) => Holds::Perhaps,
                    Some(holds) if product.parts == 1 => holds,
                    _ => Holds::Not,
                }
            });
            let sides: Vec<Holds> = sides.collect();
            let fate = together.get(id).copied().unwrap_or_else(|| self.fate(*id, operands, &flow));
            let holds = match fate {
                _ if is_mixed => Holds::Not,
                // With one accumulator, what starts anew waits for the round before, and what is rescaled may.
                Fate::Fresh | Fate::Other | Fate::Rescaled if keeps => Holds::Perhaps,
                // Several rounds in one have accumulators of each other.
                Fate::Rescaled if self.program.is_unrolled => Holds::Perhaps,
                // They follow each other, and then depend on loads as a chain does.
                Fate::Carried if self.program.is_unrolled && is_bare => Holds::Perhaps,
                Fate::Carried | Fate::Rescaled => Holds::Surely,
                // Of a chain, the rounds of all overlap where a load of one is staged, and may where all is loaded before it.
                Fate::Chained if is_bare && is_loaded_behind(body, *id) => Holds::Not,
                Fate::Chained if is_bare => Holds::Perhaps,
                Fate::Summed => Holds::Perhaps,
                Fate::Other if before.contains(id) => Holds::Perhaps,
                _ if sides.iter().all(|&side| side == Holds::Surely) => Holds::Surely,
                Fate::Fresh if sides.contains(&Holds::Not) => Holds::Not,
                _ => Holds::Perhaps,
            };
            found.insert(*id, holds);
        }
        found
    }

    fn fate(&self, id: ValueId, operands: &[ValueId], flow: &Flow) -> Fate {
        let is_handed_on = |value: ValueId| {
            let value = flow.converted(value);
            flow.uses_of(value).len() == 1 && flow.is_yielded(value)
        };
        // Of a loop that is unrolled, one round goes on with the result of the other one.
        let is_of_product = |value: ValueId| {
            let is_product = |value: &ValueId| self.program.products.contains_key(&flow.unconverted(*value));
            is_product(&value) || flow.sum(value).is_some_and(|by| by.operands.iter().any(is_product))
        };
        let is_changed = |value: ValueId| flow.makers.contains_key(&value) && !is_of_product(value);
        let fate_of = |acc: ValueId| match flow.unconverted(acc) {
            acc if flow.is_carried_in(acc) => Some(Fate::Carried),
            acc if is_changed(acc) => Some(Fate::Rescaled),
            _ => None,
        };
        let acc = operands.get(2).copied();
        if let Some(fate) = acc.filter(|_| is_handed_on(id)).and_then(fate_of) {
            return fate;
        }
        let result = flow.converted(id);
        if acc.is_none()
            && let &[(by, _)] = flow.uses_of(result)
            && let Some(sum) = flow.sum(by).filter(|_| is_handed_on(by))
            && let Some(fate) = sum.operands.iter().filter(|&&it| it != result).find_map(|&it| fate_of(it))
        {
            return fate;
        }
        // What is carried may be used for other things as well.
        let sum = flow.added_in(result);
        let is_param = |value: &ValueId| flow.body.params.contains(&flow.unconverted(*value));
        let starts_within =
            acc.is_some_and(|acc| flow.is_within(acc)) || sum.is_some_and(|sum| sum.operands.iter().any(is_param));
        if starts_within || flow.is_yielded(id) { Fate::Other } else { Fate::Fresh }
    }

    /// Of products that add to one another's results.
    fn fates_together(&self, products: &[Taker], flow: &Flow) -> FxHashMap<ValueId, Fate> {
        // What a product adds to, and what comes of it.
        let step = |(id, operands, _): &Taker| {
            let result = flow.converted(*id);
            let of_sum = flow.added_in(result).and_then(|sum| {
                let other = sum.operands.iter().find(|&&it| it != result)?;
                Some((flow.unconverted(*other), sum.results[0]))
            });
            operands.get(2).map(|&acc| (flow.unconverted(acc), *id)).or(of_sum)
        };
        let steps: Vec<_> = products.iter().filter_map(|product| Some((product.0, step(product)?))).collect();
        let by_start: FxHashMap<ValueId, ValueId> = steps.iter().map(|(_, step)| *step).collect();
        let made_from: FxHashMap<ValueId, ValueId> = steps.iter().map(|(_, (from, to))| (*to, *from)).collect();
        let end = |mut value: ValueId, next: &FxHashMap<ValueId, ValueId>| {
            while let Some(&further) = next.get(&value) {
                work::spend(1);
                value = further;
            }
            value
        };
        let mut found = FxHashMap::default();
        for &(id, (from, to)) in &steps {
            let (first, last) = (end(from, &made_from), end(to, &by_start));
            if (first, last) == (from, to) && !self.program.products.contains_key(&from) {
                continue;
            }
            let is_chain = flow.is_carried_in(first) && flow.is_yielded(flow.converted(last));
            // What is read before the next one adds to it is waited for, in the next round as in this one.
            let is_read = flow.uses_of(flow.converted(to)).len() > 1;
            found.insert(id, if is_chain && !is_read { Fate::Chained } else { Fate::Summed });
        }
        // What another one adds to, without adding to anything itself.
        for (id, ..) in products {
            if by_start.contains_key(id) {
                found.entry(*id).or_insert(Fate::Summed);
            }
        }
        found
    }

    /// The compiler for AMD's newer devices leaves bytes free between rows.
    pub(super) fn padded(&self, bytes: u64) -> Bytes {
        match self.machine.is_padded() {
            true => Bytes::Between(bytes, bytes.saturating_add(bytes / 8), Reason::new(super::PADDED)),
            false => Bytes::Exactly(bytes),
        }
    }
}

/// Whether something is loaded behind a product in the same round (`hasLoadsAfterMMA` in `MMAv5PipelineUtility.cpp`).
fn is_loaded_behind(body: &Block, product: ValueId) -> bool {
    let behind = body.ops.iter().skip_while(|op| op.results.first() != Some(&product));
    behind.into_iter().any(super::latencies::is_load)
}

/// Products whose result is changed before another one of the same round adds to it.
fn rescaled_within(products: &[Taker], flow: &Flow) -> FxHashSet<ValueId> {
    let mut seen = FxHashSet::default();
    let mut open: Vec<ValueId> = Vec::new();
    for (id, operands, _) in products {
        let result = flow.converted(*id);
        open.extend(operands.get(2));
        open.extend(flow.added_in(result).into_iter().flat_map(|sum| &sum.operands).filter(|&&it| it != result));
    }
    while let Some(value) = open.pop() {
        work::spend(1);
        if let Some(op) = flow.makers.get(&value)
            && seen.insert(value)
        {
            open.extend(&op.operands);
            super::latencies::nested_operands(op, &mut open);
        }
    }
    seen
}

const BARRIERS: &str = "barriers of what a loop loads";

//! Loops of TLX whose rounds the compiler lets overlap on NVIDIA's devices: products in tensor memory get barriers, and loads buffers, of which the
//! source shows nothing (`lib/Dialect/TritonGPU/Transforms/Pipeliner/{AssignLatencies,ScheduleLoops,LowerLoops,MMAv5PipelineUtility}.cpp`).

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::finding::Reason;
use tilefit_python::work;

use super::program::{
    Adds, Block, BufferId, Bytes, Effect, Kind, Memory, Op, Program, Site, TensorProduct, Type, Use, ValueId, bytes_of,
};

const BARRIER_BYTES: u64 = 8;
/// Bits that a thread must load side by side for a load to be copied in the background.
const LEAST_ACCESS: u64 = 32;
/// A product and what waits for it are at most one stage apart.
const BARRIERS: u64 = 2;

const LOADS: &str = "which loads of a loop the compiler keeps copies of follows from what it knows of pointers";
const PRODUCTS: &str = "whether the compiler lets products of a loop overlap follows from loads in it";

/// `stages`: of loops that do not say how many they have. `flattens`: loops whose author asks for it are made one with those in them, and say
/// nothing then.
pub(super) fn overlap(program: &mut Program, stages: i64, flattens: bool) {
    let mut body = std::mem::take(&mut program.body);
    let mut arguments = Vec::new();
    body.each(&mut |op| {
        if op.name == "argument" {
            arguments.extend(&op.results);
        }
    });
    let mut overlapping = Overlapping { program, stages, arguments, flattens, is_flat: false };
    overlapping.block(&mut body);
    program.body = body;
}

struct Overlapping<'p> {
    program: &'p mut Program,
    stages: i64,
    /// Those of the kernel, and of the blocks around.
    arguments: Vec<ValueId>,
    flattens: bool,
    /// The loop around is made one with those in it.
    is_flat: bool,
}

/// What is known to happen, or not to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Surely,
    Perhaps,
}

/// What the compiler does to a loop.
struct Schedule {
    holds: Holds,
    /// Products whose accumulator is the same in each round, by their place in the body, with how many barriers they have at least and at most.
    products: Vec<(usize, (u64, u64))>,
    /// Loads by their place in the body.
    loads: BTreeMap<usize, Holds>,
    /// Copies of what is loaded.
    copies: u64,
}

impl Overlapping<'_> {
    fn block(&mut self, block: &mut Block) {
        let around = self.arguments.len();
        self.arguments.extend(&block.params);
        let mut ops = Vec::with_capacity(block.ops.len());
        for mut op in std::mem::take(&mut block.ops) {
            work::spend(1);
            let mut made = Vec::new();
            if let Kind::For { stages, body, .. } = &mut op.kind {
                let told = stages.filter(|_| !self.is_flat);
                if let Some(schedule) = self.schedule(body, told.unwrap_or(self.stages), told.is_some()) {
                    made = self.give(body, op.at, schedule);
                }
                let is_flat = self.flattens && self.program.flattened.contains(&body.params[0]);
                let around = std::mem::replace(&mut self.is_flat, is_flat);
                self.block(body);
                self.is_flat = around;
            } else {
                op.kind.blocks_mut().into_iter().for_each(|inner| self.block(inner));
            }
            let freed: Vec<Op> = made.iter().map(freed).collect();
            ops.extend(made);
            ops.push(op);
            ops.extend(freed);
        }
        block.ops = ops;
        self.arguments.truncate(around);
    }

    /// `None` where the rounds of a loop do not overlap.
    fn schedule(&self, body: &Block, stages: i64, is_told: bool) -> Option<Schedule> {
        let stages = u64::try_from(stages).ok().filter(|&stages| stages > 1)?;
        let hands_on = |value: &ValueId| body.params.contains(value) || self.arguments.contains(value);
        let yields = body.ops.last().map(|last| last.operands.as_slice()).unwrap_or_default();
        if body.ops.iter().any(is_loop) || body.is_kept_in_order() || yields.iter().any(hands_on) {
            return None;
        }
        let within = defined_in(body);
        let loads = self.loads(body, stages, is_told);
        let keeps = body.params.first().is_some_and(|index| self.program.keeping_accumulators.contains(index));
        let mut products = Vec::new();
        let mut holds = loads.values().copied().max_by_key(|&holds| holds == Holds::Surely);
        for (place, op) in body.ops.iter().enumerate() {
            let Some((product, accumulator)) = overlapping_product(op, &within) else { continue };
            let wants = match product.adds {
                _ if keeps => None,
                Adds::Never => Some(Holds::Surely),
                Adds::If(flag) if within.contains(&op.operands[flag]) => Some(Holds::Surely),
                Adds::Unknown => Some(Holds::Perhaps),
                Adds::Always | Adds::If(_) => None,
            };
            if holds != Some(Holds::Surely) {
                holds = wants.or(holds);
            }
            products.push((place, barriers(body, place, accumulator, loads.is_empty())));
        }
        Some(Schedule { holds: holds?, products, loads, copies: stages - 1 })
    }

    /// Loads that lead to a product or to tensor memory, and all others where the author asks for it.
    fn loads(&self, body: &Block, stages: u64, is_told: bool) -> BTreeMap<usize, Holds> {
        let defined: FxHashMap<ValueId, usize> =
            body.ops.iter().enumerate().flat_map(|(at, op)| op.results.iter().map(move |&it| (it, at))).collect();
        let mut levels: BTreeMap<usize, FxHashSet<u64>> = BTreeMap::new();
        let mut leads_to_product: FxHashSet<usize> = FxHashSet::default();
        for op in &body.ops {
            let is_product = matches!(op.kind, Kind::TensorProduct(_)) || op.name == "dot";
            if !(is_product || op.name == "tmem_store" || is_told && !is_load(op)) {
                continue;
            }
            let mut seen = FxHashSet::default();
            let mut open: Vec<(ValueId, u64)> = operands(op).into_iter().map(|operand| (operand, 0)).collect();
            while let Some((value, level)) = open.pop() {
                work::spend(1);
                let Some(&at) = defined.get(&value).filter(|&&at| seen.insert(at)) else { continue };
                let mut level = level;
                if is_load(&body.ops[at]) {
                    levels.entry(at).or_default().insert(level);
                    leads_to_product.extend(is_product.then_some(at));
                    level += 1;
                }
                open.extend(operands(&body.ops[at]).into_iter().map(|operand| (operand, level)));
            }
        }
        let are_alike = levels.values().all(|levels| levels.len() == 1 && levels.contains(&0));
        let mut loads = BTreeMap::new();
        for (&at, levels) in &levels {
            let (least, most) = self.width(&body.ops[at]);
            if most < LEAST_ACCESS || levels.iter().all(|&level| level + 1 >= stages) {
                continue;
            }
            let is_sure = least >= LEAST_ACCESS && are_alike && !leads_to_product.contains(&at);
            loads.insert(at, if is_sure { Holds::Surely } else { Holds::Perhaps });
        }
        loads
    }

    /// Bits that a load takes side by side, at least and at most.
    fn width(&self, op: &Op) -> (u64, u64) {
        let Some(result) = op.results.first() else { return (0, 0) };
        match (self.program.loads.get(result), self.program.types[result.0 as usize]) {
            (Some(load), _) => load.width,
            (None, Type::Scalar { bits }) => (u64::from(bits), u64::from(bits)),
            (None, _) => (64, 64),
        }
    }

    /// Makes what a loop needs to overlap. Returns what makes it, before the loop.
    fn give(&mut self, body: &mut Block, at: Site, schedule: Schedule) -> Vec<Op> {
        let Schedule { holds, products, loads, copies } = schedule;
        let mut made = Vec::new();
        for (place, (least, most)) in products {
            let mut least = least;
            if let Kind::TensorProduct(product) = &mut body.ops[place].kind {
                // Where it does not overlap, the compiler waits for it all the same.
                if holds == Holds::Perhaps {
                    least = u64::from(product.is_waited_for);
                }
                product.is_waited_for = false;
            }
            let size = between(least * BARRIER_BYTES, most * BARRIER_BYTES, PRODUCTS);
            let barriers = self.buffer(at, "barriers of `async_dot`", (vec![most, 1], "int64", size, Use::Barrier));
            body.ops[place].operands.extend(&barriers.results);
            made.push(barriers);
        }
        let mut rings = Vec::new();
        for (place, holds) in loads {
            let op = &body.ops[place];
            let Some(&result) = op.results.first() else { continue };
            // It has one already, as an operand of `tl.dot`.
            if op.operands.iter().any(|&it| matches!(self.program.types[it.0 as usize], Type::Shared { .. })) {
                continue;
            }
            let (shape, bits, dtype) = match (self.program.loads.get(&result), self.program.types[result.0 as usize]) {
                (Some(load), _) => (load.tile.shape.clone(), load.tile.bits, load.tile.dtype),
                (None, Type::Scalar { bits }) => (vec![1], bits, "int32"),
                (None, _) => (vec![1], 64, "int64"),
            };
            let bytes = bytes_of(&shape, bits);
            let size = match holds {
                Holds::Surely => Bytes::Exactly(copies.saturating_mul(bytes)),
                Holds::Perhaps => Bytes::Between(0, (copies + 1).saturating_mul(bytes), Reason::new(LOADS)),
            };
            let at_load = op.at;
            let made_here = if let Kind::StagedLoad { staging, barrier } = op.kind {
                let least = if holds == Holds::Surely { bytes.saturating_mul(copies) } else { bytes };
                self.resize(staging, between(least, size.high(), LOADS));
                let ring = (copies + 1) * BARRIER_BYTES;
                // Loads that are waited for together share barriers.
                let barriers = match (holds, rings.is_empty()) {
                    (Holds::Surely, true) => Bytes::Exactly(copies * BARRIER_BYTES),
                    _ => Bytes::Between(0, ring, Reason::new(LOADS)),
                };
                self.resize(barrier, barriers);
                self.program.buffers[barrier.0 as usize].at = at;
                body.ops[place].kind = Kind::Plain;
                let ring = self.allocation(at, barrier);
                body.ops[place].operands.extend(&ring.results);
                rings.push(ring);
                self.allocation(at_load, staging)
            } else {
                let shape = std::iter::once(copies).chain(shape).collect();
                let name = format!("{copies} pipeline copies of a load");
                let made = self.buffer(at_load, &name, (shape, dtype, size, Use::Staging));
                self.program.call(BufferId(self.program.buffers.len() as u32 - 1), result, copies);
                made
            };
            body.ops[place].operands.extend(&made_here.results);
            made.push(made_here);
        }
        made.extend(rings);
        made
    }

    fn resize(&mut self, id: BufferId, to: Bytes) {
        if let Memory::Shared { size, fork, .. } = &mut self.program.buffers[id.0 as usize].memory {
            *fork = to.clone();
            *size = to;
        }
    }

    fn buffer(&mut self, at: Site, name: &str, (shape, dtype, size, use_): (Vec<u64>, &'static str, Bytes, Use)) -> Op {
        // Neither barriers nor what is loaded into registers is laid out for instructions of matrices.
        let id = self.program.insert((name, at), (shape, dtype), (size, 16), use_);
        self.allocation(at, id)
    }

    fn allocation(&mut self, at: Site, id: BufferId) -> Op {
        self.program.types.push(Type::Shared { rank: 2 });
        let value = ValueId(self.program.types.len() as u32 - 1);
        Op {
            name: "staging",
            at,
            effect: Effect::Allocates,
            operands: Vec::new(),
            results: vec![value],
            identity: u64::from(id.0),
            kind: Kind::Allocation(id),
        }
    }
}

fn between(least: u64, most: u64, reason: &str) -> Bytes {
    if least == most { Bytes::Exactly(most) } else { Bytes::Between(least, most, Reason::new(reason)) }
}

fn is_loop(op: &Op) -> bool {
    matches!(op.kind, Kind::For { .. } | Kind::While { .. })
}

fn is_load(op: &Op) -> bool {
    op.name == "load" || matches!(op.kind, Kind::StagedLoad { .. })
}

/// What an operation, or anything in it, is given.
fn operands(op: &Op) -> Vec<ValueId> {
    let mut all = op.operands.clone();
    for block in op.kind.blocks() {
        block.each(&mut |inner| all.extend(&inner.operands));
    }
    all
}

fn defined_in(body: &Block) -> FxHashSet<ValueId> {
    let mut within: FxHashSet<ValueId> = body.params.iter().copied().collect();
    body.each(&mut |op| {
        within.extend(&op.results);
        op.kind.blocks().into_iter().for_each(|inner| within.extend(&inner.params));
    });
    within
}

/// A product that may overlap with itself: it goes into the same accumulator in each round.
fn overlapping_product(op: &Op, within: &FxHashSet<ValueId>) -> Option<(TensorProduct, ValueId)> {
    let Kind::TensorProduct(product) = op.kind else { return None };
    let accumulator = *op.operands.get(product.accumulator)?;
    (!within.contains(&accumulator)).then_some((product, accumulator))
}

/// Barriers of a product, at least and at most: one where the accumulator is loaded behind it, because that waits in the same round.
fn barriers(body: &Block, place: usize, accumulator: ValueId, is_alone: bool) -> (u64, u64) {
    let loads = |op: &Op| op.name == "tmem_load" && op.operands.first() == Some(&accumulator);
    match body.ops[place..].iter().any(loads) {
        true if is_alone => (1, 1),
        // It may be that it is loaded a stage later.
        true => (1, BARRIERS),
        false => (BARRIERS, BARRIERS),
    }
}

/// Lets go of a buffer.
fn freed(alloc: &Op) -> Op {
    Op {
        name: "local_dealloc",
        effect: Effect::Writes,
        operands: alloc.results.clone(),
        results: Vec::new(),
        kind: Kind::Plain,
        ..alloc.clone()
    }
}

/// Gives products for which the compiler waits a barrier each, where they stand (`lib/Dialect/TritonNvidiaGPU/Transforms/MMALowering.cpp`).
pub(super) fn wait_for_products(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    wait_in(&mut body, program);
    program.body = body;
}

fn wait_in(block: &mut Block, program: &mut Program) {
    let mut ops = Vec::with_capacity(block.ops.len());
    for mut op in std::mem::take(&mut block.ops) {
        op.kind.blocks_mut().into_iter().for_each(|inner| wait_in(inner, program));
        let Kind::TensorProduct(TensorProduct { is_waited_for: true, .. }) = op.kind else {
            ops.push(op);
            continue;
        };
        let size = Bytes::Exactly(BARRIER_BYTES);
        let mut maker =
            Overlapping { program: &mut *program, stages: 0, arguments: Vec::new(), flattens: false, is_flat: false };
        let made = maker.buffer(op.at, "barrier of `async_dot`", (vec![1], "int64", size, Use::Barrier));
        op.operands.extend(&made.results);
        let freed = freed(&made);
        ops.extend([made, op, freed]);
    }
    block.ops = ops;
}

//! Products of plain Triton (`tl.dot`): the compiler brings their operands to shared memory, and keeps several copies of what a loop loads for them
//! (`lib/Dialect/TritonGPU/Transforms/{AccelerateMatmul,Pipeliner/AssignLatencies,Pipeliner/LowerLoops}.cpp`). Neither is in the source.
//!
//! What is known to go one way has a size, all else lies between what is needed in any case and what the compiler takes at most.

use std::collections::{HashMap, HashSet};

use super::layouts::{Hardware, Vendor};
use super::program::{
    Block, Buffer, BufferId, Bytes, Effect, Kind, Load, Memory, Op, Product, Program, Site, Tile, Type, Use, ValueId,
};
use crate::finding::Reason;
use crate::work;

/// What products run on.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    pub hardware: Hardware,
    pub warps: u64,
    /// Of loops that do not say how many they have.
    pub stages: i64,
}

/// The instructions that compute a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Operands in registers, or no tensor cores at all.
    Registers,
    /// `wgmma`: operands in shared memory, which it reads while the loop goes on.
    Wgmma,
    /// `tcgen05`: the same, and results in tensor memory.
    Tcgen05,
}

impl Unit {
    /// It reads its operands while the loop goes on, which takes a copy more.
    fn is_asynchronous(self) -> bool {
        self != Unit::Registers
    }
}

const COPIES: &str = "how many copies of what a loop loads the compiler keeps follows from what it knows of pointers and layouts";
const OPERAND: &str = "whether an operand of `tl.dot` goes through shared memory follows from layouts that the compiler chooses";
const ORDER: &str = "which loads of a loop share a barrier is the compiler's choice";

/// Bits that a thread must load side by side for a load to be copied in the background.
const LEAST_ACCESS: u64 = 32;
const BARRIER_BYTES: u64 = 8;

/// Gives the products of a program, and the loops around them, their memory.
pub fn stage(program: &mut Program, machine: &Machine) {
    let mut body = std::mem::take(&mut program.body);
    let mut stager = Stager {
        program,
        machine: *machine,
        uses: HashMap::new(),
        sources: HashMap::new(),
        turned: HashSet::new(),
    };
    stager.read(&body);
    stager.block(&mut body, None);
    program.body = body;
}

/// Whether products end in tensor memory.
pub fn has_results_in_tensor_memory(program: &Program, machine: &Machine) -> bool {
    program.products.values().any(|product| machine.unit(product) == Unit::Tcgen05)
}

impl Machine {
    fn is_amd(&self) -> bool {
        self.hardware.vendor == Vendor::Amd
    }

    fn unit(&self, product: &Product) -> Unit {
        let [one, two] = &product.operands;
        let (rows, columns) = (product.result.shape.iter().rev().nth(1), product.result.shape.last());
        let is_tiled = product.result.shape.len() == 2
            && rows.is_some_and(|rows| rows % 64 == 0)
            && columns.is_some_and(|columns| columns % 8 == 0)
            && one.bits == two.bits
            && one.bits <= 32;
        let is_reduced = one.bits < 32 || !product.is_exact;
        match self.hardware.capability {
            _ if self.is_amd() || !is_tiled || !is_reduced => Unit::Registers,
            90..100 if self.warps.is_multiple_of(4) => Unit::Wgmma,
            100..120 if matches!(self.warps, 4 | 8) => Unit::Tcgen05,
            _ => Unit::Registers,
        }
    }
}

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Surely,
    Perhaps,
    Not,
}

/// What a product's operand is made of.
#[derive(Debug, Clone, Copy)]
struct Source {
    load: ValueId,
    /// Nothing is computed in between.
    is_direct: bool,
}

/// A loop whose rounds overlap.
struct Overlapped {
    /// Loads of which copies are kept.
    staged: HashMap<ValueId, Holds>,
    /// What is computed in the loop.
    within: HashSet<ValueId>,
}

struct Stager<'p> {
    program: &'p mut Program,
    machine: Machine,
    /// The first results of what uses a value, and as which operand.
    uses: HashMap<ValueId, Vec<(ValueId, usize)>>,
    /// Of tensors that are made of one load.
    sources: HashMap<ValueId, Source>,
    /// Tensors that are others seen from another side.
    turned: HashSet<ValueId>,
}

impl Stager<'_> {
    fn read(&mut self, block: &Block) {
        for op in &block.ops {
            work::spend(1);
            let by = op.results.first().copied();
            for (nth, &operand) in op.operands.iter().enumerate() {
                self.uses.entry(operand).or_default().push((by.unwrap_or(ValueId(u32::MAX)), nth));
            }
            if let Some(result) = by {
                if self.program.loads.contains_key(&result) {
                    self.sources.insert(result, Source { load: result, is_direct: true });
                } else if let ([of], [_]) = (op.operands.as_slice(), op.results.as_slice())
                    && let Some(&source) = self.sources.get(of)
                {
                    let is_turned = op.name == "permute";
                    self.sources.insert(result, Source { is_direct: source.is_direct && is_turned, ..source });
                    if is_turned {
                        self.turned.insert(result);
                    }
                }
            }
            op.kind.blocks().into_iter().for_each(|inner| self.read(inner));
        }
    }

    fn block(&mut self, block: &mut Block, around: Option<&Overlapped>) {
        let mut ops = Vec::with_capacity(block.ops.len());
        for mut op in std::mem::take(&mut block.ops) {
            work::spend(1);
            match &mut op.kind {
                Kind::For { body, stages, .. } => {
                    let (stages, is_told) = (stages.unwrap_or(self.machine.stages), stages.is_some());
                    let overlapped = self.overlapped(body, stages, is_told);
                    let before = match &overlapped {
                        Some(overlapped) => self.copies(body, overlapped, stages),
                        None => Vec::new(),
                    };
                    self.block(body, overlapped.as_ref());
                    let freed: Vec<Op> = before.iter().filter_map(freed).collect();
                    ops.extend(before);
                    ops.push(op);
                    ops.extend(freed);
                }
                _ => {
                    for inner in op.kind.blocks_mut() {
                        self.block(inner, None);
                    }
                    let product = op.results.first().and_then(|result| self.program.products.get(result)).cloned();
                    match product {
                        Some(product) => self.operands(&mut ops, op, &product, around),
                        None => ops.push(op),
                    }
                }
            }
        }
        block.ops = ops;
    }

    /// What is known of the overlap of a loop's rounds; `None` where they do not.
    fn overlapped(&self, body: &Block, stages: i64, is_told: bool) -> Option<Overlapped> {
        let has_loops = body.ops.iter().any(has_loop);
        if stages < 2 || has_loops {
            return None;
        }
        let defined: HashMap<ValueId, &Op> =
            body.ops.iter().flat_map(|op| op.results.iter().map(move |&result| (result, op))).collect();
        let mut staged = HashMap::new();
        let products = body.ops.iter().filter(|op| self.product(op).is_some());
        let mut has_products = false;
        for op in products {
            has_products = true;
            for &operand in op.operands.iter().take(2) {
                self.candidates(operand, &defined, &mut staged);
            }
        }
        if !has_products && is_told {
            for op in &body.ops {
                let width = op.results.first().and_then(|load| self.width(load));
                if let Some((_, most)) = width
                    && most >= LEAST_ACCESS
                {
                    staged.insert(op.results[0], Holds::Perhaps);
                }
            }
        }
        let within = defined.keys().copied().chain(body.params.iter().copied()).collect();
        Some(Overlapped { staged, within })
    }

    /// Bits that a load is wide; as many as one likes where it goes through a descriptor.
    fn width(&self, load: &ValueId) -> Option<(u64, u64)> {
        self.program.loads.get(load).map(|load| load.width)
    }

    fn product(&self, op: &Op) -> Option<&Product> {
        self.program.products.get(op.results.first()?)
    }

    /// The loads in a loop that lead to an operand of a product.
    fn candidates(&self, operand: ValueId, defined: &HashMap<ValueId, &Op>, staged: &mut HashMap<ValueId, Holds>) {
        let direct = direct_source(operand, defined, &self.program.loads);
        let mut open = vec![operand];
        let mut seen = HashSet::new();
        while let Some(value) = open.pop() {
            work::spend(1);
            let Some(op) = defined.get(&value).filter(|_| seen.insert(value)) else { continue };
            if let Some((least, most)) = self.width(&value) {
                let is_only_operand = direct == Some(value) && self.goes_to_products_only(value);
                let is_computed_from_loads = self.hangs_on_loads(op, defined);
                let holds = match is_only_operand && !is_computed_from_loads {
                    _ if most < LEAST_ACCESS => Holds::Not,
                    true if least >= LEAST_ACCESS => Holds::Surely,
                    _ => Holds::Perhaps,
                };
                let before = staged.entry(value).or_insert(holds);
                if *before != holds {
                    *before = Holds::Perhaps;
                }
            }
            open.extend(&op.operands);
        }
    }

    /// Whether where something is loaded from is loaded in the same loop.
    fn hangs_on_loads(&self, op: &Op, defined: &HashMap<ValueId, &Op>) -> bool {
        let mut open = op.operands.clone();
        let mut seen = HashSet::new();
        while let Some(value) = open.pop() {
            work::spend(1);
            let Some(op) = defined.get(&value).filter(|_| seen.insert(value)) else { continue };
            if op.name == "load" || self.program.loads.contains_key(&value) {
                return true;
            }
            open.extend(&op.operands);
        }
        false
    }

    /// Whether nothing else is done with what is loaded than to multiply it.
    fn goes_to_products_only(&self, value: ValueId) -> bool {
        let Some(uses) = self.uses.get(&value) else { return false };
        uses.iter().all(|(by, nth)| match self.program.products.get(by) {
            Some(_) => *nth < 2,
            None => self.turned.contains(by) && self.goes_to_products_only(*by),
        })
    }

    /// The buffers of a loop's loads, which are there before it and after it.
    fn copies(&mut self, body: &mut Block, overlapped: &Overlapped, stages: i64) -> Vec<Op> {
        let stages = u64::try_from(stages).unwrap_or(1);
        let mut made = Vec::new();
        let mut barriers = 0;
        // `tcgen05` tells two barriers in turn that it is done.
        let products: Vec<(Site, Product)> =
            body.ops.iter().filter_map(|op| self.product(op).map(|product| (op.at, product.clone()))).collect();
        for (at, product) in &products {
            if self.machine.unit(product) == Unit::Tcgen05 {
                let size = Bytes::Between(BARRIER_BYTES, 2 * BARRIER_BYTES, Reason::new(COPIES));
                let is_sure = overlapped.staged.values().any(|&holds| holds == Holds::Surely);
                let size = if is_sure { Bytes::Exactly(2 * BARRIER_BYTES) } else { size };
                made.push(self.buffer(*at, "barriers of `tl.dot`", (vec![2, 1], "int64", size, 16, Use::Barrier)));
            }
        }
        for op in &mut body.ops {
            let Some(&load) = op.results.first() else { continue };
            let Some(&holds) = overlapped.staged.get(&load) else { continue };
            let tile = self.program.loads[&load].tile.clone();
            let asynchronous = self.is_read_asynchronously(load, &products);
            let (least, most) = match (self.machine.is_amd(), asynchronous) {
                (true, _) => (stages - 1, stages - 1),
                (_, Holds::Surely) => (stages, stages),
                (_, Holds::Perhaps) => (stages - 1, stages),
                (_, Holds::Not) => (stages - 1, stages - 1),
            };
            let bytes = tile.bytes();
            let size = match holds {
                Holds::Not => continue,
                Holds::Surely if least == most => Bytes::Exactly(most * bytes),
                Holds::Surely => Bytes::Between(least * bytes, most * bytes, Reason::new(COPIES)),
                Holds::Perhaps => Bytes::Between(0, most.max(2) * bytes, Reason::new(COPIES)),
            };
            let name = format!("{most} copies of what a loop loads for `tl.dot`");
            if let Kind::StagedLoad { staging, barrier } = op.kind {
                // What is loaded through a descriptor has a buffer in any case.
                let ring = most * BARRIER_BYTES;
                let (tile_size, barrier_size) = match (&size, barriers) {
                    (Bytes::Exactly(_), 0) => (size.clone(), Bytes::Exactly(ring)),
                    (Bytes::Exactly(_), _) => (size.clone(), Bytes::Between(0, ring, Reason::new(ORDER))),
                    _ => {
                        let barrier = Bytes::Between(0, ring, Reason::new(ORDER));
                        (Bytes::Between(bytes, most * bytes, Reason::new(COPIES)), barrier)
                    }
                };
                barriers += 1;
                self.resize(staging, tile_size, &name);
                self.resize(barrier, barrier_size, "barriers of what a loop loads");
                op.kind = Kind::Plain;
                made.push(self.allocation(op.at, staging));
                made.push(self.allocation(op.at, barrier));
                continue;
            }
            let shape = std::iter::once(most).chain(tile.shape.iter().copied()).collect();
            made.push(self.buffer(op.at, &name, (shape, tile.dtype, size, 1024, Use::Staging)));
        }
        made
    }

    fn is_read_asynchronously(&self, load: ValueId, products: &[(Site, Product)]) -> Holds {
        let units: Vec<bool> =
            products.iter().map(|(_, product)| self.machine.unit(product).is_asynchronous()).collect();
        let _ = load;
        match (units.iter().all(|&is| is), units.iter().any(|&is| is)) {
            _ if units.is_empty() => Holds::Not,
            (true, _) => Holds::Surely,
            (_, false) => Holds::Not,
            _ => Holds::Perhaps,
        }
    }

    /// Puts a product with the buffers of those of its operands that have none yet.
    fn operands(&mut self, ops: &mut Vec<Op>, mut op: Op, product: &Product, around: Option<&Overlapped>) {
        let unit = self.machine.unit(product);
        let overlapped = around.is_some_and(|around| around.staged.values().any(|&holds| holds == Holds::Surely));
        if unit == Unit::Tcgen05 && !overlapped {
            let size = match around {
                Some(_) => Bytes::Between(0, BARRIER_BYTES, Reason::new(COPIES)),
                None => Bytes::Exactly(BARRIER_BYTES),
            };
            let made = self.buffer(op.at, "barrier of `tl.dot`", (vec![1], "int64", size, 16, Use::Barrier));
            op.operands.extend(&made.results);
            ops.push(made);
        }
        for (nth, tile) in product.operands.iter().enumerate() {
            let Some(&operand) = op.operands.get(nth) else { continue };
            let load = self.sources.get(&operand).copied();
            let holds = load.and_then(|source| around?.staged.get(&source.load).copied());
            let is_direct = load.is_some_and(|source| source.is_direct);
            if holds == Some(Holds::Surely) && is_direct {
                continue;
            }
            let bytes = tile.bytes();
            let reason = || Reason::new(OPERAND);
            let copies = if unit == Unit::Tcgen05 && around.is_some() { 2 } else { 1 };
            let size = match (unit, holds) {
                // It may have been brought there by the loop.
                (_, Some(Holds::Perhaps)) => Bytes::Between(0, copies * bytes, reason()),
                // `wgmma` and `tcgen05` take the left side from elsewhere too.
                (Unit::Wgmma | Unit::Tcgen05, _) if nth == 0 && !is_direct => Bytes::Between(0, bytes, reason()),
                (Unit::Wgmma | Unit::Tcgen05, _) if copies == 1 => Bytes::Exactly(bytes),
                (Unit::Wgmma | Unit::Tcgen05, _) => Bytes::Between(bytes, copies * bytes, reason()),
                (Unit::Registers, _) => Bytes::Between(0, bytes, reason()),
            };
            let name = if nth == 0 { "left side of `tl.dot`" } else { "right side of `tl.dot`" };
            let made = self.buffer(op.at, name, (tile.shape.clone(), tile.dtype, size, 1024, Use::Staging));
            op.operands.extend(&made.results);
            ops.push(made);
        }
        ops.push(op);
    }

    fn resize(&mut self, id: BufferId, size: Bytes, name: &str) {
        let buffer = &mut self.program.buffers[id.0 as usize];
        buffer.name = name.into();
        if let Memory::Shared { size: had, fork, .. } = &mut buffer.memory {
            *fork = size.clone();
            *had = size;
        }
    }

    fn buffer(
        &mut self,
        at: Site,
        name: &str,
        (shape, dtype, size, alignment, use_): (Vec<u64>, &'static str, Bytes, u64, Use),
    ) -> Op {
        let id = BufferId(self.program.buffers.len() as u32);
        let memory = Memory::Shared { fork: size.clone(), size, alignment };
        self.program.buffers.push(Buffer { name: name.into(), at, name_at: None, shape, dtype, memory, use_ });
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

fn has_loop(op: &Op) -> bool {
    matches!(op.kind, Kind::For { .. } | Kind::While { .. })
        || op.kind.blocks().iter().any(|block| block.ops.iter().any(has_loop))
}

/// What ends the life of a buffer.
fn freed(alloc: &Op) -> Option<Op> {
    matches!(alloc.kind, Kind::Allocation(_)).then(|| Op {
        name: "local_dealloc",
        effect: Effect::Writes,
        operands: alloc.results.clone(),
        results: Vec::new(),
        kind: Kind::Plain,
        ..alloc.clone()
    })
}

/// The load that a value is, seen from another side at most.
fn direct_source(
    value: ValueId,
    defined: &HashMap<ValueId, &Op>,
    loads: &HashMap<ValueId, Load>,
) -> Option<ValueId> {
    let mut value = value;
    loop {
        let op = defined.get(&value)?;
        if loads.contains_key(&value) {
            return Some(value);
        }
        value = match (op.name, op.operands.as_slice()) {
            ("permute", &[of]) => of,
            _ => return None,
        };
    }
}

impl Tile {
    pub fn bytes(&self) -> u64 {
        let elements = self.shape.iter().fold(1u64, |all, &extent| all.saturating_mul(extent));
        elements.saturating_mul(u64::from(self.bits.max(8))) / 8
    }
}

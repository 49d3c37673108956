//! Products of plain Triton (`tl.dot`): the compiler brings their operands to shared memory, and keeps several copies of what a loop loads for them
//! (`lib/Dialect/TritonGPU/Transforms/{AccelerateMatmul,Pipeliner/AssignLatencies,Pipeliner/LowerLoops}.cpp`). Neither is in the source.
//!
//! What is known to go one way has a size, all else lies between what is needed in any case and what the compiler takes at most.

use std::collections::{HashMap, HashSet};

use super::layouts::{Hardware, Vendor};
use super::plan::LEAST_COLUMNS;
use super::program::{
    Block, Buffer, BufferId, Bytes, Effect, Kind, Load, Memory, Op, Product, Program, Site, Tile, Type, Use, ValueId,
    bytes_of,
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
    /// Loops whose author asks for it are made one with those in them.
    pub flattens: bool,
}

/// The instructions that compute a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// No tensor cores at all.
    Threads,
    /// Tensor cores that take operands from registers.
    TensorCores,
    /// `wgmma`: operands in shared memory, which it reads while the loop goes on.
    Wgmma,
    /// `tcgen05`: the same, and results in tensor memory.
    Tcgen05,
}

impl Unit {
    /// It reads its operands while the loop goes on, which takes a copy more.
    fn is_asynchronous(self) -> bool {
        matches!(self, Unit::Wgmma | Unit::Tcgen05)
    }
}

const COPIES: &str =
    "how many copies of what a loop loads the compiler keeps follows from what it knows of pointers and layouts";
const OPERAND: &str =
    "whether an operand of `tl.dot` goes through shared memory follows from layouts that the compiler chooses";
const PADDED: &str = "how many bytes the compiler leaves free between rows is not modelled";
const ORDER: &str = "which loads of a loop share a barrier is the compiler's choice";

/// Bits that a thread must load side by side for a load to be copied in the background.
const LEAST_ACCESS: u64 = 32;
/// What gives elements another place.
const VIEWS: [&str; 7] = ["permute", "reshape", "expand_dims", "broadcast", "join", "split 0", "split 1"];
const BARRIER_BYTES: u64 = 8;

/// Gives the products of a program, and the loops around them, their memory. `is_sure`: each product is one that the compiler computes as
/// plain Triton's, by one CTA; otherwise what they are brought to may be smaller, or not there.
pub fn stage(program: &mut Program, machine: &Machine, is_sure: bool) {
    // Where the author writes no buffers, all of them are the compiler's.
    let is_authors = program.buffers.iter().any(|buffer| buffer.use_ == Use::Data);
    let written = if is_authors { program.buffers.len() } else { 0 };
    let is_sure = is_sure || program.products.is_empty();
    stage_all(program, machine);
    for buffer in program.buffers.iter_mut().skip(written).filter(|_| !is_sure) {
        if let Memory::Shared { size, fork, .. } = &mut buffer.memory {
            *size = Bytes::Between(0, size.high(), Reason::new(OPERAND));
            *fork = size.clone();
        }
    }
}

fn stage_all(program: &mut Program, machine: &Machine) {
    let mut body = std::mem::take(&mut program.body);
    let mut stager = Stager {
        program,
        machine: *machine,
        uses: HashMap::new(),
        sources: HashMap::new(),
        turned: HashSet::new(),
        of_products: HashSet::new(),
        through_descriptor: HashSet::new(),
        tiles: HashMap::new(),
        made_at: HashMap::new(),
        within: Vec::new(),
        flat: 0,
        hoisted: Vec::new(),
        behind: HashMap::new(),
    };
    stager.read(&body);
    stager.block(&mut body, None);
    stager.put_behind(&mut body);
    program.body = body;
}

/// Columns that products take of tensor memory, at least and at most; `None` where none ends there. Each result has its own, twice where rounds of
/// a loop overlap, and a left side that is computed may be there too.
pub fn columns_of_results(program: &Program, machine: &Machine) -> Option<(u64, u64)> {
    let (mut least, mut most) = (0, 0);
    program.body.each(&mut |op| {
        let product = op.results.first().and_then(|result| program.products.get(result));
        let Some(product) = product.filter(|product| machine.unit(product) == Unit::Tcgen05) else { return };
        let extent = |tile: &Tile, from_last: usize| tile.shape.iter().rev().nth(from_last).copied().unwrap_or(1);
        let blocks = extent(&product.result, 1).div_ceil(ROWS_OF_TENSOR_MEMORY);
        let result = extent(&product.result, 0).saturating_mul(blocks);
        let [left, _] = &product.operands;
        let left = extent(left, 0).saturating_mul(blocks).saturating_mul(u64::from(left.bits)).div_ceil(32);
        least = result.max(least);
        most = result.saturating_mul(2).saturating_add(left).saturating_add(most);
    });
    let taken = |columns: u64| columns.max(LEAST_COLUMNS).checked_next_power_of_two().unwrap_or(u64::MAX);
    (most > 0).then(|| (taken(least), taken(most)))
}

const ROWS_OF_TENSOR_MEMORY: u64 = 128;

impl Machine {
    fn is_amd(&self) -> bool {
        self.hardware.vendor == Vendor::Amd
    }

    /// Rows are padded, and copied past the registers where that is possible.
    fn is_padded(&self) -> bool {
        self.is_amd() && self.hardware.capability != 942
    }

    pub fn unit(&self, product: &Product) -> Unit {
        let [one, two] = &product.operands;
        let (rows, columns) = (product.result.shape.iter().rev().nth(1), product.result.shape.last());
        let is_tiled = product.result.shape.len() == 2
            && rows.is_some_and(|rows| rows % 64 == 0)
            && columns.is_some_and(|columns| columns % 8 == 0)
            && one.bits == two.bits
            && one.bits <= 32;
        let is_reduced = one.bits <= 16 || one.bits == 32 && !product.is_exact;
        match self.hardware.capability {
            // Which of its instructions AMD's compiler takes does not matter here.
            _ if self.is_amd() || !is_reduced => Unit::Threads,
            90..100 if is_tiled && self.warps.is_multiple_of(4) => Unit::Wgmma,
            100..120 if is_tiled && matches!(self.warps, 4 | 8) => Unit::Tcgen05,
            _ => Unit::TensorCores,
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

/// A loop.
struct Loop {
    /// Loads of which copies are kept, because rounds overlap; `None` where they do not.
    staged: Option<HashMap<ValueId, Holds>>,
}

impl Loop {
    fn holds(&self, load: ValueId) -> Option<Holds> {
        self.staged.as_ref()?.get(&load).copied()
    }

    fn surely_overlaps(&self) -> bool {
        self.staged.iter().flatten().any(|(_, &holds)| holds == Holds::Surely)
    }
}

/// A product, its operands, and what is known of it.
type Taker = (ValueId, Vec<ValueId>, Product);

struct Stager<'p> {
    program: &'p mut Program,
    machine: Machine,
    /// The first results of what uses a value, and as which operand.
    uses: HashMap<ValueId, Vec<(ValueId, usize)>>,
    /// Of tensors that are made of one load.
    sources: HashMap<ValueId, Source>,
    /// Tensors that are others seen from another side.
    turned: HashSet<ValueId>,
    /// Tensors that are computed element by element of products, and lie in registers as those do.
    of_products: HashSet<ValueId>,
    /// What is loaded through descriptors, seen from whichever side.
    through_descriptor: HashSet<ValueId>,
    /// Where loads through descriptors that are operands are.
    tiles: HashMap<ValueId, ValueId>,
    /// Where a value is computed.
    made_at: HashMap<ValueId, Site>,
    /// What is computed in each of the loops around, innermost last.
    within: Vec<HashSet<ValueId>>,
    /// Loops around that are made one with those in them.
    flat: u32,
    /// Buffers that the loop around does not change, and what is in them.
    hoisted: Vec<(ValueId, Op)>,
    /// Buffers of operands that are read while the loop goes on: they are filled as soon as there is something to fill them with.
    behind: HashMap<ValueId, Vec<Op>>,
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
                self.made_at.insert(result, op.at);
                let is_elementwise =
                    op.effect == Effect::None && !VIEWS.contains(&op.name) && matches!(op.kind, Kind::Plain);
                let is_of_product = self.program.products.contains_key(&result)
                    || is_elementwise && op.operands.iter().any(|operand| self.of_products.contains(operand));
                if is_of_product {
                    self.of_products.insert(result);
                }
                let is_view = op.name == "permute" && op.operands.iter().any(|of| self.through_descriptor.contains(of));
                if matches!(op.kind, Kind::StagedLoad { .. }) || is_view {
                    self.through_descriptor.insert(result);
                }
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

    fn block(&mut self, block: &mut Block, around: Option<&Loop>) {
        let mut ops = Vec::with_capacity(block.ops.len());
        for mut op in std::mem::take(&mut block.ops) {
            work::spend(1);
            let is_operand_only = self.is_operand_only(&op);
            match &mut op.kind {
                Kind::For { body, stages, .. } => {
                    let (stages, is_told) = (stages.unwrap_or(self.machine.stages), stages.is_some());
                    let looped = Loop { staged: self.staged(body, stages, is_told) };
                    let is_flat = self.machine.flattens && self.program.flattened.contains(&body.params[0]);
                    let copies = match looped.staged.is_some() {
                        true => self.copies(op.at, body, &looped, stages),
                        false => Vec::new(),
                    };
                    self.flat += u32::from(is_flat);
                    self.round(body, Some(&looped));
                    self.flat -= u32::from(is_flat);
                    self.put_hoisted(&mut ops);
                    match self.flat > 0 {
                        true => self.hoisted.extend(copies.into_iter().map(|copy| (ValueId(u32::MAX), copy))),
                        false => ops.extend(copies),
                    }
                    ops.push(op);
                }
                Kind::While { condition, body } => {
                    self.block(condition, None);
                    self.round(body, Some(&Loop { staged: None }));
                    self.put_hoisted(&mut ops);
                    ops.push(op);
                }
                Kind::StagedLoad { staging, barrier } if is_operand_only => {
                    // A product reads it where it was loaded to.
                    let made = [*staging, *barrier].map(|id| self.allocation(op.at, id));
                    let tiles: Vec<ValueId> = made.iter().flat_map(|made| made.results.clone()).collect();
                    self.tiles.insert(op.results[0], tiles[0]);
                    op.operands.extend(tiles);
                    op.kind = Kind::Plain;
                    ops.extend(made);
                    ops.push(op);
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

    /// Whether what an operation loads goes to products that read it from shared memory, and nowhere else.
    fn is_operand_only(&self, op: &Op) -> bool {
        op.results.first().is_some_and(|&load| self.goes_to_products_only(load) && self.is_read_in_place(load))
    }

    fn is_read_in_place(&self, value: ValueId) -> bool {
        self.uses.get(&value).into_iter().flatten().all(|(by, _)| match self.program.products.get(by) {
            Some(product) => self.machine.unit(product).is_asynchronous(),
            None => self.is_read_in_place(*by),
        })
    }

    fn round(&mut self, body: &mut Block, around: Option<&Loop>) {
        let mut within: HashSet<ValueId> = body.params.iter().copied().collect();
        body.each(&mut |op| {
            within.extend(&op.results);
            op.kind.blocks().into_iter().for_each(|inner| within.extend(&inner.params));
        });
        self.within.push(within);
        self.block(body, around);
        self.within.pop();
    }

    /// In front of a loop, what does not hang on it; what does not hang on the loop around it either goes in front of that.
    fn put_hoisted(&mut self, ops: &mut Vec<Op>) {
        let around = self.within.last();
        let here = |operand: &ValueId| around.is_none_or(|within| within.contains(operand));
        let (put, further) = std::mem::take(&mut self.hoisted).into_iter().partition(|(operand, _)| here(operand));
        self.hoisted = further;
        ops.extend(Vec::<(ValueId, Op)>::into_iter(put).map(|(_, op)| op));
    }

    /// Behind what computes them, the buffers of operands.
    fn put_behind(&mut self, block: &mut Block) {
        if self.behind.is_empty() {
            return;
        }
        let mut ops = Vec::with_capacity(block.ops.len());
        for mut op in std::mem::take(&mut block.ops) {
            work::spend(1);
            op.kind.blocks_mut().into_iter().for_each(|inner| self.put_behind(inner));
            let made: Vec<Op> = op.results.iter().filter_map(|it| self.behind.remove(it)).flatten().collect();
            ops.push(op);
            ops.extend(made);
        }
        block.ops = ops;
    }

    /// What is known of the copies that a loop keeps; `None` where its rounds do not overlap.
    fn staged(&self, body: &Block, stages: i64, is_told: bool) -> Option<HashMap<ValueId, Holds>> {
        if stages < 2 || body.ops.iter().any(has_loop) {
            return None;
        }
        let defined: HashMap<ValueId, &Op> =
            body.ops.iter().flat_map(|op| op.results.iter().map(move |&result| (result, op))).collect();
        let operands: Vec<(ValueId, usize, bool)> = body
            .ops
            .iter()
            .filter_map(|op| Some((op, self.product(op)?)))
            .flat_map(|(op, product)| {
                let is_small_wgmma = self.machine.unit(product) == Unit::Wgmma && product.operands[0].bits <= 8;
                op.operands.iter().take(2).enumerate().map(move |(nth, &operand)| (operand, nth, is_small_wgmma))
            })
            .collect();
        let mut staged = HashMap::new();
        let direct: HashSet<ValueId> = operands
            .iter()
            .filter_map(|&(operand, ..)| direct_source(operand, &defined, &self.program.loads))
            .filter(|&load| self.goes_to_products_only(load))
            .collect();
        for &operand in &operands {
            self.candidates(operand, &direct, &defined, &mut staged);
        }
        // Other loads are kept where the author asks for it, or where rounds of a product wait for them.
        if !operands.is_empty() || is_told {
            for op in body.ops.iter().filter(|op| op.effect == Effect::Reads && op.results.len() == 1) {
                let most = self.width(&op.results[0]).map_or(LEAST_ACCESS, |(_, most)| most);
                if most >= LEAST_ACCESS {
                    staged.entry(op.results[0]).or_insert(Holds::Perhaps);
                }
            }
        }
        Some(staged)
    }

    /// Bits that a load is wide; as many as one likes where it goes through a descriptor.
    fn width(&self, load: &ValueId) -> Option<(u64, u64)> {
        self.program.loads.get(load).map(|load| load.width)
    }

    fn product(&self, op: &Op) -> Option<&Product> {
        self.program.products.get(op.results.first()?)
    }

    /// The loads in a loop that lead to an operand of a product. `direct`: those that are operands, and nothing else.
    fn candidates(
        &self,
        (operand, nth, is_wgmma): (ValueId, usize, bool),
        direct: &HashSet<ValueId>,
        defined: &HashMap<ValueId, &Op>,
        staged: &mut HashMap<ValueId, Holds>,
    ) {
        let mut open = vec![operand];
        let mut seen = HashSet::new();
        while let Some(value) = open.pop() {
            work::spend(1);
            let Some(op) = defined.get(&value).filter(|_| seen.insert(value)) else { continue };
            if let Some((least, most)) = self.width(&value) {
                if is_wgmma && !self.is_along_k(operand, value, nth) {
                    // Operands of 8 bits must be contiguous along what is summed, and are brought there by hand where they are not.
                    let is_plain = nth == 1
                        && !self.through_descriptor.contains(&value)
                        && direct.contains(&value)
                        && self.program.loads[&value].runs_along.is_some();
                    let holds = if is_plain { Holds::Not } else { Holds::Perhaps };
                    staged.insert(value, holds);
                    open.extend(&op.operands);
                    continue;
                }
                let is_sure = direct.contains(&value) && least >= LEAST_ACCESS && !self.hangs_on_loads(op, defined);
                let holds = match is_sure {
                    _ if most < LEAST_ACCESS && self.machine.is_padded() => Holds::Perhaps,
                    _ if most < LEAST_ACCESS => Holds::Not,
                    true => Holds::Surely,
                    false => Holds::Perhaps,
                };
                staged.insert(value, holds);
            }
            open.extend(&op.operands);
        }
    }

    /// Whether a load that is an operand goes through memory along what the product sums over.
    fn is_along_k(&self, operand: ValueId, load: ValueId, nth: usize) -> bool {
        let is_turned = self.turned.contains(&operand);
        let last = usize::from(is_turned == (nth == 1));
        self.program.loads[&load].runs_along == Some(last)
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

    /// The buffers of a loop's loads, which are there all through it.
    fn copies(&mut self, at: Site, body: &mut Block, looped: &Loop, stages: i64) -> Vec<Op> {
        let stages = u64::try_from(stages).unwrap_or(1);
        let mut made = Vec::new();
        let products: Vec<Taker> = body
            .ops
            .iter()
            .filter_map(|op| Some((*op.results.first()?, op.operands.clone(), self.product(op)?.clone())))
            .collect();
        // `tcgen05` tells two barriers in turn that it is done.
        for op in &mut body.ops {
            let Some(product) = self.product(op).cloned() else { continue };
            if self.machine.unit(&product) == Unit::Tcgen05 {
                let size = match looped.surely_overlaps() {
                    true => Bytes::Exactly(2 * BARRIER_BYTES),
                    false => Bytes::Between(0, 2 * BARRIER_BYTES, Reason::new(COPIES)),
                };
                let barriers = (vec![2, 1], "int64", size, 16, Use::Barrier);
                let barriers = self.buffer(at, "barriers of `tl.dot`", barriers);
                op.operands.extend(&barriers.results);
                made.push(barriers);
            }
        }
        let mut waited_for: Vec<ValueId> = Vec::new();
        for op in &mut body.ops {
            let Some(&load) = op.results.first() else { continue };
            let Some(holds) = looped.holds(load).filter(|&holds| holds != Holds::Not) else { continue };
            let scalar = || Tile { shape: vec![1], bits: 64, dtype: "int64" };
            let tile = self.program.loads.get(&load).map_or_else(scalar, |load| load.tile.clone());
            let bytes = tile.bytes();
            let (least, most) = self.kept(load, &products, stages);
            let all = most.saturating_mul(bytes);
            // Instructions that read operands from shared memory need one there in any case.
            let once = if self.is_operand_only(op) && self.sources.get(&load).is_some_and(|it| it.is_direct) {
                bytes
            } else {
                0
            };
            let size = match holds {
                Holds::Surely if least == most => self.padded(all),
                Holds::Surely => {
                    Bytes::Between(least.saturating_mul(bytes), self.padded(all).high(), Reason::new(COPIES))
                }
                _ => Bytes::Between(once, self.padded(all.max(bytes.saturating_mul(2))).high(), Reason::new(COPIES)),
            };
            let name = format!("{most} copies of what a loop loads for `tl.dot`");
            let buffers = if let Kind::StagedLoad { staging, barrier } = op.kind {
                // What is loaded through a descriptor has a buffer in any case.
                let ring = most.saturating_mul(BARRIER_BYTES);
                let user = products.iter().find(|(_, operands, _)| {
                    operands.iter().take(2).any(|operand| self.sources.get(operand).is_some_and(|it| it.load == load))
                });
                let is_first = user.is_some_and(|(product, ..)| !waited_for.contains(product));
                // Elements of 8 bits are cast for `mma`, and what is cast is waited for by itself.
                let user = user.filter(|(_, _, product)| {
                    product.operands[0].bits > 8 || self.machine.unit(product).is_asynchronous()
                });
                let (tile_size, barrier_size) = match (size, user) {
                    // The loads for one product are waited for together.
                    (Bytes::Exactly(bytes), Some(_)) if is_first => (Bytes::Exactly(bytes), Bytes::Exactly(ring)),
                    (Bytes::Exactly(bytes), Some(_)) => (Bytes::Exactly(bytes), Bytes::Exactly(0)),
                    _ => {
                        let barriers = Bytes::Between(0, ring, Reason::new(ORDER));
                        (Bytes::Between(bytes, all, Reason::new(COPIES)), barriers)
                    }
                };
                waited_for.extend(user.map(|(product, ..)| *product));
                self.resize(staging, tile_size, &name);
                self.resize(barrier, barrier_size, "barriers of what a loop loads");
                self.program.buffers[barrier.0 as usize].at = at;
                op.kind = Kind::Plain;
                vec![self.allocation(op.at, staging), self.allocation(op.at, barrier)]
            } else {
                let shape = std::iter::once(most).chain(tile.shape.iter().copied()).collect();
                vec![self.buffer(op.at, &name, (shape, tile.dtype, size, 1024, Use::Staging))]
            };
            for buffer in buffers {
                op.operands.extend(&buffer.results);
                made.push(buffer);
            }
        }
        made
    }

    /// Copies of a load that a loop of so many stages keeps, at least and at most.
    fn kept(&self, load: ValueId, products: &[Taker], stages: u64) -> (u64, u64) {
        let before = stages - 1;
        if self.machine.is_padded() {
            return (0, stages);
        }
        if self.machine.is_amd() {
            // Products of which one takes what the other gives are scheduled by rules of their own.
            return if products.len() == 1 { (before, before) } else { (1.min(before), before.max(2)) };
        }
        let takes = |operands: &[ValueId]| {
            operands.iter().take(2).any(|operand| self.sources.get(operand).is_some_and(|it| it.load == load))
        };
        let takers = || products.iter().filter(|(_, operands, _)| takes(operands));
        let is_late = |(_, _, product): &Taker| self.machine.unit(product).is_asynchronous();
        match (takers().any(is_late), takers().all(is_late) && takers().next().is_some()) {
            (false, _) if takers().next().is_some() || !products.iter().any(is_late) => (before, before),
            (_, true) => (stages, stages),
            _ => (before, stages),
        }
    }

    /// The compiler for AMD's newer devices leaves bytes free between rows.
    fn padded(&self, bytes: u64) -> Bytes {
        match self.machine.is_padded() {
            true => Bytes::Between(bytes, bytes.saturating_add(bytes / 8), Reason::new(PADDED)),
            false => Bytes::Exactly(bytes),
        }
    }

    /// Puts a product with the buffers of those of its operands that have none yet.
    fn operands(&mut self, ops: &mut Vec<Op>, mut op: Op, product: &Product, around: Option<&Loop>) {
        let unit = self.machine.unit(product);
        let overlaps = around.is_some_and(Loop::surely_overlaps);
        if unit == Unit::Tcgen05 && !overlaps {
            let size = match around.is_some_and(|around| around.staged.is_some()) {
                true => Bytes::Between(0, 2 * BARRIER_BYTES, Reason::new(COPIES)),
                false => Bytes::Exactly(BARRIER_BYTES),
            };
            let made = self.buffer(op.at, "barrier of `tl.dot`", (vec![1], "int64", size, 16, Use::Barrier));
            op.operands.extend(&made.results);
            ops.push(made);
        }
        for (nth, tile) in product.operands.iter().enumerate() {
            let Some(&operand) = op.operands.get(nth) else { continue };
            let source = self.sources.get(&operand).copied();
            let holds = source.and_then(|source| around?.holds(source.load));
            let is_direct = source.is_some_and(|source| source.is_direct);
            if holds == Some(Holds::Surely) && is_direct {
                continue;
            }
            if let Some(&loaded) = source.filter(|_| is_direct).and_then(|source| self.tiles.get(&source.load)) {
                op.operands.push(loaded);
                continue;
            }
            let is_outside = self.within.last().is_some_and(|within| !within.contains(&operand));
            let name = if nth == 0 { "left side of `tl.dot`" } else { "right side of `tl.dot`" };
            let may_overlap = around.is_some_and(|around| around.staged.is_some());
            let is_kept = may_overlap && !overlaps && unit == Unit::Tcgen05;
            let sizes = self.brought(operand, (nth, product), unit, holds, [overlaps, may_overlap && !is_outside]);
            for (copy, size) in sizes.into_iter().enumerate() {
                let at = self.made_at.get(&operand).copied().unwrap_or(op.at);
                let made = self.buffer(at, name, (tile.shape.clone(), tile.dtype, size, 1024, Use::Staging));
                // AMD reads an operand back at once.
                let user = if self.machine.is_amd() { None } else { Some(&mut op) };
                let read = match user {
                    Some(op) => {
                        op.operands.extend(&made.results);
                        None
                    }
                    None => read_back(&made),
                };
                if is_kept && copy > 0 {
                    self.hoisted.push((ValueId(u32::MAX), made));
                } else if unit.is_asynchronous() && self.made_at.contains_key(&operand) {
                    self.behind.entry(operand).or_default().push(made);
                } else if is_outside {
                    self.hoisted.push((operand, made));
                    self.hoisted.extend(read.map(|read| (operand, read)));
                } else {
                    ops.push(made);
                    ops.extend(read);
                }
            }
        }
        ops.push(op);
    }

    /// The buffers of an operand that no loop keeps copies of.
    fn brought(
        &self,
        operand: ValueId,
        (nth, product): (usize, &Product),
        unit: Unit,
        holds: Option<Holds>,
        [overlaps, may_overlap]: [bool; 2],
    ) -> Vec<Bytes> {
        let tile = &product.operands[nth];
        let bytes = tile.bytes();
        let source = self.sources.get(&operand);
        let is_direct = source.is_some_and(|source| source.is_direct);
        // What is loaded may be brought there before it is cast.
        let loaded = source.map_or(0, |source| self.program.loads[&source.load].tile.bytes());
        let widest = bytes.max(loaded);
        let perhaps = |most: u64| Bytes::Between(0, self.padded(most).high(), Reason::new(OPERAND));
        let twice = if unit == Unit::Tcgen05 && may_overlap { 2 } else { 1 };
        match unit {
            // It may have been brought there by the loop.
            _ if holds == Some(Holds::Perhaps) => vec![perhaps(widest); twice],
            Unit::TensorCores if nth == 0 && product.is_left_at_hand => Vec::new(),
            // The left side may come from registers, or from tensor memory.
            Unit::Wgmma | Unit::Tcgen05 if nth == 0 && self.of_products.contains(&operand) => {
                if self.machine.warps == 4 { Vec::new() } else { vec![perhaps(bytes)] }
            }
            Unit::Wgmma | Unit::Tcgen05 if nth == 0 && !is_direct => vec![perhaps(widest); twice],
            Unit::Wgmma | Unit::Tcgen05 if !(is_direct && overlaps) && twice > 1 => {
                // What comes next is brought there while the product is computed.
                vec![Bytes::Exactly(bytes), perhaps(widest)]
            }
            Unit::Wgmma | Unit::Tcgen05 => vec![Bytes::Exactly(bytes); twice],
            Unit::Threads | Unit::TensorCores
                if is_direct
                    && !self.turned.contains(&operand)
                    && tile.bits >= 16
                    // Within a warp elements are exchanged without shared memory.
                    && self.machine.warps > 1
                    && !self.through_descriptor.contains(&operand)
                    && unit == Unit::TensorCores =>
            {
                vec![Bytes::Exactly(bytes)]
            }
            Unit::Threads | Unit::TensorCores => vec![perhaps(widest)],
        }
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

/// What reads a buffer and lets go of it.
fn read_back(alloc: &Op) -> Option<Op> {
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
fn direct_source(value: ValueId, defined: &HashMap<ValueId, &Op>, loads: &HashMap<ValueId, Load>) -> Option<ValueId> {
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
        bytes_of(&self.shape, self.bits)
    }
}

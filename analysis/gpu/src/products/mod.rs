//! Products of plain Triton (`tl.dot`): the compiler brings their operands to shared memory, and keeps several copies of what a loop loads for them
//! (`lib/Dialect/TritonGPU/Transforms/{AccelerateMatmul,Pipeliner/AssignLatencies,Pipeliner/LowerLoops}.cpp`). Neither is in the source.
//!
//! What is known to go one way has a size, all else lies between what is needed in any case and what the compiler takes at most.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::finding::Reason;
use tilefit_python::work;

use super::layouts::{Hardware, Vendor};
use super::program::{
    Block, BufferId, Bytes, Effect, Kind, Memory, Op, Product, Program, Site, Tile, Type, Use, ValueId, bytes_of,
};
use super::reorder::LoopFacts;

mod columns;
mod copies;
mod latencies;
mod operands;
mod places;

pub(crate) use columns::columns_of_results;
use latencies::Staging;
use operands::{Brought, Lies};
use places::Places;

/// What products run on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Machine {
    pub hardware: Hardware,
    pub warps: u64,
    /// Of loops that do not say how many they have.
    pub stages: i64,
    /// Loops whose author asks for it are made one with those in them.
    pub flattens: bool,
}

/// The instructions that compute a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unit {
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

/// What gives elements another place.
const VIEWS: [&str; 7] = ["permute", "reshape", "expand_dims", "broadcast", "join", "split 0", "split 1"];
const BARRIER_BYTES: u64 = 8;

/// Gives the products of a program, and the loops around them, their memory. `is_sure`: each product is one that the compiler computes as
/// plain Triton's, by one CTA; otherwise what they are brought to may be smaller, or not there.
pub(crate) fn stage(program: &mut Program, machine: &Machine, is_sure: bool) {
    // Where the author writes no buffers, all of them are the compiler's.
    let is_authors = program.buffers.iter().any(|buffer| buffer.use_ == Use::Data);
    let written = if is_authors { program.buffers.len() } else { 0 };
    let is_sure = is_sure || program.products.is_empty();
    let is_sure = !stage_all(program, machine) && is_sure;
    if !is_sure {
        program.held.clear();
    }
    for buffer in program.buffers.iter_mut().skip(written).filter(|_| !is_sure) {
        if let Memory::Shared { size, fork, .. } = &mut buffer.memory {
            *size = Bytes::Between(0, size.high(), Reason::new(OPERAND));
            *fork = size.clone();
        }
    }
}

/// Returns whether a loop may be gone once its first rounds are taken out of it, so that nothing is there all through it.
fn stage_all(program: &mut Program, machine: &Machine) -> bool {
    let mut body = std::mem::take(&mut program.body);
    let places = Places::of(&body, &program.types, machine.hardware.compiler, &|op| {
        let product = op.results.first().and_then(|id| program.products.get(id));
        product.is_some_and(|product| machine.is_in_tensor_memory(product))
    });
    let mut stager = Stager {
        program,
        machine: *machine,
        uses: FxHashMap::default(),
        sources: FxHashMap::default(),
        turned: FxHashSet::default(),
        made_of_turned: FxHashSet::default(),
        seen_of: FxHashMap::default(),
        converted: FxHashSet::default(),
        elementwise: FxHashSet::default(),
        sums: FxHashMap::default(),
        cast_of: FxHashMap::default(),
        scaled: FxHashSet::default(),
        constants: FxHashSet::default(),
        leaves: FxHashMap::default(),
        least_bits: FxHashMap::default(),
        operands_of: FxHashMap::default(),
        brought: FxHashMap::default(),
        path: Vec::new(),
        blocks: 0,
        of_products: FxHashSet::default(),
        of_loops: FxHashSet::default(),
        through_descriptor: FxHashSet::default(),
        tiles: FxHashMap::default(),
        made_at: FxHashMap::default(),
        places,
        within: Vec::new(),
        counted: Vec::new(),
        flat: 0,
        flat_stages: None,
        hoisted: Vec::new(),
        made_for: FxHashMap::default(),
        behind: FxHashMap::default(),
        read_late: None,
        given_back: FxHashMap::default(),
        starts: Vec::new(),
        left: Vec::new(),
        has_short: false,
        loads_ahead: false,
    };
    stager.read(&body);
    stager.block(&mut body, None);
    stager.put_behind(&mut body);
    let has_short = stager.has_short;
    program.body = body;
    has_short
}

impl Machine {
    fn is_amd(&self) -> bool {
        self.hardware.vendor == Vendor::Amd
    }

    /// Rows are padded, and copied past the registers where that is possible.
    fn is_padded(&self) -> bool {
        self.is_amd() && self.hardware.capability != 942
    }

    /// Triton does not use those before sm_80, where loops do not overlap either.
    fn has_no_tensor_cores(&self) -> bool {
        !self.is_amd() && self.hardware.capability < 80
    }

    pub(crate) fn unit(&self, product: &Product) -> Unit {
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
            _ if self.is_amd() || !is_reduced || self.has_no_tensor_cores() => Unit::Threads,
            90..100 if is_tiled && self.warps.is_multiple_of(4) => Unit::Wgmma,
            100..120 if is_tiled && matches!(self.warps, 4 | 8) => Unit::Tcgen05,
            _ => Unit::TensorCores,
        }
    }

    /// Whether a product that is the same in each round of a loop leaves it: one that reads its operands from shared memory does not.
    pub(crate) fn moves(&self, product: &Product) -> bool {
        !self.unit(product).is_asynchronous() && !self.has_no_tensor_cores()
    }

    /// Whether the result of a product is in tensor memory.
    pub(crate) fn is_in_tensor_memory(&self, product: &Product) -> bool {
        self.unit(product) == Unit::Tcgen05
    }

    /// Whether a product and what it is added to become one: not where the author leaves sums of few bits to `wgmma`, which adds them up exactly now and
    /// then (`Combine.td`).
    pub(crate) fn adds(&self, product: &Product) -> bool {
        let is_inexact = self.hardware.capability == 90 && product.operands[0].dtype.starts_with("float8");
        !is_inexact || self.is_amd()
    }

    /// Whether what is computed in a loop for a side of a product stays in it, though it is the same in each round. Where it is
    /// computed it is brought to shared memory, from which products read it, and that leaves the loop later, but not past a write, of `wgmma` only
    /// where rounds overlap; to tensor memory it is brought in each round (`PromoteLHSToTMem.cpp`).
    pub(crate) fn keeps(&self, product: &Product, nth: usize, LoopFacts { writes, stages }: LoopFacts) -> bool {
        match self.unit(product) {
            Unit::Tcgen05 => nth == 0 || writes,
            Unit::Wgmma => nth == 1 && writes && stages.unwrap_or(self.stages) > 1,
            Unit::TensorCores | Unit::Threads => false,
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

/// What is known to happen of several that may.
fn surest(all: impl Iterator<Item = Holds>) -> Holds {
    all.fold(Holds::Not, |surest, holds| if surest == Holds::Surely || holds == Holds::Not { surest } else { holds })
}

/// What a product's operand is made of.
#[derive(Debug, Clone, Copy)]
struct Source {
    load: ValueId,
    /// Nothing is computed in between.
    is_direct: bool,
}

/// A loop.
#[derive(Default)]
struct Loop {
    /// Loads with copies, because rounds overlap; `None` where they do not.
    staged: Option<FxHashMap<ValueId, Staging>>,
    /// Of each product that ends in tensor memory, whether its rounds overlap.
    overlaps: FxHashMap<ValueId, Holds>,
    /// How many of those follow each other from one on, itself included.
    depths: FxHashMap<ValueId, u64>,
}

impl Loop {
    fn staging(&self, load: ValueId) -> Option<Staging> {
        self.staged.as_ref()?.get(&load).copied()
    }
}

struct Stager<'p> {
    program: &'p mut Program,
    machine: Machine,
    /// The first results of what uses a value, and as which operand.
    uses: FxHashMap<ValueId, Vec<(ValueId, usize)>>,
    /// Of tensors that are made of one load.
    sources: FxHashMap<ValueId, Source>,
    /// Tensors that are others seen from another side.
    turned: FxHashSet<ValueId>,
    /// Tensors that are computed element by element of such.
    made_of_turned: FxHashSet<ValueId>,
    /// What tensors that are others seen from another side are seen of.
    seen_of: FxHashMap<ValueId, ValueId>,
    /// Tensors that are others in another layout.
    converted: FxHashSet<ValueId>,
    /// Tensors that are computed element by element.
    elementwise: FxHashSet<ValueId>,
    /// What sums of products are sums of.
    sums: FxHashMap<ValueId, Vec<ValueId>>,
    /// The one load that a tensor is computed of, element by element and of nothing else.
    cast_of: FxHashMap<ValueId, ValueId>,
    /// Those of them that are computed with numbers which are not known when the kernel is compiled.
    scaled: FxHashSet<ValueId>,
    /// Numbers that are.
    constants: FxHashSet<ValueId>,
    /// The first of the loads that a tensor is computed of, and the bytes of the largest one.
    leaves: FxHashMap<ValueId, (ValueId, u64)>,
    /// Bits of the narrowest elements that a tensor is made of.
    least_bits: FxHashMap<ValueId, u32>,
    /// Both sides of each product.
    operands_of: FxHashMap<ValueId, [ValueId; 2]>,
    /// Buffers of operands that more products may read.
    brought: FxHashMap<(ValueId, Lies), Brought>,
    /// The blocks around, by number, innermost last, and how many there were.
    path: Vec<u32>,
    blocks: u32,
    /// Tensors that are computed element by element of products, and lie in registers as those do.
    of_products: FxHashSet<ValueId>,
    /// What comes out of loops with products.
    of_loops: FxHashSet<ValueId>,
    /// What is loaded through descriptors, seen from whichever side.
    through_descriptor: FxHashSet<ValueId>,
    /// Where loads through descriptors that are operands are.
    tiles: FxHashMap<ValueId, ValueId>,
    /// Where a value is computed.
    made_at: FxHashMap<ValueId, Site>,
    places: Places,
    /// What is computed in each of the loops around, innermost last, and whether they count.
    within: Vec<FxHashSet<ValueId>>,
    counted: Vec<bool>,
    /// Loops around that are made one with those in them.
    flat: u32,
    /// The stages that the loop around is told to have.
    flat_stages: Option<i64>,
    /// Buffers that the loop around does not change, and what is in them.
    hoisted: Vec<(ValueId, Op)>,
    /// The products that buffers before a loop are made for, by the buffers.
    made_for: FxHashMap<ValueId, ValueId>,
    /// Buffers of operands that are read while the loop goes on: they are filled as soon as there is something to fill them with.
    behind: FxHashMap<ValueId, Vec<Op>>,
    /// The last product of tensor memory that is in no loop.
    read_late: Option<ValueId>,
    /// By a loop's first result, what gives back its copies: what is brought to shared memory of its results is there before.
    given_back: FxHashMap<ValueId, Vec<Op>>,
    /// Buffers of operands that are there when a round of the innermost loop starts.
    starts: Vec<Op>,
    /// The buffer of the left side of the product at hand, where it comes to registers through it.
    left: Vec<ValueId>,
    /// The loop around loads for later rounds.
    loads_ahead: bool,
    /// Some loop whose rounds overlap has hardly more of them than are taken out of it.
    has_short: bool,
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
                    if op.name == "add" {
                        self.sums.insert(result, op.operands.clone());
                    }
                }
                self.read_origin(op, result, is_elementwise);
                let is_view = op.name == "permute" && op.operands.iter().any(|of| self.through_descriptor.contains(of));
                if matches!(op.kind, Kind::StagedLoad { .. }) || is_view {
                    self.through_descriptor.insert(result);
                }
                if op.name == "convert_layout" {
                    self.converted.insert(result);
                }
                if let ("permute", &[of]) = (op.name, op.operands.as_slice()) {
                    self.seen_of.insert(result, of);
                    self.turned.insert(result);
                }
                if self.program.loads.contains_key(&result) {
                    self.sources.insert(result, Source { load: result, is_direct: true });
                } else if let ([of], [_]) = (op.operands.as_slice(), op.results.as_slice())
                    && let Some(&source) = self.sources.get(of)
                {
                    let is_turned = op.name == "permute";
                    self.sources.insert(result, Source { is_direct: source.is_direct && is_turned, ..source });
                }
            }
            op.kind.blocks().into_iter().for_each(|inner| self.read(inner));
            let multiplies = |block: &&Block| block.ops.iter().any(|op| self.product(op).is_some());
            if has_loop(op) && op.kind.blocks().iter().any(multiplies) {
                self.of_loops.extend(&op.results);
            }
        }
    }

    /// What a tensor is made of.
    fn read_origin(&mut self, op: &Op, result: ValueId, is_elementwise: bool) {
        let Program { loads, products, types, .. } = &*self.program;
        if let (true, &[left, right, ..]) = (products.contains_key(&result), op.operands.as_slice()) {
            self.operands_of.insert(result, [left, right]);
            return;
        }
        if matches!(op.kind, Kind::Constant) {
            self.constants.insert(result);
        }
        let narrowest = op.operands.iter().filter_map(|operand| self.least_bits.get(operand)).min().copied();
        if let Some(load) = loads.get(&result) {
            self.leaves.insert(result, (result, load.tile.bytes()));
            self.cast_of.insert(result, result);
            self.least_bits.insert(result, narrowest.unwrap_or(u32::MAX).min(load.tile.bits));
            return;
        }
        // A conversion to another layout may be done of what is loaded instead, whatever that has of bits.
        let is_view = VIEWS.contains(&op.name) || op.name == "convert_layout";
        if !is_elementwise && !is_view {
            return;
        }
        self.least_bits.extend(narrowest.map(|bits| (result, bits)));
        let leaves = op.operands.iter().filter_map(|operand| self.leaves.get(operand)).copied();
        if let Some(leaf) = leaves.reduce(|(one, small), (two, large)| (one.min(two), small.max(large))) {
            self.leaves.insert(result, leaf);
        }
        if is_view {
            return;
        }
        self.elementwise.insert(result);
        let is_turned = |of: &ValueId| self.turned.contains(of) || self.made_of_turned.contains(of);
        if op.operands.iter().any(is_turned) {
            self.made_of_turned.insert(result);
        }
        let mut tensors = op.operands.iter().filter(|operand| types[operand.0 as usize] == Type::Tensor);
        if let (Some(of), None) = (tensors.next(), tensors.next())
            && let Some(&load) = self.cast_of.get(of)
        {
            self.cast_of.insert(result, load);
            let is_number =
                |it: &ValueId| matches!(types[it.0 as usize], Type::Scalar { .. }) && !self.constants.contains(it);
            if self.scaled.contains(of) || op.operands.iter().any(is_number) {
                self.scaled.insert(result);
            }
        }
    }

    /// What a tensor is computed or loaded as, and whether it is seen from the other side.
    fn root(&self, value: ValueId) -> (ValueId, bool) {
        let (mut root, mut is_turned) = (value, false);
        while let Some(&of) = self.seen_of.get(&root) {
            work::spend(1);
            (root, is_turned) = (of, !is_turned);
        }
        (root, is_turned)
    }

    fn block(&mut self, block: &mut Block, around: Option<&Loop>) {
        self.blocks += 1;
        self.path.push(self.blocks);
        self.block_within(block, around);
        self.path.pop();
    }

    fn block_within(&mut self, block: &mut Block, around: Option<&Loop>) {
        let mut ops = Vec::with_capacity(block.ops.len());
        for mut op in std::mem::take(&mut block.ops) {
            work::spend(1);
            let is_operand_only = self.is_operand_only(&op);
            match &mut op.kind {
                Kind::For { body, stages, rounds, .. } => {
                    // Loops that are made one have the most stages that any of them is told to have.
                    let stages = if self.flat > 0 { self.flat_stages.max(*stages) } else { *stages };
                    let is_told = stages.is_some();
                    let told = std::mem::replace(&mut self.flat_stages, stages);
                    let stages = stages.unwrap_or(self.machine.stages);
                    let products: Vec<&Product> = body.ops.iter().filter_map(|op| self.product(op)).collect();
                    let is_in_tensor_memory = products.iter().any(|product| self.machine.is_in_tensor_memory(product));
                    let products = products.len() as u64;
                    let is_short = rounds.is_some_and(|rounds| rounds <= products + 1);
                    let mut looped = Loop { staged: self.staged(body, stages, is_told), ..Loop::default() };
                    if self.flat > 0 {
                        // Addresses come from the round before, and less is known of them than of those from a loop around.
                        for (load, it) in looped.staged.iter_mut().flatten() {
                            let is_open = it.holds == Holds::Surely && !self.through_descriptor.contains(load);
                            it.holds = if is_open { Holds::Perhaps } else { it.holds };
                        }
                    }
                    let is_plain = !is_told
                        && self.flat == 0
                        && rounds.is_none_or(|rounds| i64::try_from(rounds).is_ok_and(|rounds| rounds > stages));
                    let is_flat = self.machine.flattens && self.program.flattened.contains(&body.params[0]);
                    let copies = match looped.staged.is_some() {
                        true => self.copies(op.at, body, &mut looped, stages, is_plain),
                        false => Vec::new(),
                    };
                    self.has_short |= is_short && looped.overlaps.values().any(|&holds| holds != Holds::Not);
                    let ahead = match surest(looped.staged.iter().flatten().map(|(_, staging)| staging.holds)) {
                        // A loop that is to run as tasks may stay as it is.
                        Holds::Surely if self.program.wants_tasks => Holds::Perhaps,
                        ahead => ahead,
                    };
                    let around_loads_ahead = std::mem::replace(&mut self.loads_ahead, ahead != Holds::Not);
                    self.flat += u32::from(is_flat);
                    self.round(body, Some(&looped), true);
                    self.flat -= u32::from(is_flat);
                    self.loads_ahead = around_loads_ahead;
                    self.flat_stages = told;
                    self.put_hoisted(&mut ops);
                    let made: Vec<ValueId> = copies.iter().flat_map(|copy| copy.results.clone()).collect();
                    match self.flat > 0 {
                        true => self.hoisted.extend(copies.into_iter().map(|copy| (ValueId(u32::MAX), copy))),
                        false => ops.extend(copies),
                    }
                    if let Some(&result) = op.results.first().filter(|_| !self.machine.is_amd()) {
                        self.places.loads_ahead(result, ahead);
                        // What is read from tensor memory behind a loop is read when its copies are given back.
                        let made = if is_in_tensor_memory { Vec::new() } else { made };
                        let given_back = made.into_iter().map(|copy| let_go(&op, copy)).collect();
                        self.given_back.insert(result, given_back);
                    }
                    ops.push(op);
                }
                Kind::While { condition, body } => {
                    self.block(condition, None);
                    self.round(body, Some(&Loop::default()), false);
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

    fn round(&mut self, body: &mut Block, around: Option<&Loop>, is_counted: bool) {
        let mut within: FxHashSet<ValueId> = body.params.iter().copied().collect();
        body.each(&mut |op| {
            within.extend(&op.results);
            op.kind.blocks().into_iter().for_each(|inner| within.extend(&inner.params));
        });
        self.within.push(within);
        self.counted.push(is_counted);
        let starts = std::mem::take(&mut self.starts);
        self.block(body, around);
        body.ops.splice(0..0, std::mem::replace(&mut self.starts, starts));
        self.within.pop();
        self.counted.pop();
    }

    /// Before a loop, what does not depend on it; what does not depend on the loop around it either goes before that. The buffer of a product is
    /// there before what was converted behind that in the loop.
    fn put_hoisted(&mut self, ops: &mut Vec<Op>) {
        let around = self.within.last();
        let here = |(operand, _): &(ValueId, Op)| around.is_none_or(|within| within.contains(operand));
        let (put, further): (Vec<_>, Vec<_>) = std::mem::take(&mut self.hoisted).into_iter().partition(here);
        self.hoisted = further;
        for (_, op) in put {
            let product = op.results.first().and_then(|made| self.made_for.get(made));
            let at = product.and_then(|product| {
                work::spend(ops.len() as u64);
                // Values are numbered in the order of the text.
                let is_behind = |op: &Op| op.name == "convert_layout" && op.results.first() > Some(product);
                ops.iter().position(is_behind)
            });
            let at = at.unwrap_or(ops.len());
            ops.insert(at, op);
        }
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
            let given_back = op.results.first().and_then(|result| self.given_back.remove(result));
            let is_alone = made.is_empty();
            ops.push(op);
            ops.extend(made);
            ops.extend(given_back.into_iter().flatten().filter(|_| !is_alone));
        }
        block.ops = ops;
    }

    fn product(&self, op: &Op) -> Option<&Product> {
        self.program.products.get(op.results.first()?)
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
        let id = self.program.insert((name, at), (shape, dtype), (size, alignment), use_);
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

/// Alignment of a tile that a product loads into registers (`SwizzledSharedEncodingAttr`).
const OF_REGISTERS: u64 = 16;

/// Alignment of a tile that a product reads in place: by the bytes of its rows, which are swizzled (`NVMMASharedEncodingAttr`).
fn in_place_alignment(row: u64) -> u64 {
    let swizzle = [128, 64, 32].into_iter().find(|&swizzle| row >= swizzle && row.is_multiple_of(swizzle));
    swizzle.map_or(128, |swizzle| 8 * swizzle)
}

fn has_loop(op: &Op) -> bool {
    matches!(op.kind, Kind::For { .. } | Kind::While { .. })
        || op.kind.blocks().iter().any(|block| block.ops.iter().any(has_loop))
}

/// What reads a buffer that is made there and lets go of it.
fn read_back(alloc: &Op) -> Option<Op> {
    matches!(alloc.kind, Kind::Allocation(_)).then(|| let_go(alloc, alloc.results[0]))
}

/// What reads a buffer, where another operation is, and lets go of it.
fn let_go(at: &Op, buffer: ValueId) -> Op {
    Op {
        name: "local_dealloc",
        at: at.at,
        effect: Effect::Writes,
        operands: vec![buffer],
        results: Vec::new(),
        identity: at.identity,
        kind: Kind::Plain,
    }
}

impl Tile {
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.shape, self.bits)
    }
}

//! What the compiler of TLX does to a program once nothing of it is left out: loads through descriptors get their buffers, and operations move
//! (`lib/Dialect/TritonGPU/Transforms/ReorderInstructions.cpp`). Gluon leaves operations where they are.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::finding::Reason;
use tilefit_python::work;

use super::interleave;
use super::program::{Block, Buffer, Bytes, Effect, Kind, Op, Product, Program, Task, Type, ValueId};
use super::simplify::unused;

const IN_FRONT: &str = "whether a side of a product is converted for another use in its loop or before it follows from layouts that the compiler chooses";

pub(crate) fn lower(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    stored_as_they_are(&mut body);
    staged_loads(&mut body, program);
    let (mut loaded, mut names) = (FxHashMap::default(), FxHashMap::default());
    stored_again(&mut body, &program.buffers, &mut loaded, &mut names);
    rename(&mut body, &|value| names.get(&value).copied());
    program.body = body;
    unused(program);
}

/// A buffer takes a tensor from any layout: the one in which it goes to global memory is not needed for it.
fn stored_as_they_are(block: &mut Block) {
    for op in &mut block.ops {
        if is_staged_store(op) {
            op.operands.truncate(1);
        }
        for inner in op.kind.blocks_mut() {
            stored_as_they_are(inner);
        }
    }
}

/// What is loaded through a descriptor and stored through one as it is is stored from where it was loaded to.
fn stored_again(
    block: &mut Block,
    buffers: &[Buffer],
    loaded: &mut FxHashMap<ValueId, Op>,
    names: &mut FxHashMap<ValueId, ValueId>,
) {
    let mut made: FxHashMap<ValueId, Op> = FxHashMap::default();
    block.ops.retain_mut(|op| {
        match (op.name, op.operands.first()) {
            ("staging", None) => _ = op.results.first().map(|&tile| made.insert(tile, op.clone())),
            ("local_load", Some(tile)) => {
                if let Some(alloc) = made.get(tile) {
                    loaded.insert(op.results[0], alloc.clone());
                }
            }
            ("staging", Some(stored)) => {
                if let Some(alloc) = loaded.get(stored).filter(|alloc| is_same(alloc, op, buffers)) {
                    names.insert(op.results[0], alloc.results[0]);
                    return false;
                }
            }
            _ => {}
        }
        for inner in op.kind.blocks_mut() {
            stored_again(inner, buffers, loaded, names);
        }
        true
    });
}

/// `stages`: of loops that say nothing of them.
pub(crate) fn reorder(program: &mut Program, stages: i64) {
    let mut body = std::mem::take(&mut program.body);
    pipelined_stores(&mut body, &program.buffers, stages);
    interleave::interleave(&mut body, program);
    let mut uses = Uses::default();
    uses.count(&body, None);
    sink_loads(&mut body, &uses, None);
    let mut staging = Staging::default();
    staging.definitions(&body);
    staging.take(&mut body, &program.buffers);
    staging.put(&mut body);
    rename(&mut body, &|value| staging.names.get(&value).copied());
    program.body = body;
}

/// Gives what a loop stores through descriptors one buffer for each shape and type, which is there before the loop and after it
/// (`lib/Dialect/TritonGPU/Transforms/Pipeliner/TMAStoresPipeline.cpp`).
fn pipelined_stores(block: &mut Block, buffers: &[Buffer], of_others: i64) {
    let mut ops = Vec::with_capacity(block.ops.len());
    for mut op in std::mem::take(&mut block.ops) {
        work::spend(1);
        for inner in op.kind.blocks_mut() {
            pipelined_stores(inner, buffers, of_others);
        }
        let mut made = Vec::new();
        if let Kind::For { body, stages, .. } = &mut op.kind
            && stages.unwrap_or(of_others) > 1
        {
            shared_staging(body, buffers, &mut made);
        }
        let freed = made.iter().map(|alloc: &Op| Op {
            name: "local_dealloc",
            effect: Effect::Writes,
            operands: alloc.results.clone(),
            results: Vec::new(),
            kind: Kind::Plain,
            ..alloc.clone()
        });
        let freed: Vec<Op> = freed.collect();
        ops.extend(made);
        ops.push(op);
        ops.extend(freed);
    }
    block.ops = ops;
}

/// Replaces the buffers of stores in the body of a loop, but not in loops within it, by those that are `made`.
fn shared_staging(body: &mut Block, buffers: &[Buffer], made: &mut Vec<Op>) {
    let mut names = FxHashMap::default();
    for op in &mut body.ops {
        if is_staged_store(op) {
            let same = made.iter().find(|alloc| is_same(alloc, op, buffers));
            let results = op.results.clone();
            let alloc = match same {
                Some(alloc) => alloc.results[0],
                None => {
                    made.push(Op { operands: Vec::new(), ..op.clone() });
                    results[0]
                }
            };
            names.insert(results[0], alloc);
            *op = Op {
                name: "local_store",
                effect: Effect::Writes,
                operands: [op.operands.as_slice(), &[alloc]].concat(),
                results: Vec::new(),
                kind: Kind::Plain,
                ..op.clone()
            };
        } else if !matches!(op.kind, Kind::For { .. } | Kind::Specialize { .. }) {
            for inner in op.kind.blocks_mut() {
                shared_staging(inner, buffers, made);
            }
        }
    }
    rename(body, &|value| names.get(&value).copied());
}

/// Whether two buffers have one shape and one type.
fn is_same(one: &Op, two: &Op, buffers: &[Buffer]) -> bool {
    let of = |op: &Op| match op.kind {
        Kind::Allocation(id) => buffers.get(id.0 as usize),
        _ => None,
    };
    of(one).zip(of(two)).is_some_and(|(one, two)| one.shape == two.shape && one.dtype == two.dtype)
}

/// Makes the buffer that a descriptor stores from.
fn is_staged_store(op: &Op) -> bool {
    op.name == "staging" && !op.operands.is_empty()
}

fn rename(block: &mut Block, by: &dyn Fn(ValueId) -> Option<ValueId>) {
    for op in &mut block.ops {
        for operand in &mut op.operands {
            *operand = by(*operand).unwrap_or(*operand);
        }
        for inner in op.kind.blocks_mut() {
            rename(inner, by);
        }
    }
}

/// Puts products to which something is added where that is: the compiler makes both one product (`lib/Dialect/Triton/Transforms/Combine.cpp`). `adds`:
/// whether a product can add to something.
pub(crate) fn add_to(program: &mut Program, adds: &dyn Fn(&Product) -> bool) {
    let Program { body, products, .. } = program;
    let mut uses: FxHashMap<ValueId, u32> = FxHashMap::default();
    body.each(&mut |op| op.operands.iter().for_each(|&operand| *uses.entry(operand).or_default() += 1));
    let is_added =
        |op: &Op| op.results.first().and_then(|id| products.get(id)).is_some_and(adds) && op.operands.len() == 2;
    add_to_in(body, &uses, &is_added);
}

fn add_to_in(block: &mut Block, uses: &FxHashMap<ValueId, u32>, is_added: &dyn Fn(&Op) -> bool) {
    let mut taker: FxHashMap<ValueId, usize> = FxHashMap::default();
    for (at, op) in block.ops.iter_mut().enumerate() {
        work::spend(1);
        op.kind.blocks_mut().into_iter().for_each(|inner| add_to_in(inner, uses, is_added));
        taker.extend(op.operands.iter().map(|&operand| (operand, at)));
    }
    // Products, and what brings those to another layout, that go before a sum: of two the one that is added.
    let mut groups: Vec<(usize, Option<usize>, Vec<usize>)> = Vec::new();
    for (at, _) in block.ops.iter().enumerate().filter(|(_, op)| is_added(op)) {
        let (mut moved, mut last) = (Vec::new(), at);
        while let [result] = block.ops[last].results[..]
            && uses.get(&result) == Some(&1)
            && let Some(&next) = taker.get(&result)
        {
            moved.push(last);
            last = next;
            match block.ops[last].name {
                "convert_layout" => continue,
                "add" => groups.push((last, block.ops[last].operands.iter().position(|of| *of == result), moved)),
                _ => {}
            }
            break;
        }
    }
    groups.sort_unstable();
    let groups: BTreeMap<usize, Vec<usize>> = groups.into_iter().map(|(sum, _, moved)| (sum, moved)).collect();
    let sums: FxHashMap<usize, usize> =
        groups.iter().flat_map(|(&sum, moved)| moved.iter().map(move |&moved| (moved, sum))).collect();
    let mut moved: BTreeMap<usize, Vec<Op>> = BTreeMap::new();
    let mut ops = Vec::with_capacity(block.ops.len());
    for (at, op) in std::mem::take(&mut block.ops).into_iter().enumerate() {
        match sums.get(&at) {
            Some(&sum) => moved.entry(sum).or_default().push(op),
            None => {
                ops.extend(moved.remove(&at).unwrap_or_default());
                ops.push(op);
            }
        }
    }
    block.ops = ops;
}

/// What is known of a loop that something may move out of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoopFacts {
    /// Something is written in it.
    pub writes: bool,
    /// As the author says.
    pub stages: Option<i64>,
}

/// Moves what is the same in each round of a loop before it. `moves`: whether a product may. `keeps`: whether what is computed for a side of a
/// product stays in a loop, where its buffer is. `is_in_tensor_memory`: whether a result is read from there
/// where it is needed. Returns whether a conversion of such a result may be done before a loop or behind the buffers of that, which is not modelled.
pub(crate) fn hoist(
    program: &mut Program,
    moves: &dyn Fn(&Product) -> bool,
    keeps: &dyn Fn(&Product, usize, LoopFacts) -> bool,
    is_in_tensor_memory: &dyn Fn(&Product) -> bool,
) -> bool {
    let (converted, is_open) = (converted_from(program, is_in_tensor_memory), Cell::new(false));
    let kept: RefCell<FxHashSet<ValueId>> = RefCell::default();
    let Sides { of: sides, turned } = sides(program);
    let Program { body, products, keeping_invariants, scratch, .. } = program;
    let mut takers: FxHashMap<ValueId, Vec<&'static str>> = FxHashMap::default();
    body.each(&mut |op| {
        for &operand in op.operands.iter().filter(|operand| products.contains_key(operand)) {
            takers.entry(operand).or_default().push(op.name);
        }
    });
    // What a product is added to has become a part of it before anything moves (`lib/Dialect/Triton/Transforms/Combine.cpp`).
    let is_added = |value| takers.get(&value).is_some_and(|takers| takers.as_slice() == ["add"]);
    hoist_in(body, keeping_invariants, &|value, looped| {
        let is_kept = |&(product, nth): &(ValueId, usize)| keeps(&products[&product], nth, looped);
        let stays = |product| !moves(product) || is_added(value) || turned.contains(&value);
        let is_converted = converted.contains(&value);
        is_open.set(is_open.get() || is_converted);
        let is_kept = sides.get(&value).into_iter().flatten().any(is_kept);
        if is_kept {
            kept.borrow_mut().insert(value);
        }
        is_converted || products.get(&value).is_some_and(stays) || is_kept
    });
    // What else is done with such a side may be before the loop, where nothing of the loop is in shared memory.
    body.each(&mut |op| {
        let of_kept = op.operands.first().is_some_and(|operand| kept.borrow().contains(operand));
        if let (Kind::Scratch(id), "convert_layout", true) = (&op.kind, op.name, of_kept) {
            let size = &mut scratch[id.0 as usize].size;
            *size = Bytes::Between(0, size.high(), Reason::new(IN_FRONT));
        }
    });
    is_open.get()
}

/// Conversions of what some products give, or loops around those.
fn converted_from(program: &Program, from: &dyn Fn(&Product) -> bool) -> FxHashSet<ValueId> {
    /// Whether there is such a product in a block.
    fn visit(
        block: &Block,
        is_one: &dyn Fn(&Op) -> bool,
        of: &mut FxHashSet<ValueId>,
        found: &mut FxHashSet<ValueId>,
    ) -> bool {
        let mut has_one = false;
        for op in &block.ops {
            work::spend(1);
            let mut is_of = is_one(op);
            for inner in op.kind.blocks() {
                is_of |= visit(inner, is_one, of, found);
            }
            has_one |= is_of;
            if is_of || op.operands.iter().any(|operand| of.contains(operand)) {
                of.extend(&op.results);
                found.extend(op.results.iter().filter(|_| op.name == "convert_layout"));
            }
        }
        has_one
    }
    let is_one = |op: &Op| op.results.first().and_then(|id| program.products.get(id)).is_some_and(from);
    let (mut of, mut found) = (FxHashSet::default(), FxHashSet::default());
    visit(&program.body, &is_one, &mut of, &mut found);
    found
}

/// Sides of products that are computed.
#[derive(Default)]
struct Sides {
    /// Of which products a value is which side, seen from whichever side.
    of: FxHashMap<ValueId, Vec<(ValueId, usize)>>,
    /// Products that take one from the other side: it comes to the registers by way of shared memory from the start, and is written there in each round
    /// (`SwizzleShmemConvert` in `OptimizeDotOperands.cpp`).
    turned: FxHashSet<ValueId>,
}

fn sides(program: &Program) -> Sides {
    let mut seen_of: FxHashMap<ValueId, ValueId> = FxHashMap::default();
    let mut sides = Sides::default();
    program.body.each(&mut |op| {
        let Some(&result) = op.results.first() else { return };
        if let ("permute", Some(&of)) = (op.name, op.operands.first()) {
            seen_of.insert(result, seen_of.get(&of).copied().unwrap_or(of));
        }
        if !program.products.contains_key(&result) {
            return;
        }
        for (nth, operand) in op.operands.iter().take(2).enumerate() {
            let side = seen_of.get(operand).copied().unwrap_or(*operand);
            if !program.loads.contains_key(&side) {
                sides.of.entry(side).or_default().push((result, nth));
                sides.turned.extend((side != *operand).then_some(result));
            }
        }
    });
    sides
}

fn hoist_in(block: &mut Block, keeping: &FxHashSet<ValueId>, stays: &dyn Fn(ValueId, LoopFacts) -> bool) {
    let mut ops = Vec::with_capacity(block.ops.len());
    for mut op in std::mem::take(&mut block.ops) {
        work::spend(1);
        for inner in op.kind.blocks_mut() {
            hoist_in(inner, keeping, stays);
        }
        let moves = match &op.kind {
            Kind::For { body, .. } => !body.params.first().is_some_and(|index| keeping.contains(index)),
            Kind::While { .. } => true,
            _ => false,
        };
        if moves {
            ops.extend(invariants(&mut op, stays));
        }
        ops.push(op);
    }
    block.ops = ops;
}

/// Takes out of a loop what does not depend on it. A load is taken out of a loop in which nothing is written.
fn invariants(looped: &mut Op, stays: &dyn Fn(ValueId, LoopFacts) -> bool) -> Vec<Op> {
    let mut within: FxHashSet<ValueId> = FxHashSet::default();
    let mut writes = false;
    for block in looped.kind.blocks() {
        within.extend(&block.params);
        block.each(&mut |op| {
            within.extend(&op.results);
            for inner in op.kind.blocks() {
                within.extend(&inner.params);
            }
            writes |= matches!(op.effect, Effect::Writes | Effect::Allocates);
        });
    }
    let stages = if let Kind::For { stages, .. } = &looped.kind { *stages } else { None };
    let mut hoisted: Vec<Op> = Vec::new();
    for block in looped.kind.blocks_mut() {
        let taken = block.ops.extract_if(.., |op| {
            let may = match op.effect {
                Effect::None => op.kind.blocks().is_empty() && !matches!(op.kind, Kind::Yield),
                Effect::Reads => op.name == "load" && !writes,
                _ => false,
            };
            let is_invariant = may
                && op.operands.iter().all(|operand| !within.contains(operand))
                && !op.results.iter().any(|&result| stays(result, LoopFacts { writes, stages }));
            if is_invariant {
                op.results.iter().for_each(|result| {
                    within.remove(result);
                });
            }
            is_invariant
        });
        hoisted.extend(taken);
    }
    hoisted
}

/// Gives each load through a descriptor a buffer and a barrier.
fn staged_loads(block: &mut Block, program: &mut Program) {
    let mut ops = Vec::with_capacity(block.ops.len());
    for mut op in std::mem::take(&mut block.ops) {
        work::spend(1);
        for inner in op.kind.blocks_mut() {
            staged_loads(inner, program);
        }
        let Kind::StagedLoad { staging, barrier } = op.kind else {
            ops.push(op);
            continue;
        };
        let mut made = |buffer| {
            program.types.push(Type::Shared { rank: 2 });
            let value = ValueId(program.types.len() as u32 - 1);
            let alloc = Op {
                name: "staging",
                effect: Effect::Allocates,
                operands: Vec::new(),
                results: vec![value],
                kind: Kind::Allocation(buffer),
                ..op.clone()
            };
            (value, alloc)
        };
        let ((tile, tile_alloc), (ready, ready_alloc)) = (made(staging), made(barrier));
        let operands = [op.operands.as_slice(), &[tile, ready]].concat();
        let copy = Op { effect: Effect::Writes, operands, results: Vec::new(), kind: Kind::Plain, ..op.clone() };
        let load = Op { name: "local_load", operands: vec![tile], kind: Kind::Plain, ..op };
        ops.extend([tile_alloc, ready_alloc, copy, load]);
    }
    block.ops = ops;
}

/// In which loop each value is used, as often as it is.
#[derive(Default)]
struct Uses(FxHashMap<ValueId, Vec<Option<u32>>>);

impl Uses {
    fn count(&mut self, block: &Block, around: Option<u32>) {
        for op in &block.ops {
            for &operand in &op.operands {
                self.0.entry(operand).or_default().push(around);
            }
            let inside = loop_of(op).or(around);
            for inner in op.kind.blocks() {
                self.count(inner, inside);
            }
        }
    }
}

/// What a counted loop is known by.
fn loop_of(op: &Op) -> Option<u32> {
    match &op.kind {
        Kind::For { body, .. } => body.params.first().map(|index| index.0),
        _ => None,
    }
}

/// A load from shared memory whose result is used once, and in another loop, is done there.
fn sink_loads(block: &mut Block, uses: &Uses, around: Option<u32>) {
    let sinks = |op: &Op| {
        op.name == "local_load"
            && op.results.first().is_some_and(|result| {
                uses.0.get(result).is_some_and(|places| matches!(places[..], [place] if place != around))
            })
    };
    let sunk: Vec<Op> = block.ops.extract_if(.., |op| sinks(op)).collect();
    for op in sunk {
        work::spend(1);
        if let Some(op) = before_use(block, op) {
            block.ops.insert(0, op);
        }
    }
    for op in &mut block.ops {
        let inside = loop_of(op).or(around);
        for inner in op.kind.blocks_mut() {
            sink_loads(inner, uses, inside);
        }
    }
}

/// Loads that are used several times, and in another loop too: the compiler may do them there once more, in another layout. `None` where there is none.
pub(crate) fn loaded_again(program: &Program) -> Option<Program> {
    let mut uses = Uses::default();
    uses.count(&program.body, None);
    let mut loads = FxHashMap::default();
    repeatable(&program.body, &uses, None, &mut loads);
    if loads.is_empty() {
        return None;
    }
    let mut again = program.clone();
    load_again(&mut again.body, &loads);
    Some(again)
}

fn repeatable(block: &Block, uses: &Uses, around: Option<u32>, loads: &mut FxHashMap<ValueId, Op>) {
    for op in &block.ops {
        if let ("local_load", Some(result)) = (op.name, op.results.first())
            && uses.0.get(result).is_some_and(|places| places.len() > 1 && places.iter().any(|&place| place != around))
        {
            loads.insert(*result, op.clone());
        }
        let inside = loop_of(op).or(around);
        for inner in op.kind.blocks() {
            repeatable(inner, uses, inside, loads);
        }
    }
}

/// Uses what is loaded from where it is used: for the lives of buffers, that is as if it were loaded there.
fn load_again(block: &mut Block, loads: &FxHashMap<ValueId, Op>) {
    for op in &mut block.ops {
        let buffers: Vec<ValueId> =
            op.operands.iter().filter_map(|value| loads.get(value)?.operands.first().copied()).collect();
        if matches!(op.kind, Kind::Plain | Kind::Scratch(_)) {
            op.operands.extend(buffers);
        }
        for inner in op.kind.blocks_mut() {
            load_again(inner, loads);
        }
    }
}

/// Puts an operation before the one that uses its result; returns it if nothing does.
fn before_use(block: &mut Block, op: Op) -> Option<Op> {
    let result = op.results[0];
    if let Some(at) = block.ops.iter().position(|user| user.operands.contains(&result)) {
        block.ops.insert(at, op);
        return None;
    }
    let mut inner = block.ops.iter_mut().flat_map(|user| user.kind.blocks_mut());
    inner.try_fold(op, |op, inner| before_use(inner, op))
}

/// Buffers that are made of what a descriptor stores: each is made as soon as that is there, and once.
#[derive(Default)]
struct Staging {
    /// Results of operations.
    defined: FxHashSet<ValueId>,
    /// Those that are known when the kernel is compiled. What is made of them stays where it is.
    constant: FxHashSet<ValueId>,
    /// By what they are made of.
    taken: FxHashMap<ValueId, Vec<Op>>,
    /// Buffers that are the same as others.
    names: FxHashMap<ValueId, ValueId>,
}

impl Staging {
    fn definitions(&mut self, block: &Block) {
        for op in &block.ops {
            let folds = matches!(op.kind, Kind::Constant) || FOLDED.contains(&op.name);
            if folds && op.operands.iter().all(|operand| self.constant.contains(operand)) {
                self.constant.extend(&op.results);
            } else {
                self.defined.extend(&op.results);
            }
            for inner in op.kind.blocks() {
                self.definitions(inner);
            }
        }
    }

    fn take(&mut self, block: &mut Block, buffers: &[Buffer]) {
        let mut constant: Vec<Op> = Vec::new();
        let (defined, taken, names) = (&self.defined, &mut self.taken, &mut self.names);
        block.ops.retain(|op| {
            let Some(of) = op.operands.first().filter(|_| is_staged_store(op)) else { return true };
            if defined.contains(of) {
                let all = taken.entry(*of).or_default();
                match all.iter_mut().find(|other| is_same(other, op, buffers)) {
                    Some(other) => {
                        // The one that is moved last stands first.
                        names.insert(op.results[0], other.results[0]);
                        other.kind = op.kind.clone();
                        other.at = op.at;
                    }
                    None => all.insert(0, op.clone()),
                }
                return false;
            }
            match constant.iter().find(|other| is_same(other, op, buffers) && other.operands == op.operands) {
                Some(other) => {
                    names.insert(op.results[0], other.results[0]);
                    false
                }
                None => {
                    constant.push(op.clone());
                    true
                }
            }
        });
        for op in &mut block.ops {
            for inner in op.kind.blocks_mut() {
                self.take(inner, buffers);
            }
        }
    }

    fn put(&mut self, block: &mut Block) {
        let mut ops = Vec::with_capacity(block.ops.len());
        for mut op in std::mem::take(&mut block.ops) {
            for inner in op.kind.blocks_mut() {
                self.put(inner);
            }
            let results = op.results.clone();
            ops.push(op);
            for result in results {
                ops.extend(self.taken.remove(&result).unwrap_or_default());
            }
        }
        block.ops = ops;
    }
}

/// Operations that are done while the kernel is compiled where their operands are known then.
const FOLDED: [&str; 8] = ["splat", "cast", "add", "sub", "mul", "broadcast", "expand_dims", "reshape"];

/// From sm_100 on, tasks get no more warps than their largest tensors need
/// (`lib/Dialect/TritonGPU/Transforms/WarpSpecialization/OptimizePartitionWarps.cpp`).
pub(crate) fn take_warps(program: &mut Program, of_kernel: u64) {
    let mut body = std::mem::take(&mut program.body);
    take_warps_in(&mut body, of_kernel, &program.registers);
    program.body = body;
}

fn take_warps_in(block: &mut Block, of_kernel: u64, registers: &FxHashMap<ValueId, u64>) {
    for op in &mut block.ops {
        for inner in op.kind.blocks_mut() {
            take_warps_in(inner, of_kernel, registers);
        }
        if let Kind::Specialize { tasks, .. } = &mut op.kind {
            take_warps_of(tasks, of_kernel, registers);
        }
    }
}

fn take_warps_of(tasks: &mut [Task], of_kernel: u64, registers: &FxHashMap<ValueId, u64>) {
    const REGISTERS_OF_LANE: u64 = 65536 / 32;
    let needs: Vec<(u64, u64)> = tasks.iter().map(|task| needed_by(&task.body, registers)).collect();
    loop {
        let total: u64 = of_kernel + tasks.iter().map(|task| task.warps).sum::<u64>();
        let smaller = tasks.iter_mut().zip(&needs).find(|(task, (least, registers))| {
            let half = task.warps / 2;
            // The largest tensor is taken for half of what a task holds.
            task.warps > *least && registers * 2 / 32 / half <= REGISTERS_OF_LANE / (total - half)
        });
        match smaller {
            Some((task, _)) => task.warps /= 2,
            None => return,
        }
    }
}

/// The fewest warps that a task may have, and the registers of its largest tensor. A copy through a descriptor is issued by two warps, tensor memory
/// is reached by four.
fn needed_by(body: &Block, registers: &FxHashMap<ValueId, u64>) -> (u64, u64) {
    let (mut least, mut most) = (1, 0);
    body.each(&mut |op| {
        least = least.max(match op.name {
            "async_descriptor_load" | "descriptor load" => 2,
            "tmem_load" => 4,
            _ => 1,
        });
        for value in op.results.iter().chain(&op.operands) {
            most = most.max(registers.get(value).copied().unwrap_or(0));
        }
    });
    (least, most)
}

//! What the compiler of TLX does to a program once nothing of it is left out: loads through descriptors get their buffers, and operations move
//! (`lib/Dialect/TritonGPU/Transforms/ReorderInstructions.cpp`). Gluon leaves operations where they are.

use std::collections::{HashMap, HashSet};

use super::program::{Block, Effect, Kind, Op, Program, Type, ValueId};
use crate::work;

pub fn lower(program: &mut Program) {
    let mut body = std::mem::take(&mut program.body);
    staged_loads(&mut body, program);
    program.body = body;
}

pub fn reorder(program: &mut Program) {
    let mut uses = Uses::default();
    uses.count(&program.body, None);
    sink_loads(&mut program.body, &uses, None);
    let mut staging = Staging::default();
    staging.definitions(&program.body);
    staging.take(&mut program.body);
    staging.put(&mut program.body);
    staging.put_constant(&mut program.body);
}

/// Moves what is the same in each round of a loop in front of it.
pub fn hoist(program: &mut Program) {
    hoist_in(&mut program.body);
}

fn hoist_in(block: &mut Block) {
    let mut ops = Vec::with_capacity(block.ops.len());
    for mut op in std::mem::take(&mut block.ops) {
        work::spend(1);
        for inner in op.kind.blocks_mut() {
            hoist_in(inner);
        }
        if matches!(op.kind, Kind::For { .. } | Kind::While { .. }) {
            ops.extend(invariants(&mut op));
        }
        ops.push(op);
    }
    block.ops = ops;
}

/// Takes out of a loop what does not hang on it. A load is taken out of a loop in which nothing is written.
fn invariants(looped: &mut Op) -> Vec<Op> {
    let mut within: HashSet<ValueId> = HashSet::new();
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
    let mut hoisted: Vec<Op> = Vec::new();
    for block in looped.kind.blocks_mut() {
        let taken = block.ops.extract_if(.., |op| {
            let may = match op.effect {
                Effect::None => op.kind.blocks().is_empty() && !matches!(op.kind, Kind::Yield),
                Effect::Reads => op.name == "load" && !writes,
                _ => false,
            };
            let is_invariant = may && op.operands.iter().all(|operand| !within.contains(operand));
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

/// How often each value is used, and in which loop last.
#[derive(Default)]
struct Uses(HashMap<ValueId, (u32, Option<u32>)>);

impl Uses {
    fn count(&mut self, block: &Block, around: Option<u32>) {
        for op in &block.ops {
            for &operand in &op.operands {
                let uses = self.0.entry(operand).or_insert((0, around));
                *uses = (uses.0 + 1, around);
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
            && op
                .results
                .first()
                .is_some_and(|result| uses.0.get(result).is_some_and(|&(count, place)| count == 1 && place != around))
    };
    let sunk: Vec<Op> = block.ops.extract_if(.., |op| sinks(op)).collect();
    for op in sunk {
        work::spend(1);
        if let Err(op) = before_use(block, op) {
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

/// Puts an operation in front of the one that uses its result; gives it back where there is none.
fn before_use(block: &mut Block, mut op: Op) -> Result<(), Op> {
    let result = op.results[0];
    if let Some(at) = block.ops.iter().position(|user| user.operands.contains(&result)) {
        block.ops.insert(at, op);
        return Ok(());
    }
    for user in &mut block.ops {
        for inner in user.kind.blocks_mut() {
            match before_use(inner, op) {
                Ok(()) => return Ok(()),
                Err(back) => op = back,
            }
        }
    }
    Err(op)
}

/// Buffers that are made of what a descriptor stores: each is made as soon as that is there.
#[derive(Default)]
struct Staging {
    /// Results of operations.
    defined: HashSet<ValueId>,
    /// Those that are known when the kernel is compiled, which stand at its start.
    constant: HashSet<ValueId>,
    /// By what they are made of.
    taken: HashMap<ValueId, Vec<Op>>,
}

impl Staging {
    fn definitions(&mut self, block: &Block) {
        for op in &block.ops {
            self.defined.extend(&op.results);
            let folds = matches!(op.kind, Kind::Constant) || FOLDED.contains(&op.name);
            if folds && op.operands.iter().all(|operand| self.constant.contains(operand)) {
                self.constant.extend(&op.results);
            }
            for inner in op.kind.blocks() {
                self.definitions(inner);
            }
        }
    }

    fn take(&mut self, block: &mut Block) {
        let defined = &self.defined;
        let taken = block
            .ops
            .extract_if(.., |op| op.name == "staging" && op.operands.first().is_some_and(|of| defined.contains(of)));
        for op in taken {
            self.taken.entry(op.operands[0]).or_default().insert(0, op);
        }
        for op in &mut block.ops {
            let tasks = matches!(op.kind, Kind::Specialize { .. });
            for (i, inner) in op.kind.blocks_mut().into_iter().enumerate() {
                // A task has a start of its own.
                if tasks && i > 0 {
                    let around = std::mem::take(&mut self.taken);
                    self.take(inner);
                    self.put(inner);
                    self.put_constant(inner);
                    self.taken = around;
                } else {
                    self.take(inner);
                }
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
            for result in results.iter().filter(|result| !self.constant.contains(result)) {
                ops.extend(self.taken.remove(result).unwrap_or_default());
            }
        }
        block.ops = ops;
    }

    fn put_constant(&mut self, block: &mut Block) {
        let mut of: Vec<ValueId> = self.taken.keys().copied().collect();
        of.sort_unstable();
        let first: Vec<Op> = of.iter().flat_map(|value| self.taken.remove(value).unwrap_or_default()).collect();
        block.ops.splice(0..0, first);
    }
}

/// Operations that are done while the kernel is compiled where their operands are known then.
const FOLDED: [&str; 8] = ["splat", "cast", "add", "sub", "mul", "broadcast", "expand_dims", "reshape"];

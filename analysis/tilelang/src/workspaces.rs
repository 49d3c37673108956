//! Scratch that reductions need whose threads are more than a warp
//! (docs/reference/tilelang.md, "8. What the author did not write, in `shared.dyn`").

use std::collections::BTreeMap;
use std::rc::Rc;

use tilefit_python::finding::Origin;

use crate::products::{Instruction, Warps, instruction, warps};
use crate::program::{Buffer, BufferId, Extent, Kind, Launch, Op, Scope};
use crate::steps::Step;
use crate::target::Target;

/// Threads that exchange values without memory.
const WARP: u64 = 32;
/// What a thread loads at once, bits.
const VECTOR: u64 = 128;

/// Of one reduction, by the number of its statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Workspace {
    /// Bytes; one element of the result for each thread.
    pub size: u64,
    pub need: Need,
    pub at: Origin,
}

/// Whether more threads than a warp reduce.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    Yes,
    No,
    /// It depends on a layout that is not modelled.
    Unsure,
}

impl From<bool> for Need {
    fn from(is_needed: bool) -> Need {
        if is_needed { Need::Yes } else { Need::No }
    }
}

/// Those of all reductions that may need one. `threads`: of the block.
pub(crate) fn workspaces(
    launch: &Launch,
    steps: &[Rc<Step>],
    target: Target,
    threads: Option<u64>,
) -> BTreeMap<usize, Workspace> {
    let ops: Vec<_> = steps.iter().flat_map(|step| step.ops()).collect();
    let count = threads.unwrap_or(0);
    let mut accumulators: BTreeMap<BufferId, (Instruction, Option<Warps>)> = BTreeMap::new();
    for numbered in &ops {
        if let (Kind::Gemm(gemm), Some(result)) = (&numbered.op.kind, numbered.op.writes.first()) {
            let instruction = instruction(launch, numbered.op, gemm, target, count);
            accumulators.insert(result.buffer, (instruction, warps(gemm, instruction, target, count)));
        }
    }
    let mut found = BTreeMap::new();
    for numbered in &ops {
        let op = numbered.op;
        let (Kind::Reduce(reduce), Some(source), Some(result)) = (&op.kind, source(launch, op), op.writes.first())
        else {
            continue;
        };
        let of = launch.buffer(source);
        let need = match (threads, accumulators.get(&source)) {
            (None, _) => Need::Unsure,
            (Some(_), Some((_, shared_by))) => of_product(*shared_by, reduce.dim, target),
            (Some(threads), None) => of_loaded(launch, of, widest(launch, &ops, source), reduce.dim, threads),
        };
        let bits = launch.buffer(result.buffer).dtype.bits;
        let size = count.saturating_mul(bits).div_ceil(8);
        found.insert(numbered.number, Workspace { size, need, at: op.at });
    }
    found
}

/// What is reduced: in registers, if anything it reads is.
fn source(launch: &Launch, op: &Op) -> Option<BufferId> {
    let in_registers = op.reads.iter().find(|region| launch.buffer(region.buffer).scope == Scope::Fragment);
    in_registers.or(op.reads.first()).map(|region| region.buffer)
}

/// Of the result of a product, along its columns.
fn of_product(shared_by: Option<Warps>, dim: usize, target: Target) -> Need {
    match (shared_by, dim, target) {
        (None, ..) => Need::Unsure,
        (Some(_), 1, Target::Amd { .. }) => Need::Yes,
        (Some(warps), 1, _) => (warps.n > 1).into(),
        _ => Need::Unsure,
    }
}

/// The narrowest element that the fragment is loaded from, bits.
fn widest(launch: &Launch, ops: &[crate::steps::Numbered], fragment: BufferId) -> u64 {
    let fills = ops.iter().map(|numbered| numbered.op).filter(|op| {
        let loads = op.is_copy() || matches!(op.kind, Kind::Parallel { .. });
        loads && op.writes.iter().any(|region| region.buffer == fragment)
    });
    let sources = fills.flat_map(|op| &op.reads).map(|region| launch.buffer(region.buffer));
    let elsewhere = sources.filter(|buffer| buffer.scope != Scope::Fragment).map(|buffer| buffer.dtype.bits);
    elsewhere.chain([launch.buffer(fragment).dtype.bits]).min().unwrap_or(VECTOR)
}

/// Of a fragment that threads load in vectors, row after row.
fn of_loaded(_launch: &Launch, of: &Buffer, bits: u64, dim: usize, threads: u64) -> Need {
    let Some(row) = of.shape.last().and_then(Extent::known) else { return Need::Unsure };
    if of.shape.len() == 1 {
        return Need::Yes;
    }
    let in_row = threads.min(row.saturating_mul(bits) / VECTOR);
    if dim + 1 == of.shape.len() {
        return (in_row > WARP).into();
    }
    match in_row {
        0 => Need::Unsure,
        _ => (threads > WARP && threads / in_row > 1).into(),
    }
}

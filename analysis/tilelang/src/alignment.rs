//! What the address of a buffer must be a multiple of (docs/reference/tilelang.md, "6. Alignment on sm_90 and later (16 elsewhere)").

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::bulk_copies;
use crate::products::{Instruction, instruction, runs, warps};
use crate::program::{Buffer, BufferId, Extent, Kind, Launch, Region, Scope};
use crate::steps::Step;
use crate::target::Target;

/// Of every buffer, bytes.
pub(crate) const LEAST: u64 = 16;
/// Of a bulk copy without a swizzle.
const LINEAR: u64 = 128;
/// Of whatever the hardware finds by itself, without a swizzle that says less.
pub(crate) const MOST: u64 = 1024;

/// Of buffers, where it is not the least.
#[derive(Debug, Default)]
pub(crate) struct Alignments {
    of: BTreeMap<BufferId, u64>,
    /// What copies ask for, by name: buffers of one name have it in common.
    by_name: BTreeMap<Arc<str>, u64>,
    /// Buffers whose layout is not known.
    pub unsure: BTreeSet<BufferId>,
    /// Buffers whose copy may be of one stretch of memory, with what they are aligned to if it is, and if not: that depends on whether the compiler
    /// proves it to lie within the tensor.
    pub of_stretches: BTreeMap<BufferId, [u64; 2]>,
}

impl Alignments {
    pub(crate) fn of(&self, launch: &Launch, buffer: BufferId) -> u64 {
        let asked = self.by_name.get(&launch.buffer(buffer).name).or_else(|| self.of.get(&buffer));
        asked.copied().unwrap_or(LEAST).max(LEAST)
    }

    /// For a copy of one stretch, which takes another instruction where it is not proved to lie within the tensor.
    fn ask_of_stretch(&mut self, launch: &Launch, buffer: BufferId, global: &Region, otherwise: u64) {
        match global.is_inside {
            Some(true) => _ = self.of.insert(buffer, MOST),
            Some(false) => self.ask(launch, buffer, otherwise),
            None => {
                self.of.insert(buffer, MOST);
                self.of_stretches.insert(buffer, [MOST, otherwise]);
            }
        }
    }

    fn ask(&mut self, launch: &Launch, buffer: BufferId, bytes: u64) {
        let asked = self.by_name.entry(launch.buffer(buffer).name.clone()).or_default();
        *asked = bytes.max(*asked);
    }
}

/// `loads`: statements that have become bulk loads.
pub(crate) fn alignments(launch: &Launch, steps: &[Rc<Step>], loads: &BTreeSet<usize>, target: Target) -> Alignments {
    let mut found = Alignments::default();
    if !target.has_bulk_copies() {
        return found;
    }
    let ops: Vec<_> = steps.iter().flat_map(|step| step.ops()).collect();
    let operands = operands(launch, steps, target, &mut found);
    for numbered in &ops {
        let op = numbered.op;
        let is_load = loads.contains(&numbered.number) || op.kind == Kind::TmaCopy;
        if let Some(load) = bulk_copies::load(launch, op, target).filter(|_| is_load) {
            let buffer = load.shared.buffer;
            let tile = launch.buffer(buffer);
            let is_one_stretch = bulk_copies::is_contiguous(launch, load.global);
            match operands.get(&buffer) {
                Some(Some(run)) => found.ask(launch, buffer, swizzle(tile, *run)),
                Some(None) => _ = found.unsure.insert(buffer),
                None if tile.is_swizzled => found.ask(launch, buffer, by_row(tile)),
                None if is_one_stretch => found.ask_of_stretch(launch, buffer, load.global, LINEAR),
                None => found.ask(launch, buffer, LINEAR),
            }
        }
        let may_store = op.kind == Kind::TmaCopy || !launch.options.is_tma_off;
        if let Some(store) = bulk_copies::store(launch, op, target).filter(|_| may_store) {
            let buffer = store.shared.buffer;
            let tile = launch.buffer(buffer);
            let is_one_stretch = bulk_copies::is_contiguous(launch, store.global);
            match operands.get(&buffer) {
                Some(Some(run)) => found.ask(launch, buffer, swizzle(tile, *run)),
                Some(None) => _ = found.unsure.insert(buffer),
                None if is_one_stretch && !tile.is_swizzled => {
                    found.ask_of_stretch(launch, buffer, store.global, by_row_of_eights(tile));
                }
                None => found.ask(launch, buffer, by_row_of_eights(tile)),
            }
        }
    }
    found
}

/// The operands of products in shared memory, each with the run of its layout.
fn operands(
    launch: &Launch,
    steps: &[Rc<Step>],
    target: Target,
    found: &mut Alignments,
) -> BTreeMap<BufferId, Option<u64>> {
    let mut operands = BTreeMap::new();
    for numbered in steps.iter().flat_map(|step| step.ops()) {
        let op = numbered.op;
        let Kind::Gemm(gemm) = &op.kind else { continue };
        let threads = launch.threads_of(op);
        let count = threads.unwrap_or(0);
        let instruction = instruction(launch, op, gemm, target, count);
        let shared_by = warps(gemm, instruction, target, count);
        let runs = runs(launch, op, gemm, instruction, shared_by).map(|run| run.filter(|_| threads.is_some()));
        for (region, run) in op.reads.iter().zip(runs) {
            if launch.buffer(region.buffer).scope != Scope::Shared {
                continue;
            }
            operands.insert(region.buffer, run);
            if instruction != Instruction::Mma {
                found.of.insert(region.buffer, MOST);
            }
        }
    }
    operands
}

/// Of a layout whose runs are of so many elements: eight rows of the widest swizzle that divides them.
fn swizzle(tile: &Buffer, run: u64) -> u64 {
    let bits = u128::from(run) * u128::from(tile.dtype.bits);
    let divides = |bytes: u128| bits > 0 && bits % (bytes * 8) == 0;
    match () {
        () if divides(128) => 1024,
        () if divides(64) => 512,
        () if divides(32) => 256,
        () => LINEAR,
    }
}

fn by_row(tile: &Buffer) -> u64 {
    tile.shape.last().and_then(Extent::known).map_or(LINEAR, |row| swizzle(tile, row))
}

/// A layout with a swizzle is one of eight rows.
fn by_row_of_eights(tile: &Buffer) -> u64 {
    let rows = tile.shape.len().checked_sub(2).and_then(|dim| tile.shape[dim].known());
    if rows.is_some_and(|rows| rows.is_multiple_of(8)) { by_row(tile) } else { LINEAR }
}

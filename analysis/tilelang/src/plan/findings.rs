//! What is wrong with a launch, or costs more than it seems.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use tilefit_python::finding::Origin;

use super::Lowered;
use super::mixed::Mixed;
use crate::bulk_copies;
use crate::finding::Finding;
use crate::pipeline::Unplannable;
use crate::products::{Instruction, instruction, smallest_depth, warps};
use crate::program::{BufferId, Kind, Launch, Scope};
use crate::steps::{Form, Step, Steps};
use crate::target::Target;
use crate::tensor_memory;

pub(super) fn findings(
    launch: &Launch,
    source: &Steps,
    lowered: &Lowered,
    mixed: &[Mixed],
    target: Target,
) -> Vec<Finding> {
    let mut found = Vec::new();
    missing_hardware(launch, source, target, &mut found);
    // What becomes of loops where the kernel itself gives warps roles is not modelled.
    if !launch.options.has_roles {
        refused_loops(lowered, &mut found);
        loops_beside_the_specialised(source, lowered, &mut found);
        found.extend(mixed.iter().map(|mixed| mixed.finding()));
    }
    products(launch, source, lowered, target, &mut found);
    columns(launch, source, &mut found);
    elements(launch, lowered, target, &mut found);
    found
}

fn missing_hardware(launch: &Launch, source: &Steps, target: Target, found: &mut Vec<Finding>) {
    for (buffer, of) in (0..).map(BufferId).zip(&launch.buffers) {
        match of.scope {
            Scope::Barrier if !target.has_barriers() => found.push(Finding::NoBarriers { buffer }),
            Scope::TensorMemory if !target.has_tensor_memory() => found.push(Finding::NoTensorMemory { buffer }),
            _ => {}
        }
    }
    let copies = source.iter().flat_map(|step| step.ops()).map(|numbered| numbered.op);
    let copies = copies.filter(|op| op.kind == Kind::TmaCopy);
    let impossible = copies.filter(|op| {
        bulk_copies::load(launch, op, target).is_none() && bulk_copies::store(launch, op, target).is_none()
    });
    found.extend(impossible.map(|op| Finding::NoBulkCopies { at: op.at }));
}

fn refused_loops(lowered: &Lowered, found: &mut Vec<Finding>) {
    found.extend(lowered.events.refused.iter().map(|&(at, why)| match why {
        Unplannable::WrittenTwice { buffer, first, second } => {
            Finding::WrittenTwice { at, buffer, first: first.unwrap_or(at), second: second.unwrap_or(at) }
        }
        Unplannable::NoConsumer => Finding::NoConsumer { at },
        Unplannable::WrittenOtherwise => Finding::OrderOfOtherStatements { at },
    }));
}

/// Loops that the planner pipelines although their buffers have copies for roles already.
fn loops_beside_the_specialised(source: &Steps, lowered: &Lowered, found: &mut Vec<Finding>) {
    let Some(specialised) = &lowered.specialised else { return };
    let mut loops = BTreeMap::new();
    pipelined_around(source, None, &mut loops);
    for (number, at, versions) in &lowered.events.planned {
        for (&buffer, &count) in versions.iter().filter(|(_, count)| **count > 1) {
            let Some(&stages) = specialised.versions.get(&buffer) else { continue };
            let mut others = loops.get(&buffer).into_iter().flatten().filter(|(other, _)| *other != number);
            found.push(match others.next() {
                Some((_, &first)) => Finding::FilledByTwoLoops { buffer, first, second: *at },
                None => {
                    let versions = stages.saturating_mul(count);
                    Finding::SquaredVersions { at: *at, buffer, stages, versions }
                }
            });
        }
    }
}

/// Of each buffer, the innermost pipelined loops that touch it: by their numbers, where they are.
fn pipelined_around(
    steps: &[Rc<Step>],
    around: Option<(usize, Origin)>,
    found: &mut BTreeMap<BufferId, BTreeMap<usize, Origin>>,
) {
    for step in steps {
        match &step.form {
            Form::Op(_) => {
                for buffer in step.touched.all() {
                    found.entry(buffer).or_default().extend(around);
                }
            }
            Form::Loop(repeat) if repeat.stages >= 1 => {
                pipelined_around(&repeat.body, Some((repeat.number, repeat.of.at)), found);
            }
            form => form.parts().into_iter().for_each(|part| pipelined_around(part, around, found)),
        }
    }
}

fn products(launch: &Launch, source: &Steps, lowered: &Lowered, target: Target, found: &mut Vec<Finding>) {
    let of_all = lowered.of_all_threads();
    let mut of: BTreeMap<Origin, Finding> = BTreeMap::new();
    for numbered in source.iter().flat_map(|step| step.ops()) {
        let Kind::Gemm(gemm) = &numbered.op.kind else { continue };
        let is_of_all = of_all.contains(&numbered.number);
        // Those of the branch that it stands in.
        let running = if is_of_all { lowered.threads(launch) } else { launch.threads_of(numbered.op) };
        let Some(threads) = running else { continue };
        let instruction = instruction(launch, numbered.op, gemm, target, threads);
        let lanes = if matches!(target, Target::Amd { .. }) { 64 } else { 32 };
        if warps(gemm, instruction, target, threads).is_none() {
            let at = numbered.op.at;
            of.insert(at, Finding::NoWarpPartition { at, m: gemm.m, n: gemm.n, warps: threads / lanes });
        }
        let multiple = smallest_depth(launch, numbered.op).filter(|_| instruction == Instruction::Mma && lanes == 32);
        if let Some(multiple) = multiple.filter(|&multiple| multiple > 0 && !gemm.k.is_multiple_of(multiple)) {
            let at = numbered.op.at;
            of.entry(at).or_insert(Finding::NoSuchDepth { at, k: gemm.k, multiple });
        }
    }
    found.extend(of.into_values());
}

fn columns(launch: &Launch, source: &Steps, found: &mut Vec<Finding>) {
    let Some(arenas) = tensor_memory::arenas(launch, &super::freed(source)) else { return };
    let columns = arenas.iter().fold(0_u64, |sum, arena| sum.saturating_add(arena.columns));
    if columns > tensor_memory::COLUMNS {
        found.push(Finding::TooManyColumns { columns, allocations: arenas.len() });
    }
}

/// Bulk copies of elements that the hardware does not know.
fn elements(launch: &Launch, lowered: &Lowered, target: Target, found: &mut Vec<Finding>) {
    let loads = lowered.loads();
    let mut seen = BTreeSet::new();
    for numbered in lowered.events.events.iter().flat_map(|event| event.ops()) {
        let op = numbered.op;
        let load = bulk_copies::load(launch, op, target).filter(|_| loads.contains(&numbered.number));
        let store = || bulk_copies::store(launch, op, target).filter(|_| !launch.options.is_tma_off);
        let Some(buffer) = load.or_else(store).map(|transfer| transfer.shared.buffer) else { continue };
        let is_possible = !matches!(&*launch.buffer(buffer).dtype.name, "int4" | "uint4");
        if !is_possible && seen.insert(numbered.number) {
            found.push(Finding::NoBulkCopiesOfElements { at: op.at, buffer });
        }
    }
}

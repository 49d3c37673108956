//! ExpandMixedKernel: a kernel that uses both cores becomes a cube kernel and a vector kernel. Moves between the memories of
//! the two become a push into a queue on one side and a pop on the other; the consumer reserves memory for the queue.
//!
//! Also SplitVectorKernel where nothing is divided: on 910B both vector units run the vector kernel, and the second one
//! repeats it with empty tiles, so that the queues stay in step.

mod cores;
mod lane;
mod repair;

use rustc_hash::{FxHashMap, FxHashSet};

use super::walk;
use crate::ir::{Call, Kernel, KernelKind, Note, Origin, Reason, Stmt, Value, VarId};
use crate::ops::{OpId, PipeRule, Shape};
use crate::target::Target;
use cores::{Core, body_core, call_core, crosses, popped};
use lane::{Lane, Traffic, add_queue_parameter};
use repair::reads_undefined;

pub(super) fn run(mut kernel: Kernel, target: Target) -> Vec<Kernel> {
    if target == Target::Ascend910b && sets_up_a_queue(&kernel) {
        add_queue_parameter(&mut kernel);
    }
    if kernel.kind != KernelKind::InCore {
        return vec![kernel];
    }
    let popped = popped(&kernel);
    match body_core(&kernel, &kernel.body, &popped) {
        Core::Cube => kernel.kind = KernelKind::Aic,
        Core::Vector | Core::Shared => kernel.kind = KernelKind::Aiv,
        Core::Both => return split(kernel, target, &popped),
    }
    vec![kernel]
}

/// Whether the author wrote one side of a pair of kernels.
fn sets_up_a_queue(kernel: &Kernel) -> bool {
    let mut found = false;
    walk::visit(&kernel.body, &mut |stmt| {
        if let Stmt::Let { value: Value::Call(call), .. } | Stmt::Eval { call, .. } = stmt {
            found |= matches!(call.op, OpId::AIC_INITIALIZE_PIPE | OpId::AIV_INITIALIZE_PIPE);
        }
    });
    found
}

fn split(mut kernel: Kernel, target: Target, popped: &FxHashSet<VarId>) -> Vec<Kernel> {
    if let Some(at) = divided_by_the_author(&kernel) {
        note(&mut kernel, at, "tiles that are divided between the two vector units");
    }
    let to_cube = |traffic: Traffic| traffic.to_cube.is_some() && kernel.cross_core.split.is_some();
    if to_cube(Lane::new(&kernel, Core::Vector, popped).traffic()) {
        let at = kernel.origin;
        note(&mut kernel, at, "halves of a tile that go from the vector units to the cube");
    }
    if let Some(at) = crosses_through_memory(&kernel, popped) {
        note(&mut kernel, at, "a tensor that one core stores and the other loads");
    }
    let cube = Lane::new(&kernel, Core::Cube, popped).kernel(target);
    let mut vector = Lane::new(&kernel, Core::Vector, popped).kernel(target);
    if reads_undefined(&cube) || reads_undefined(&vector) {
        let at = kernel.name_origin;
        note(&mut kernel, at, "a value that one core makes and the other reads without a move");
        return vec![kernel];
    }
    vector.rejections.clear();
    vec![cube, vector]
}

fn note(kernel: &mut Kernel, at: Origin, what: &str) {
    kernel.notes.push(Note { at, reason: Reason(what.into()) });
}

/// A transfer of halves that is neither `pl.split` nor `pl.split_aiv`.
fn divided_by_the_author(kernel: &Kernel) -> Option<Origin> {
    let mut found = None;
    walk::visit(&kernel.body, &mut |stmt| {
        let call = walk::call_of(stmt).filter(|call| call.op.op().pipe == PipeRule::Fifo);
        let divides =
            |call: &&Call| matches!(call.op.op().shape, Shape::SplitHalved | Shape::SplitDoubled) && !crosses(call);
        if found.is_none() {
            found = call.filter(divides).map(|call| call.origin);
        }
    });
    found
}

/// A load on one core from a tensor that the other has stored to: the compiler synchronises the two through a queue.
fn crosses_through_memory(kernel: &Kernel, popped: &FxHashSet<VarId>) -> Option<Origin> {
    let mut stored: FxHashMap<VarId, Core> = FxHashMap::default();
    let mut found = None;
    walk::visit(&kernel.body, &mut |stmt| {
        let Some(call) = walk::call_of(stmt) else { return };
        let core = call_core(kernel, call, popped);
        match (call.op, call.args.as_slice(), stmt) {
            (OpId::STORE, [_, _, tensor, ..], Stmt::Let { var, .. }) => {
                stored.insert(*var, core);
                if let Some(tensor) = tensor.var() {
                    stored.insert(tensor, core);
                }
            }
            (OpId::LOAD, [tensor, ..], _) => {
                let other = tensor.var().and_then(|tensor| stored.get(&tensor)).is_some_and(|stored| *stored != core);
                if other && found.is_none() {
                    found = Some(call.origin);
                }
            }
            _ => {}
        }
    });
    found
}

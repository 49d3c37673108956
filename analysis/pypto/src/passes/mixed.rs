//! ExpandMixedKernel: a kernel that uses both cores becomes a cube kernel and a vector kernel. Moves between the memories of
//! the two become a push into a queue on one side and a pop on the other; the consumer reserves memory for the queue.
//!
//! Also SplitVectorKernel where nothing is divided: on 910B both vector units run the vector kernel, and the second one
//! repeats it with empty tiles, so that the queues stay in step.

mod cores;
mod cut;
mod halves;
mod lane;
mod regions;
mod repair;
mod versions;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::diagnostics::Code;
use tilefit_python::finding::{Note, Origin, Reason};

use crate::ir::{
    Attr, AttrName, Call, Kernel, KernelKind, Operand, Rejection, Repetition, SplitMode, Stmt, Value, VarId, visit,
};
use crate::ops::{OpId, PipeRule, Shape};
use crate::target::Target;
use cores::{Core, body_core, call_core, popped};
use halves::Undivided;
use lane::{Lane, add_queue_parameter};
pub(super) use regions::check as check_regions;

pub(super) fn run(kernel: Kernel, target: Target) -> Vec<Kernel> {
    let mut kernels = for_cores(kernel, target);
    for kernel in kernels.iter_mut().filter(|kernel| kernel.kind == KernelKind::Aiv && target == Target::Ascend950) {
        lane::pack_pushes(kernel);
    }
    kernels
}

fn for_cores(mut kernel: Kernel, target: Target) -> Vec<Kernel> {
    if target == Target::Ascend910b && sets_up_a_queue(&kernel) {
        add_queue_parameter(&mut kernel);
    }
    if kernel.kind != KernelKind::InCore {
        if kernel.kind == KernelKind::Aiv {
            let divided = kernel.cross_core.split.map(|_| kernel.name_origin);
            for_vector_units(&mut kernel, divided, target);
        }
        return vec![kernel];
    }
    let popped = popped(&kernel);
    match body_core(&kernel, &kernel.body, &popped) {
        Core::Cube => kernel.kind = KernelKind::Aic,
        Core::Vector | Core::Shared => {
            kernel.kind = KernelKind::Aiv;
            for_vector_units(&mut kernel, None, target);
        }
        Core::Both => return split(kernel, target, &popped),
    }
    vec![kernel]
}

/// Whether the author wrote one side of a pair of kernels.
fn sets_up_a_queue(kernel: &Kernel) -> bool {
    let mut found = false;
    visit::statements(&kernel.body, &mut |stmt| {
        if let Stmt::Let { value: Value::Call(call), .. } | Stmt::Eval { call, .. } = stmt {
            found |= matches!(call.op, OpId::AIC_INITIALIZE_PIPE | OpId::AIV_INITIALIZE_PIPE);
        }
    });
    found
}

/// What each vector unit does of a kernel for the vector core only. The author says with an attribute, or with transfers of halves,
/// that all of its tiles are divided.
fn for_vector_units(kernel: &mut Kernel, divided: Option<Origin>, target: Target) {
    if kernel.cross_core.units_told_apart {
        return;
    }
    if let Some(at) = divided.or(transfers_of(kernel).in_halves) {
        return note(kernel, at, "tiles that the compiler divides between the two vector units");
    }
    match kernel.cross_core.repetition {
        Repetition::Second if target == Target::Ascend910b => {
            if let Some(at) = late_setup(&kernel.body) {
                note(kernel, at, "a queue that is set up after other statements, for both vector units");
            }
            let body = std::mem::take(&mut kernel.body);
            kernel.body = lane::for_both_units(kernel, body);
        }
        Repetition::Unclear if target == Target::Ascend910b => {
            let at = kernel.name_origin;
            note(kernel, at, "a vector kernel that the second vector unit may repeat");
        }
        _ => {}
    }
}

/// What sets up a queue, and does not stand before all else.
fn late_setup(body: &[Stmt]) -> Option<Origin> {
    let is_setup = |stmt: &&Stmt| visit::call_of(stmt).is_some_and(lane::sets_up_a_queue);
    let shared = body.iter().take_while(is_setup).count();
    let mut late = None;
    visit::statements(&body[shared..], &mut |stmt| {
        let setup = visit::call_of(stmt).filter(|call| lane::sets_up_a_queue(call));
        late = late.or(setup.map(|call| call.origin));
    });
    late
}

/// How tiles go between the cores in a kernel that the author wrote for one of them.
#[derive(Debug, Default)]
pub struct Transferred {
    pub whole: bool,
    pub in_halves: Option<Origin>,
}

pub fn transfers_of(kernel: &Kernel) -> Transferred {
    let mut transferred = Transferred::default();
    visit::statements(&kernel.body, &mut |stmt| {
        let Some(call) = visit::call_of(stmt).filter(|call| lane::moves_between_cores(call)) else { return };
        match call.attr(AttrName::Split) {
            None | Some(Attr::Int(0)) => transferred.whole = true,
            Some(_) => transferred.in_halves = transferred.in_halves.or(Some(call.origin)),
        }
    });
    transferred
}

fn split(mut kernel: Kernel, target: Target, popped: &FxHashSet<VarId>) -> Vec<Kernel> {
    if let Some(at) = divided_by_the_author(&kernel) {
        note(&mut kernel, at, "tiles that are divided between the two vector units");
    }
    if let Some(at) = crosses_through_memory(&kernel, popped) {
        note(&mut kernel, at, "a tensor that one core stores and the other loads");
    }
    let mut undivided = Undivided::default();
    if let Some(mode) = kernel.cross_core.split.filter(|_| !kernel.cross_core.units_told_apart) {
        refuse_transposes(&mut kernel, mode);
        undivided = halves::divide(&mut kernel, mode, popped);
    }
    let cube = Lane::new(&kernel, Core::Cube, popped).kernel(target);
    let vector = Lane::new(&kernel, Core::Vector, popped).kernel(target);
    let (Some(mut cube), Some(mut vector)) = (cube, vector) else {
        let at = kernel.name_origin;
        note(&mut kernel, at, "a value produced on one core and read on the other without an explicit move");
        return vec![kernel];
    };
    undivided.note(&mut cube);
    undivided.note(&mut vector);
    // What is wrong with the whole kernel is said once.
    vector.rejections.drain(..kernel.rejections.len());
    vec![cube, vector]
}

/// The halves of a transposed tile are along the other axis.
fn refuse_transposes(kernel: &mut Kernel, mode: SplitMode) {
    let (axis, name) = (mode.axis(), mode.name());
    let mut swapped = Vec::new();
    visit::statements(&kernel.body, &mut |stmt| {
        let Some(call) = visit::call_of(stmt).filter(|call| call.op == OpId::TRANSPOSE) else { return };
        let [Operand::Var(source), Operand::Scalar(one), Operand::Scalar(other), ..] = call.args.as_slice() else {
            return;
        };
        let swaps = [one, other].iter().any(|named| named.as_int() == Some(axis as i64));
        // Half of an extent of two is one element, which may go anywhere.
        if swaps && kernel.tile(*source).and_then(|tile| tile.shape.get(axis)).is_some_and(|extent| *extent > 2) {
            swapped.push(call.origin);
        }
    });
    for at in swapped {
        let message = format!(
            "`tile.transpose` swaps the split axis, axis {axis}, which `pl.split(pl.SplitMode.{name})` divides between the vector units; remove the split, or move the transpose out of the scope"
        );
        kernel.rejections.push(Rejection::new(at, Code::Rejected, message));
    }
}

fn note(kernel: &mut Kernel, at: Origin, what: &str) {
    kernel.notes.push(Note { at, reason: Reason::new(what) });
}

/// A transfer of halves that is neither `pl.split` nor `pl.split_aiv`.
fn divided_by_the_author(kernel: &Kernel) -> Option<Origin> {
    let mut found = None;
    visit::statements(&kernel.body, &mut |stmt| {
        let call = visit::call_of(stmt).filter(|call| call.op.op().pipe == PipeRule::Fifo);
        let divides = |call: &&Call| {
            matches!(call.op.op().shape, Shape::SplitHalved | Shape::SplitDoubled) && !call.op.crosses_cores()
        };
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
    visit::statements(&kernel.body, &mut |stmt| {
        let Some(call) = visit::call_of(stmt) else { return };
        let core = call_core(kernel, call, popped);
        match (call.op, call.args.as_slice(), stmt) {
            (OpId::STORE, [_, _, tensor, ..], Stmt::Let { var, .. }) => {
                stored.insert(*var, core);
                if let Some(tensor) = tensor.var() {
                    stored.insert(tensor, core);
                }
            }
            (OpId::TENSOR_VIEW, [tensor], Stmt::Let { var, .. }) => {
                let by = tensor.var().and_then(|tensor| stored.get(&tensor)).copied();
                stored.extend(by.map(|core| (*var, core)));
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

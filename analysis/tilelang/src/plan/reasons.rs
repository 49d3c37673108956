//! Why a plan is not exact, and what of it is known all the same.

use std::collections::BTreeMap;

use tilefit_python::finding::Reason;

use super::mixed::Mixed;
use super::{Lowered, is_symbolic, workspaces_of};
use crate::alignment::Alignments;
use crate::lifetimes::Lifetimes;
use crate::program::{BufferId, Extent, Kind, Launch, Scope};
use crate::steps::Steps;
use crate::target::Target;
use crate::workspaces::{Need, Workspace, disputed};

/// By what they leave unknown.
#[derive(Debug, Default)]
pub(super) struct Reasons {
    /// There may be more statements, and more buffers.
    pub statements: Vec<Reason>,
    /// When which statement runs, and so how many copies there are.
    pub events: Vec<Reason>,
    /// Sizes, alignments, scratch.
    pub sizes: Vec<Reason>,
}

impl Reasons {
    pub(super) fn is_empty(&self) -> bool {
        self.statements.is_empty() && self.events.is_empty() && self.sizes.is_empty()
    }

    pub(super) fn all(self) -> Vec<Reason> {
        let mut all: Vec<Reason> = Vec::new();
        for reason in [self.statements, self.events, self.sizes].into_iter().flatten() {
            if !all.contains(&reason) {
                all.push(reason);
            }
        }
        all
    }
}

/// What else is found out of a launch.
#[derive(Clone, Copy)]
pub(super) struct Known<'k> {
    pub aligned: &'k Alignments,
    pub lifetimes: &'k Lifetimes,
    pub scratch: &'k BTreeMap<usize, Workspace>,
    pub mixed: &'k [Mixed],
}

/// docs/reference/tilelang.md, "11. Not covered".
pub(super) fn reasons(launch: &Launch, source: &Steps, lowered: &Lowered, known: Known, target: Target) -> Reasons {
    let Known { aligned, lifetimes, scratch, mixed } = known;
    let mut reasons = Reasons { statements: launch.unknown.clone(), ..Reasons::default() };
    if !target.is_compared() {
        reasons.events.push(Reason::new("the compiler's rules for this target were not compared with its answers"));
    }
    if launch.options.is_merge_aggressive {
        reasons.events.push(Reason::new("the rules of `tl.enable_aggressive_shared_memory_merge` are not modelled"));
    }
    if launch.options.has_roles {
        reasons.events.push(Reason::new("how a kernel itself shares its work between warps is not modelled"));
    }
    if lowered.is_too_long || lowered.events.has_more_rounds {
        reasons.events.push(Reason::new("a loop is written out into more statements than are followed"));
    }
    if lowered.events.has_parts {
        reasons
            .events
            .push(Reason::new("which parts of a buffer statements of a pipelined loop touch is not modelled"));
    }
    if lowered.events.may_be_under_one_condition {
        reasons.events.push(Reason::new("whether two conditions are the same is not modelled"));
    }
    reasons.events.extend(lowered.events.uncounted.iter().cloned());
    if !lowered.events.refused.is_empty() {
        reasons.events.push(Reason::new("the compiler refuses a loop of the kernel"));
    }
    for mixed in mixed.iter().filter(|mixed| !mixed.is_refused) {
        let name = &launch.buffer(mixed.buffer).name;
        reasons.events.push(Reason::new(format!("`{name}` has copies in a pipelined loop and fewer elsewhere")));
    }
    if lifetimes.may_be_split {
        reasons
            .events
            .push(Reason::new("whether a statement that converts elements is one event or two is not modelled"));
    }
    if lifetimes.are_unsure {
        reasons.sizes.push(Reason::new("how long a buffer is held depends on how a statement is written out"));
    }
    extents(launch, source, &mut reasons);
    // Those of a branch decide how a product is shared, and how much scratch a reduction has.
    let ops = lowered.events.events.iter().flat_map(|event| event.ops());
    let mut tiles = ops.filter(|numbered| matches!(numbered.op.kind, Kind::Gemm(_) | Kind::Reduce(_)));
    if let Some(reason) = tiles.find_map(|numbered| numbered.op.threads.unknown().cloned()) {
        reasons.sizes.push(reason);
    }
    if let Some(buffer) = aligned.unsure.first() {
        let name = &launch.buffer(*buffer).name;
        reasons
            .sizes
            .push(Reason::new(format!("the layout of `{name}` depends on a number of threads that is not known")));
    }
    if let Some(name) = never_written(launch, source) {
        reasons.events.push(Reason::new(format!("`{name}` is read, and nothing writes it")));
    }
    if let Some(operand) = disputed(launch, &lowered.events.events, target) {
        let name = &launch.buffer(operand).name;
        reasons.sizes.push(Reason::new(format!(
            "`{name}` is the result of a product whose rows several warps share, and a side of another: the compiler may refuse that"
        )));
    }
    let has_unsure_scratch = scratch.values().any(|workspace| workspace.need == Need::Unsure);
    if has_unsure_scratch {
        reasons.sizes.push(Reason::new("whether a reduction needs scratch depends on a layout that is not modelled"));
    }
    let needs_scratch = || lowered.events.events.iter().any(|event| workspaces_of(event, scratch).next().is_some());
    if launch.threads.is_none() && !has_unsure_scratch && needs_scratch() {
        reasons.sizes.push(Reason::new("the number of threads is not known, and a reduction needs scratch for each"));
    }
    reasons
}

/// A side of a product in shared memory that holds nothing: where it lives is not modelled.
fn never_written<'l>(launch: &'l Launch, source: &Steps) -> Option<&'l str> {
    let written = |id: BufferId| source.iter().any(|step| step.touched.writes.contains(&id));
    let ops = source.iter().flat_map(|step| step.ops()).map(|numbered| numbered.op);
    let products = ops.filter(|op| matches!(op.kind, Kind::Gemm(_)));
    let mut sides = products.flat_map(|op| &op.reads).map(|region| region.buffer);
    let id = sides.find(|&id| launch.buffer(id).scope == Scope::Shared && !written(id))?;
    Some(&launch.buffer(id).name)
}

/// Of buffers that are touched and not known in size.
fn extents(launch: &Launch, source: &Steps, reasons: &mut Reasons) {
    let mut touched: Vec<_> = source.iter().flat_map(|step| step.touched.all()).collect();
    touched.sort_unstable();
    touched.dedup();
    for buffer in touched.into_iter().map(|id| launch.buffer(id)).filter(|buffer| buffer.scope == Scope::Shared) {
        for extent in &buffer.shape {
            if let Extent::Unknown(reason) = extent {
                reasons.sizes.push(reason.clone());
            } else if is_symbolic(extent) {
                let name = &buffer.name;
                reasons.sizes.push(Reason::new(format!("the size of `{name}` is known when the kernel is launched")));
            }
        }
    }
}

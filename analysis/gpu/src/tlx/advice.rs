//! Phases 7 and 8 of the design document as hints (`docs/reference/tlx.md`, "What no compiler does"): sharing that is not
//! needed, unused memory, the older form of reuse.

use tilefit_python::diagnostics::Code;
use tilefit_python::finding::Finding;

use super::align_up;
use super::kernel::{Backing, GroupKind, Kernel, SpecId};
use super::placed::SpecPlan;
use super::plan::Plan;
use super::tree::{Node, Tree};

pub(super) fn findings(kernel: &Kernel, plan: &Plan, findings: &mut Vec<Finding>) {
    legacy(kernel, plan, findings);
    if !plan.is_exact(kernel) {
        return;
    }
    for spec in &plan.specs {
        if let Some(Ok(tree)) = &spec.tree
            && spec.trouble.is_empty()
        {
            unshare(kernel, plan, spec, tree, findings);
            waste(kernel, plan, spec, findings);
        }
    }
}

fn legacy(kernel: &Kernel, plan: &Plan, findings: &mut Vec<Finding>) {
    if plan.arch.is_amd() {
        return;
    }
    for buffer in &kernel.buffers {
        let Backing::Alias(base) = buffer.backing else { continue };
        let base = &kernel.buffer(base).name;
        let message = format!(
            "`{}` shares memory with `{base}` through `reuse=`. Prefer a `tlx.storage_alias_spec` that both reuse; it takes the larger size.",
            buffer.name
        );
        findings.push(Finding::new(Code::LegacyReuse, buffer.at, message));
    }
}

/// A shared group at the root whose members would fit beside each other.
fn unshare(kernel: &Kernel, plan: &Plan, spec: &SpecPlan, tree: &Tree, findings: &mut Vec<Finding>) {
    let Node::Group { kind: GroupKind::Shared, size: 1, children } = &tree.root else { return };
    let (Ok(extent), Ok(storage), [_, _, ..]) = (&spec.extent, &kernel.spec(spec.spec).storage, children.as_slice())
    else {
        return;
    };
    let end = children
        .iter()
        .fold(0, |end, child| align_up(end, tree.child_align(child)).saturating_add(tree.node_size(child)));
    let stride = align_up(end, tree.align());
    let needed = stride.saturating_mul(copies(kernel, plan, spec.spec));
    let free = plan.free(*storage);
    let more = needed.saturating_sub(*extent);
    if more == 0 || more > free {
        return;
    }
    let overlap = kernel.overlaps.iter().find(|overlap| overlap.spec == spec.spec);
    let message = format!(
        "the members of `{}` share memory but would fit next to each other: as a distinct group they take {more} {units} more, and {free} {units} are free on {}",
        kernel.spec(spec.spec).name,
        plan.arch,
        units = plan.units(*storage)
    );
    findings.push(Finding::new(
        Code::ReuseAdvice,
        overlap.map_or(kernel.spec(spec.spec).at, |overlap| overlap.at),
        message,
    ));
}

/// How many times the tree is repeated.
fn copies(kernel: &Kernel, plan: &Plan, spec: SpecId) -> u64 {
    let counts = kernel.users(spec).filter_map(|user| {
        let place = plan.place(user)?;
        Some(place.sized.num / place.placement?.group_size.max(1))
    });
    counts.max().unwrap_or(1)
}

/// A spec with at least a quarter that belongs to no buffer.
fn waste(kernel: &Kernel, plan: &Plan, spec: &SpecPlan, findings: &mut Vec<Finding>) {
    let (Ok(extent), Ok(storage)) = (&spec.extent, &kernel.spec(spec.spec).storage) else { return };
    let wasted = unused(kernel, plan, spec.spec, *extent);
    if *extent == 0 || wasted < extent.div_ceil(4) {
        return;
    }
    let message = format!(
        "{wasted} of the {extent} {} of `{}` belong to no buffer",
        plan.units(*storage),
        kernel.spec(spec.spec).name
    );
    findings.push(Finding::new(Code::ReuseAdvice, kernel.spec(spec.spec).at, message));
}

/// Bytes or columns of a spec that no buffer covers.
pub fn unused(kernel: &Kernel, plan: &Plan, spec: SpecId, extent: u64) -> u64 {
    let mut ranges: Vec<(u64, u64)> =
        kernel.users(spec).filter_map(|user| plan.place(user)).flat_map(|place| place.ranges()).collect();
    ranges.sort_unstable();
    let (mut covered, mut end) = (0_u64, 0);
    for (from, to) in ranges {
        covered = covered.saturating_add(to.saturating_sub(from.max(end)));
        end = end.max(to);
    }
    extent.saturating_sub(covered)
}

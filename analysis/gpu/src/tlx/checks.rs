//! What to tell the author about a planned kernel. The words of the compiler are in the messages where it has any.

use std::fmt::Write;

use tilefit_python::diagnostics::{Code, Severity};
use tilefit_python::finding::Origin;
use tilefit_python::finding::{Finding, Related};

use super::Rules;
use super::advice;
use super::kernel::{
    Backing, BufferId, BufferKind, Element, GroupId, GroupKind, IndexValue, Kernel, Layout, Overlap, SpecId,
};
use super::language::Storage;
use super::offsets::Placement;
use super::placed::{PlacedBuffer, SpecPlan, Trouble};
use super::plan::Plan;
use super::rewriting::NotRewritable;
use super::tree::Node;

pub(super) fn findings(kernel: &Kernel, plan: &Plan) -> Vec<Finding> {
    let mut findings = Vec::new();
    shapes(kernel, &mut findings);
    targets(kernel, plan, &mut findings);
    placeholders(kernel, plan, &mut findings);
    rows(kernel, plan, &mut findings);
    untyped_groups(kernel, plan.rules, &mut findings);
    for overlap in &kernel.overlaps {
        overlap_definition(kernel, overlap, plan.rules, &mut findings);
    }
    for spec in &plan.specs {
        spec_findings(kernel, plan, spec, &mut findings);
    }
    indices(kernel, plan, &mut findings);
    if findings.iter().all(|finding| finding.severity != Severity::Error) {
        advice::findings(kernel, plan, &mut findings);
    }
    findings
}

/// What the verifier of memory descriptors asks of a shape.
fn shapes(kernel: &Kernel, findings: &mut Vec<Finding>) {
    for id in kernel.buffer_ids() {
        let buffer = kernel.buffer(id);
        let Ok(shape) = &buffer.shape else { continue };
        if buffer.kind != BufferKind::Data || !buffer.certain {
            continue;
        }
        let mut say = |message: String| findings.push(Finding::new(Code::InvalidShape, buffer.at, message));
        let name = &buffer.name;
        if buffer.layout == Layout::Default && shape.iter().any(|extent| !extent.is_power_of_two()) {
            say(format!(
                "shape must have power-of-2 and non-zero dimensions; got {shape:?}. Only the number of buffers of `{name}` may be any number"
            ));
        }
        if buffer.storage == Ok(Storage::Smem) && buffer.dtype.as_ref().is_ok_and(|dtype| dtype.bits % 8 != 0) {
            say(format!("shared memory holds whole bytes; `{name}` has elements of 1 bit, use tl.int8"));
        }
        let Ok(Storage::Tmem) = buffer.storage else { continue };
        match shape.as_slice() {
            [] | [_] => say(format!(
                "TMEM allocations must be at least 2D, got rank {}: give `{name}` a shape of rows and columns",
                shape.len()
            )),
            [_, _, _, ..] => {
                say(format!("a buffer in tensor memory has rows and columns; `{name}` has {} dimensions", shape.len()))
            }
            [rows, columns] => {
                let is_scale = buffer.dtype.as_ref().is_ok_and(|dtype| dtype.is_scale());
                if !is_scale && *rows != 64 && *rows != 128 {
                    say(format!("a buffer in tensor memory has 64 or 128 rows; `{name}` has {rows}"));
                }
                if !is_scale && *columns > 512 {
                    say(format!("a buffer in tensor memory has at most 512 columns; `{name}` has {columns}"));
                }
                if let Ok(dtype) = &buffer.dtype
                    && dtype.bits > 32
                {
                    say(format!("tensor memory has columns of 32 bits; `{name}` has elements of {} bits", dtype.bits));
                }
            }
        }
    }
}

/// Layouts of 8-bit integers in tensor memory are decided by the product whose scales they are.
fn placeholders(kernel: &Kernel, plan: &Plan, findings: &mut Vec<Finding>) {
    if kernel.hides_scales || plan.rules == Rules::Seed {
        return;
    }
    for id in kernel.buffer_ids() {
        let buffer = kernel.buffer(id);
        let is_reused = kernel.buffers.iter().any(|other| other.backing == Backing::Alias(id));
        let is_scale = buffer.dtype.as_ref().is_ok_and(|dtype| dtype.is_scale());
        let stands_alone = buffer.backing == Backing::Own && !is_reused;
        if buffer.storage == Ok(Storage::Tmem)
            && is_scale
            && stands_alone
            && buffer.certain
            && buffer.used
            && !buffer.scales
        {
            let message = format!(
                "DummyTMEMLayoutAttr was not resolved during layout propagation: 8-bit integers in tensor memory are the scales of a product, and no async_dot_scaled takes `{}`",
                buffer.name
            );
            findings
                .push(Finding { severity: Severity::Warning, ..Finding::new(Code::InvalidShape, buffer.at, message) });
        }
    }
}

/// The largest of an alias class is allocated, by columns; its rows are those of all.
fn rows(kernel: &Kernel, plan: &Plan, findings: &mut Vec<Finding>) {
    if plan.rules == Rules::Seed {
        return;
    }
    for footprint in plan.footprints.iter().filter(|f| f.storage == Storage::Tmem && f.rows == 64 && f.certain) {
        let members = kernel.buffer_ids().filter(|&id| plan.owner(kernel, id) == Some(footprint.owner));
        for id in members {
            let buffer = kernel.buffer(id);
            let Some(place) = plan.place(id).filter(|place| place.sized.rows() > 64) else { continue };
            let message = format!(
                "`{}` has {} rows, but the allocation that it shares has 64: the compiler uses the shape with the most columns and does not compare rows",
                buffer.name,
                place.sized.rows()
            );
            findings.push(Finding::new(Code::RowMismatch, buffer.at, message));
        }
    }
}

/// The design document has no preset for the kind of a group.
fn untyped_groups(kernel: &Kernel, rules: Rules, findings: &mut Vec<Finding>) {
    for at in kernel.groups.iter().filter_map(|group| group.untyped).filter(|_| rules == Rules::Seed) {
        let message = "reuse_group() missing 1 required argument: 'group_type'; pass tlx.reuse_group_type.shared or tlx.reuse_group_type.distinct";
        findings.push(Finding::new(Code::Rejected, at, message.to_owned()));
    }
}

fn targets(kernel: &Kernel, plan: &Plan, findings: &mut Vec<Finding>) {
    // The setting is for kernels that say nothing, and one that uses tensor memory says enough.
    let tmem = kernel.buffers.iter().filter(|buffer| buffer.storage == Ok(Storage::Tmem) && buffer.certain);
    if let Some(arch) = kernel.arch.filter(|arch| arch.tmem() == 0) {
        for buffer in tmem.clone() {
            let message = format!("tmem is only available on Blackwell; the scenario names {arch}");
            findings.push(Finding::new(Code::UnsupportedTarget, buffer.at, message));
        }
    }
    let is_for_amd = plan.arch.is_amd() && (kernel.arch.is_some() || tmem.count() == 0);
    for spec in kernel.specs.iter().filter(|_| is_for_amd) {
        let message = format!(
            "the compiler for {} never lowers storage alias specs, so `{}` does not compile there; use `reuse=<buffer>`",
            plan.arch, spec.name
        );
        findings.push(Finding::new(Code::UnsupportedTarget, spec.at, message));
    }
}

/// What the verifiers of `reuse_group` and `set_buffer_overlap` refuse.
fn overlap_definition(kernel: &Kernel, overlap: &Overlap, rules: Rules, findings: &mut Vec<Finding>) {
    if !overlap.certain {
        return;
    }
    let first = kernel.overlaps.iter().find(|other| other.spec == overlap.spec);
    if let Some(first) = first
        && first.at != overlap.at
        && first.certain
    {
        let message = "storage_alias_spec already has a set_buffer_overlap defined; each spec can only have one overlap definition";
        let related = vec![Related { at: first.at, message: "first defined here".to_owned() }];
        findings.push(Finding::new(Code::InvalidOverlap, overlap.at, message).with_related(related));
    }
    let Ok(root) = overlap.group else { return };
    let mut leaves = Vec::new();
    leaves_of(kernel, root, None, rules, &mut leaves, findings, 0);
    for (i, &(buffer, at, view)) in leaves.iter().enumerate() {
        let name = &kernel.buffer(buffer).name;
        let mut say = |message: String| findings.push(Finding::new(Code::InvalidOverlap, at, message));
        if leaves[..i].iter().any(|&(earlier, ..)| earlier == buffer) {
            say(format!(
                "reuse_group tree contains duplicate elements; each allocation can only appear once in the tree, and `{name}` is in it before"
            ));
            continue;
        }
        match &kernel.buffer(buffer).backing {
            Backing::Spec(spec) if *spec != overlap.spec => say(format!(
                "all allocations in the reuse_group must reference the same storage_alias_spec, but found an allocation that uses a different spec: `{name}` uses `{}`, the overlap is of `{}`",
                kernel.spec(*spec).name,
                kernel.spec(overlap.spec).name
            )),
            Backing::Spec(_) if !view => {}
            Backing::Unknown(_) => {}
            _ => say(format!(
                "all elements in the reuse_group tree must be allocated via tlx.storage_alias_local_alloc, but found an element that is not: {}",
                if view {
                    format!("this is a view of `{name}`")
                } else {
                    format!("allocate `{name}` with `reuse={}`", kernel.spec(overlap.spec).name)
                }
            )),
        }
    }
}

/// The leaves of a tree in order, with their arguments; under the seed's rules kinds alternate.
fn leaves_of(
    kernel: &Kernel,
    group: GroupId,
    parent: Option<GroupKind>,
    rules: Rules,
    leaves: &mut Vec<(BufferId, Origin, bool)>,
    findings: &mut Vec<Finding>,
    depth: u32,
) {
    let group = kernel.group(group);
    let kind = group.kind.clone().ok();
    if rules == Rules::Seed && parent.is_some() && kind == parent {
        let message = "a nested reuse_group must have another group_type than its parent".to_owned();
        findings.push(Finding::new(Code::InvalidOverlap, group.at, message));
    }
    if depth > 64 {
        return;
    }
    for element in &group.elements {
        match element {
            Element::Leaf { buffer, at, view } => leaves.push((*buffer, *at, *view)),
            Element::Group(inner) => leaves_of(kernel, *inner, kind, rules, leaves, findings, depth + 1),
            Element::Unknown(_) => {}
        }
    }
}

fn spec_findings(kernel: &Kernel, plan: &Plan, spec_plan: &SpecPlan, findings: &mut Vec<Finding>) {
    let id = spec_plan.spec;
    let spec = kernel.spec(id);
    if let (Rules::Seed, Some(at)) = (plan.rules, spec.tensor_size) {
        findings.push(Finding::new(Code::Rejected, at, "buffer_size_bytes must be a compile-time constant".to_owned()));
    }
    let hidden = kernel.buffers.iter().any(|buffer| matches!(buffer.backing, Backing::Unknown(_)));
    if kernel.users(id).next().is_none() {
        if spec.certain && !hidden {
            let message = format!(
                "storage_alias_spec has no referencing storage_alias_local_alloc operations: allocate from `{0}` with `reuse={0}`, or remove it; the compiler fails on it later",
                spec.name
            );
            findings.push(Finding::new(Code::UnusedSpec, spec.at, message));
        }
        return;
    }
    if let Ok(size) = &spec_plan.size
        && size.bytes < size.required
    {
        let message = match plan.rules {
            Rules::Compiler => format!(
                "storage_alias_spec buffer_size_bytes {} is too small for computed shape, requires at least {} bytes",
                size.bytes, size.required
            ),
            Rules::Seed => {
                format!("shared_buffer_def size {} is too small, requires at least {} bytes", size.bytes, size.required)
            }
        };
        findings.push(Finding::new(Code::SpecTooSmall, spec.at, message));
    }
    for trouble in &spec_plan.trouble {
        findings.push(troubled(kernel, plan, spec_plan, trouble));
    }
    let Some(Ok(tree)) = &spec_plan.tree else { return backing_shape(kernel, plan, spec_plan, findings) };
    let leaves = tree.leaves();
    for user in kernel.users(id).filter(|user| !leaves.contains(user)) {
        let buffer = kernel.buffer(user);
        let message = format!(
            "`{}` is allocated from `{}` but is not in its overlap definition, so it is at offset 0 and overlaps the others; add it to the reuse group",
            buffer.name, spec.name
        );
        findings.push(Finding::new(Code::MissingLeaf, buffer.at, message));
    }
    counts(kernel, plan, id, &leaves, findings);
    ignored_sizes(kernel, id, findings);
    let mut pairs = Pairs { kernel, plan, findings };
    if spec_plan.trouble.is_empty() {
        pairs.of_node(&tree.root);
        leaves.iter().for_each(|&leaf| pairs.with_itself(leaf));
    }
    backing_shape(kernel, plan, spec_plan, findings);
}

fn troubled(kernel: &Kernel, plan: &Plan, spec: &SpecPlan, trouble: &Trouble) -> Finding {
    let units = kernel.spec(spec.spec).storage.as_ref().map_or("bytes", |&storage| plan.units(storage));
    match trouble {
        Trouble::NotEnoughSpace(space) => {
            let overlap = kernel.overlaps.iter().find(|overlap| overlap.spec == spec.spec);
            let message = format!(
                "not enough space for distinct allocations: need {} bytes, have {} bytes; make `buffer_size_bytes` larger, or remove it",
                space.need, space.have
            );
            Finding::new(Code::SpecTooSmall, overlap.map_or(kernel.spec(spec.spec).at, |overlap| overlap.at), message)
        }
        Trouble::NotRewritable(buffer, why, placement) => {
            let unit = plan.place(*buffer).map_or(0, |place| place.sized.unit);
            let at = kernel.buffer(*buffer).at;
            Finding::new(Code::NotDivisible, at, not_rewritable(kernel, plan, *buffer, *why, placement, unit, units))
        }
    }
}

fn not_rewritable(
    kernel: &Kernel,
    plan: &Plan,
    buffer: BufferId,
    why: NotRewritable,
    placement: &Placement,
    unit: u64,
    units: &str,
) -> String {
    let name = &kernel.buffer(buffer).name;
    match (why, plan.rules) {
        (NotRewritable::ZeroColumns, _) => format!(
            "DIV0: a buffer of `{name}` is narrower than one column of 32 bits, and the compiler divides by its 0 columns; make it at least 4 bytes wide"
        ),
        (NotRewritable::Stride, Rules::Seed) => {
            format!(
                "bytes_between_buffers must be multiple of buffer size ({} and {unit}) for `{name}`",
                placement.stride
            )
        }
        (NotRewritable::Offset, Rules::Seed) => {
            format!("buffer_offset must be multiple of buffer size ({} and {unit}) for `{name}`", placement.offset)
        }
        (NotRewritable::Stride, Rules::Compiler) => {
            let missing = unit - placement.stride % unit.max(1);
            format!(
                "units_between_buffer_groups ({}) must be a multiple of the original buffer size ({unit}): the buffers of `{name}` would not start at multiples of their size; add a leaf of {missing} {units} to the distinct group",
                placement.stride
            )
        }
        (NotRewritable::Offset, Rules::Compiler) => format!(
            "buffer_offset ({}) must be a multiple of the original buffer size ({unit}): put `{name}` before the smaller members of its distinct group",
            placement.offset
        ),
    }
}

/// `group_size` is taken and forgotten where the group is distinct.
fn ignored_sizes(kernel: &Kernel, spec: SpecId, findings: &mut Vec<Finding>) {
    let overlap = kernel.overlaps.iter().find(|overlap| overlap.spec == spec);
    let mut pending: Vec<GroupId> = overlap.and_then(|overlap| overlap.group.clone().ok()).into_iter().collect();
    while let Some(id) = pending.pop() {
        let group = kernel.group(id);
        if let (Ok(GroupKind::Distinct), Ok(size @ 2..)) = (&group.kind, &group.size) {
            let message = format!(
                "the compiler ignores group_size={size} of a distinct group; put it on a shared group of the buffer that has {size} times as many"
            );
            findings.push(Finding::new(Code::CountMismatch, group.at, message));
        }
        // An element stands before its group, so that the walk ends.
        let inner = group.elements.iter().filter_map(|element| match element {
            Element::Group(inner) if *inner < id => Some(*inner),
            _ => None,
        });
        pending.extend(inner);
    }
}

/// How many times the tree is repeated, by each member.
fn counts(kernel: &Kernel, plan: &Plan, spec: SpecId, leaves: &[BufferId], findings: &mut Vec<Finding>) {
    let counted = leaves.iter().filter_map(|&leaf| {
        let place = plan.place(leaf)?;
        let group_size = place.placement?.group_size.max(1);
        Some((leaf, place.sized.num, group_size))
    });
    let counted: Vec<_> = counted.collect();
    let Some(&(first, first_num, first_size)) = counted.first() else { return };
    for &(leaf, num, group_size) in &counted {
        let buffer = kernel.buffer(leaf);
        if !num.is_multiple_of(group_size) {
            let message =
                format!("`{}` has {num} buffers, which do not make whole groups of {group_size}", buffer.name);
            findings.push(Finding::new(Code::CountMismatch, buffer.at, message));
        } else if num / group_size != first_num / first_size {
            let message = format!(
                "`{}` has {} buffers per tree of `{}`, `{}` has {}; the compiler sizes the spec by the first allocation only",
                buffer.name,
                num / group_size,
                kernel.spec(spec).name,
                kernel.buffer(first).name,
                first_num / first_size
            );
            findings.push(Finding::new(Code::CountMismatch, buffer.at, message));
        }
    }
}

/// Ranges that are compared one by one; a buffer with more indices is compared by its first ones.
const MOST_COMPARED: u64 = 64;

/// Compares the ranges that the compiler's formula gives, whatever the author meant.
struct Pairs<'a> {
    kernel: &'a Kernel,
    plan: &'a Plan,
    findings: &'a mut Vec<Finding>,
}

impl Pairs<'_> {
    fn of_node(&mut self, node: &Node) {
        let Node::Group { kind, children, .. } = node else { return };
        for (i, child) in children.iter().enumerate() {
            self.of_node(child);
            for other in &children[i + 1..] {
                for a in leaves(child) {
                    for b in leaves(other) {
                        self.of_leaves(a, b, *kind);
                    }
                }
            }
        }
    }

    fn of_leaves(&mut self, a: BufferId, b: BufferId, kind: GroupKind) {
        let plan = self.plan;
        let (Some(place_a), Some(place_b)) = (plan.place(a), plan.place(b)) else { return };
        for (i, range_a) in compared(place_a) {
            for (j, range_b) in compared(place_b) {
                let may_overlap = kind == GroupKind::Shared && group_index(place_a, i) == group_index(place_b, j);
                if !may_overlap && range_a.0 < range_b.1 && range_b.0 < range_a.1 {
                    return self.report((a, i, range_a), (b, j, range_b), kind);
                }
            }
        }
    }

    fn with_itself(&mut self, leaf: BufferId) {
        let Some(place) = self.plan.place(leaf) else { return };
        for (i, range_i) in compared(place) {
            for (j, range_j) in compared(place).skip(i as usize + 1) {
                if range_i.0 < range_j.1 && range_j.0 < range_i.1 {
                    return self.report((leaf, i, range_i), (leaf, j, range_j), GroupKind::Distinct);
                }
            }
        }
    }

    fn report(
        &mut self,
        (a, i, range_a): (BufferId, u64, (u64, u64)),
        (b, j, range_b): (BufferId, u64, (u64, u64)),
        kind: GroupKind,
    ) {
        let (first, second) = (self.kernel.buffer(a), self.kernel.buffer(b));
        let units = first.storage.as_ref().map_or("bytes", |&storage| self.plan.units(storage));
        let meant = match kind {
            GroupKind::Distinct => "although they are meant to be distinct",
            GroupKind::Shared => "which belongs to another buffer group",
        };
        let mut message = format!(
            "`{}[{j}]` ({units} {}..{}) overlaps `{}[{i}]` ({units} {}..{}), {meant}",
            second.name, range_b.0, range_b.1, first.name, range_a.0, range_a.1
        );
        if self.plan.place(b).is_some_and(|place| place.rewriting.group_size > 1) {
            let _ =
                write!(message, "; with `group_size` the compiler spreads the buffers, so remove it and index by hand");
        }
        // Groups that overlap across buffer indices are harmless where those indices are never live together.
        let severity = if kind == GroupKind::Distinct { Severity::Error } else { Severity::Warning };
        let related = vec![Related { at: first.at, message: format!("`{}` is allocated here", first.name) }];
        let at = second.at;
        self.findings.push(Finding { severity, related, ..Finding::new(Code::OverlappingBuffers, at, message) });
    }
}

fn leaves(node: &Node) -> Vec<BufferId> {
    match node {
        Node::Leaf { buffer, .. } => vec![*buffer],
        Node::Group { children, .. } => children.iter().flat_map(leaves).collect(),
    }
}

fn compared(place: &PlacedBuffer) -> impl Iterator<Item = (u64, (u64, u64))> + '_ {
    (0..place.sized.num.min(MOST_COMPARED)).map(|index| (index, place.range(index)))
}

fn group_index(place: &PlacedBuffer, index: u64) -> u64 {
    index / place.placement.map_or(1, |placement| placement.group_size.max(1))
}

/// Powers of two that the layouts of the backing allocation ask for.
fn backing_shape(kernel: &Kernel, plan: &Plan, spec_plan: &SpecPlan, findings: &mut Vec<Finding>) {
    let spec = kernel.spec(spec_plan.spec);
    let (Ok(size), Ok(storage)) = (&spec_plan.size, &spec.storage) else { return };
    let units = size.units();
    if plan.rules == Rules::Seed
        // Whatever has no size is wrong in another way.
        || units == 0
        || units.is_power_of_two()
        || size.bytes < size.required
        || !spec_plan.trouble.is_empty()
    {
        return;
    }
    let rounded = units.checked_next_power_of_two().unwrap_or(units);
    let message = match storage {
        Storage::Tmem => format!(
            "`{}` spans {units} columns; the layout of its backing allocation takes a power of two up to 512, so use {rounded} or allocate in two specs",
            spec.name
        ),
        _ => format!(
            "`{}` has {units} bytes, which is not a power of two: if it remains the allocation, it is rounded up to {rounded}; write `buffer_size_bytes={rounded}`",
            spec.name
        ),
    };
    findings.push(Finding::new(Code::BackingShape, spec.at, message));
}

fn indices(kernel: &Kernel, plan: &Plan, findings: &mut Vec<Finding>) {
    for index in kernel.indices.iter().filter(|index| index.certain) {
        let IndexValue::Constant(value) = index.index else { continue };
        let buffer = kernel.buffer(index.buffer);
        let num = match plan.place(index.buffer) {
            Some(place) => place.sized.num,
            None => match buffer.num {
                Ok(num) => num,
                Err(_) => continue,
            },
        };
        if u64::try_from(value).is_ok_and(|at| at < num) {
            continue;
        }
        let message = format!(
            "index {value} is outside `{}`, which has {num} buffer{}; nothing checks this at run time",
            buffer.name,
            if num == 1 { "" } else { "s" }
        );
        findings.push(Finding::new(Code::IndexOutOfRange, index.at, message));
    }
}

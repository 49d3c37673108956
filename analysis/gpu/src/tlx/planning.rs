//! Plans the memory of a TLX kernel: each stage of the compiler in turn, then what there is to say about the result.

use tilefit_python::finding::Reason;

use crate::device::Arch;

use super::kernel::{Backing, Buffer, Kernel, Known, SpecId};
use super::placed::{PlacedBuffer, SpecPlan, Trouble};
use super::plan::Plan;
use super::rewriting::Rewriting;
use super::sizes::Sized;
use super::spec_size::SpecSize;
use super::tree::Tree;
use super::{Rules, checks, footprint, offsets, spec_size};

pub fn plan(kernel: &Kernel, arch: Arch, rules: Rules) -> Plan {
    let mut places: Vec<Known<PlacedBuffer>> = kernel.buffers.iter().map(|buffer| unplaced(buffer, rules)).collect();
    let specs: Vec<_> = kernel.spec_ids().map(|id| plan_spec(kernel, id, rules, &mut places)).collect();
    let (footprints, unknown) = footprint::footprints(kernel, &specs, &places, rules);
    let mut plan = Plan {
        arch: kernel.arch.unwrap_or(arch),
        rules,
        smem: footprint::smem(&footprints),
        tmem: footprint::tmem(&footprints),
        specs,
        places,
        footprints,
        findings: Vec::new(),
        unknown,
    };
    plan.findings = checks::findings(kernel, &plan);
    plan
}

fn unplaced(buffer: &Buffer, rules: Rules) -> Known<PlacedBuffer> {
    let sized = Sized::of(buffer, rules)?;
    let rewriting = Rewriting::none(sized.num);
    Ok(PlacedBuffer { sized, placement: None, rewriting })
}

fn plan_spec(kernel: &Kernel, id: SpecId, rules: Rules, places: &mut [Known<PlacedBuffer>]) -> SpecPlan {
    let tree = tree(kernel, id, rules);
    let size = size(kernel, id, tree.as_ref(), rules);
    let mut plan = SpecPlan { spec: id, size, tree, stride: None, extent: Ok(0), trouble: Vec::new() };
    plan.extent = match (&plan.size, &plan.tree) {
        (Err(reason), _) | (_, Some(Err(reason))) => Err(reason.clone()),
        (Ok(size), None) => Ok(size.units()),
        (Ok(size), Some(Ok(tree))) => {
            let stride = match rules {
                Rules::Compiler => offsets::stride(tree),
                Rules::Seed => size.bytes / first_num(kernel, id).max(1),
            };
            plan.stride = Some(stride);
            let units = size.units();
            place_tree(tree, stride, rules, places, &mut plan.trouble);
            Ok(units)
        }
    };
    if let Ok(extent) = plan.extent.as_mut() {
        let spans = kernel.users(id).filter_map(|user| places[user.0 as usize].as_ref().ok().map(PlacedBuffer::span));
        *extent = spans.fold(*extent, u64::max);
    }
    plan
}

/// The tree of the first overlap definition; a second one is an error of its own.
fn tree(kernel: &Kernel, id: SpecId, rules: Rules) -> Option<Known<Tree>> {
    let overlap = kernel.overlaps.iter().find(|overlap| overlap.spec == id)?;
    let known = || {
        if !overlap.certain {
            return Err(Reason::new("the overlap is defined under an unknown condition"));
        }
        let users = spec_size::users(kernel, id, rules)?;
        Tree::of(kernel, overlap.group.clone()?, &users, kernel.spec(id).storage.clone()?, rules)
    };
    Some(known())
}

fn size(kernel: &Kernel, id: SpecId, tree: Option<&Known<Tree>>, rules: Rules) -> Known<SpecSize> {
    let spec = kernel.spec(id);
    let storage = spec.storage.clone()?;
    if let Some(hidden) = kernel.buffers.iter().find_map(|buffer| match &buffer.backing {
        Backing::Unknown(reason) => Some(reason),
        _ => None,
    }) {
        return Err(hidden.clone());
    }
    if kernel.users(id).any(|user| !kernel.buffer(user).certain) {
        return Err(Reason::new("some of its buffers are allocated under an unknown condition"));
    }
    let users = spec_size::users(kernel, id, rules)?;
    let tree = tree.map(|tree| tree.as_ref().map_err(Clone::clone)).transpose()?;
    let explicit = spec.explicit.clone().transpose()?;
    let sized: Vec<&Sized> = users.iter().map(|(_, sized)| sized).collect();
    Ok(spec_size::spec_size(&sized, tree, explicit, storage, rules))
}

fn first_num(kernel: &Kernel, id: SpecId) -> u64 {
    let first = kernel.users(id).next();
    first.and_then(|first| kernel.buffer(first).num.clone().ok()).unwrap_or(1)
}

fn place_tree(tree: &Tree, stride: u64, rules: Rules, places: &mut [Known<PlacedBuffer>], trouble: &mut Vec<Trouble>) {
    let placements = match offsets::place(tree, stride) {
        Ok(placements) => placements,
        Err(error) => return trouble.push(Trouble::NotEnoughSpace(error)),
    };
    for placement in placements {
        let Some(Ok(place)) = places.get_mut(placement.buffer.0 as usize) else { continue };
        match Rewriting::of(&placement, place.sized.unit, place.sized.num, rules) {
            Ok(rewriting) => place.rewriting = rewriting,
            Err(error) => trouble.push(Trouble::NotRewritable(placement.buffer, error, placement)),
        }
        place.placement = Some(placement);
    }
}

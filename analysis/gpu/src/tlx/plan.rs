//! The memory of a TLX kernel: each stage of the compiler in turn, then what there is to say about the result.

use tilefit_python::finding::Finding;
use tilefit_python::finding::Reason;

use crate::device::Arch;

use super::footprint::{self, Footprint, Owner};
use super::kernel::{Backing, BufferId, Kernel, Known, SpecId};
use super::language::Storage;
use super::offsets::{self, NotEnoughSpace, Placement};
use super::rewriting::{NotRewritable, Rewriting};
use super::sizes::{self, BYTES_OF_A_COLUMN, Sized, SpecSize};
use super::tree::Tree;
use super::{Rules, checks};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub arch: Arch,
    pub rules: Rules,
    pub specs: Vec<SpecPlan>,
    /// In the order of the kernel's buffers.
    pub places: Vec<Known<PlacedBuffer>>,
    pub footprints: Vec<Footprint>,
    /// Bytes of all allocations of known size.
    pub smem: u64,
    /// Columns of them.
    pub tmem: u64,
    pub findings: Vec<Finding>,
    /// Why parts of the totals are missing.
    pub unknown: Vec<Reason>,
}

/// A spec after the compiler's steps 1 to 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecPlan {
    pub spec: SpecId,
    /// Step 1; why it is not known.
    pub size: Known<SpecSize>,
    pub tree: Option<Known<Tree>>,
    /// From one buffer of the tree to the next, in bytes or columns.
    pub stride: Option<u64>,
    /// Bytes or columns that are allocated in the end.
    pub extent: Known<u64>,
    pub trouble: Vec<Trouble>,
}

/// What keeps the compiler from finishing a spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    NotEnoughSpace(NotEnoughSpace),
    NotRewritable(BufferId, NotRewritable, Placement),
}

/// A buffer of known size, and where its buffers lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedBuffer {
    pub sized: Sized,
    /// Set for members of an overlap tree.
    pub placement: Option<Placement>,
    pub rewriting: Rewriting,
}

/// Buffers of one allocation whose ranges are listed; more are not looked at one by one.
pub const MOST_RANGES: u64 = 1024;

impl PlacedBuffer {
    /// Bytes or columns of buffer `index`, from the start of its allocation.
    pub fn range(&self, index: u64) -> (u64, u64) {
        let start = self.rewriting.slot(index).saturating_mul(self.sized.unit);
        (start, start.saturating_add(self.sized.unit))
    }

    pub fn ranges(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (0..self.sized.num.min(MOST_RANGES)).map(|index| self.range(index))
    }

    /// Bytes or columns of the array that replaces the buffer in step 3.
    pub fn span(&self) -> u64 {
        self.rewriting.new_num.saturating_mul(self.sized.unit)
    }
}

impl Plan {
    pub fn spec(&self, id: SpecId) -> Option<&SpecPlan> {
        self.specs.get(id.0 as usize)
    }

    pub fn place(&self, id: BufferId) -> Option<&PlacedBuffer> {
        self.places.get(id.0 as usize)?.as_ref().ok()
    }

    /// What offsets and sizes of a memory are counted in: the seed knows no columns.
    pub fn units(&self, storage: Storage) -> &'static str {
        match self.rules {
            Rules::Compiler => storage.units(),
            Rules::Seed => "bytes",
        }
    }

    /// What is left of a memory, in those units.
    pub fn free(&self, storage: Storage) -> u64 {
        match (storage, self.rules) {
            (Storage::Tmem, Rules::Compiler) => self.arch.tmem().saturating_sub(self.tmem),
            (Storage::Tmem, Rules::Seed) => self.arch.tmem().saturating_sub(self.tmem) * BYTES_OF_A_COLUMN,
            _ => self.arch.smem().saturating_sub(self.smem),
        }
    }

    /// What owns the memory that a buffer is in.
    pub fn owner(&self, kernel: &Kernel, mut id: BufferId) -> Option<Owner> {
        loop {
            match kernel.buffer(id).backing {
                Backing::Own => return Some(Owner::Buffer(id)),
                Backing::Spec(spec) => return Some(Owner::Spec(spec)),
                Backing::Alias(base) if base < id => id = base,
                Backing::Alias(_) | Backing::Unknown(_) => return None,
            }
        }
    }

    /// Sizes of buffers that have a layout of their own were counted elsewhere, other than those of specs.
    pub fn count_layouts(&mut self, kernel: &Kernel) {
        let others = kernel.buffers.iter().filter(|buffer| !matches!(buffer.backing, Backing::Spec(_)));
        let counted: Vec<Reason> = others.filter_map(footprint::unread).collect();
        self.unknown.retain(|reason| !counted.contains(reason));
    }

    /// Everything that the totals count is known.
    pub fn is_exact(&self, kernel: &Kernel) -> bool {
        self.unknown.is_empty() && kernel.notes.is_empty() && self.footprints.iter().all(|footprint| footprint.certain)
    }
}

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

fn unplaced(buffer: &super::kernel::Buffer, rules: Rules) -> Known<PlacedBuffer> {
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
        let users = sizes::users(kernel, id, rules)?;
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
    let users = sizes::users(kernel, id, rules)?;
    let tree = tree.map(|tree| tree.as_ref().map_err(Clone::clone)).transpose()?;
    let explicit = spec.explicit.clone().transpose()?;
    let sized: Vec<&Sized> = users.iter().map(|(_, sized)| sized).collect();
    Ok(sizes::spec_size(&sized, tree, explicit, storage, rules))
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

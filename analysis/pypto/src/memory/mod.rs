//! The memory pipeline: sizes, reuse groups, packing into addresses, limits (`docs/reference/memory.md`).
//!
//! [`bases`] says which memory each tile has before any sharing, [`aliases`] makes loops write in place, [`lifetimes`] says when
//! each must-alias group is live. Then one of the [`planners`] gives them addresses. [`check`] looks at every plan first.

mod addresses;
mod aliases;
mod bases;
mod carried;
mod check;
mod declared;
mod downgrade;
mod labels;
mod lifetimes;
mod limits;
mod overwritten;
mod plan;
mod planners;
mod repairs;
mod report;
pub(crate) mod sizes;
#[cfg(test)]
mod tests;

pub(crate) use addresses::{check_reservations, reservations};
pub use downgrade::downgrade_unproved;
pub use plan::{
    Buffer, BufferId, Capacity, Crossings, Fit, Order, Plan, PlannedTile, SpaceUse, StagePair, Trouble, Witness,
};
pub use planners::background_search::{Effort, OpenSearch, Patience, Searched};

use crate::ir::{Kernel, VarId};
use crate::target::{Machine, Planner, Target};

use addresses::{Layout, Reserved};
use bases::{Bases, Unplaced};
use carried::Inits;
use lifetimes::{Group, Lifetimes, Live};
use planners::packed::{self, Packed};
use planners::sequential::{self, Constraints, Degraded};
use planners::{dsa_rp, input, verdict};
use repairs::Repairs;

/// More tiles than this are not planned: sharing compares them in pairs.
const MOST_GROUPS: usize = 8192;

/// Plans the memory of a kernel for which [`crate::passes::prepare`] has made every tile explicit.
pub fn plan(kernel: &Kernel, target: Target, planner: Planner) -> Plan {
    plan_for(kernel, target.into(), planner)
}

/// [`plan`] for memories of other sizes than the target's.
pub fn plan_for(kernel: &Kernel, machine: Machine, planner: Planner) -> Plan {
    plan_within(kernel, machine, planner, Effort::INTERACTIVE)
}

pub fn plan_within(kernel: &Kernel, machine: Machine, planner: Planner, effort: Effort) -> Plan {
    let target = machine.target;
    if !carried::well_formed(kernel) {
        return report::ill_formed(kernel, target, planner);
    }
    let inits = Inits::of(kernel);
    let (mut bases, unplaced) = bases::assign(kernel, target);
    aliases::materialize(kernel, &inits, target, &mut bases);
    let aliased = AliasedKernel::new(kernel, machine, inits, bases, unplaced, effort);
    if aliased.groups.len() > MOST_GROUPS {
        return report::too_many(kernel, target, planner, aliased.groups.len());
    }
    match planner {
        Planner::Sequential => aliased.sequential().into_plan(&aliased, planner),
        Planner::Packed => aliased.packed().into_plan(&aliased, planner),
        Planner::DsaRp => aliased.dsa_rp(),
        Planner::Auto => aliased.auto(),
    }
}

/// A kernel with its must-alias groups, to be given addresses.
struct AliasedKernel<'k> {
    kernel: &'k Kernel,
    machine: Machine<'k>,
    inits: Inits,
    bases: Bases,
    unplaced: Vec<Unplaced>,
    lifetimes: Lifetimes<'k>,
    groups: Vec<Group>,
    constraints: Constraints,
    reserved: Reserved,
    /// Sources of the copies that were written into the kernel; their variables are its last ones.
    copies: Vec<VarId>,
    effort: Effort<'k>,
}

/// Addresses for a kernel with its groups.
struct Placement {
    bases: Bases,
    repairs: Repairs,
    layout: Layout,
    /// Groups by buffer, the representative first.
    buffers: Vec<Vec<usize>>,
    degraded: Vec<Degraded>,
    /// How packing by lifetime ended, where that was tried.
    packed: Option<Packed>,
    /// The compiler's search found no placement; this is another one.
    refused: bool,
    /// Which tiles must not meet in memory, for the check.
    needed: Needed,
}

/// Tiles and when they are needed, and the memory that makes some of them one.
struct Needed {
    tiles: Vec<(VarId, Live)>,
    groups: Bases,
    /// Tiles of different branches count as live where their common result is.
    alternatives: bool,
}

impl<'k> AliasedKernel<'k> {
    fn new(
        kernel: &'k Kernel,
        machine: Machine<'k>,
        inits: Inits,
        bases: Bases,
        unplaced: Vec<Unplaced>,
        effort: Effort<'k>,
    ) -> AliasedKernel<'k> {
        let lifetimes = Lifetimes::of(kernel, &inits, &bases);
        let groups = lifetimes::groups(&lifetimes, &bases);
        let constraints = Constraints::of(kernel, machine.target, &bases, &lifetimes, &groups);
        let (reserved, copies) = (Reserved::of(kernel), Vec::new());
        AliasedKernel {
            kernel,
            machine,
            inits,
            unplaced,
            lifetimes,
            groups,
            constraints,
            reserved,
            copies,
            bases,
            effort,
        }
    }

    /// The author's variable that a tile is shown as.
    fn shown_as(&self, var: VarId) -> VarId {
        let authored = self.kernel.vars.len() - self.copies.len();
        (var.0 as usize).checked_sub(authored).and_then(|copy| self.copies.get(copy)).copied().unwrap_or(var)
    }

    /// As the compiler does by default: MemoryReuse, then one range after the other.
    fn sequential(&self) -> Placement {
        let kernel = self.kernel;
        let reserved = |space| self.reserved.in_space(space);
        let sharing =
            sequential::share(self.machine, &self.bases, &self.lifetimes, &self.groups, &self.constraints, reserved);
        let mut bases = self.bases.clone();
        if repairs::rebase(kernel, &self.groups, &sharing.buffers, &mut bases) {
            repairs::align_carries(kernel, &kernel.body, &mut bases);
        }
        let repairs = self.repair(&mut bases);
        let memories = kernel_memories(kernel, &self.lifetimes, &bases);
        let layout = addresses::sequential(&bases, memories, self.reserved);
        let lives = self.lifetimes.defined.iter().filter_map(|var| Some((*var, self.lifetimes.live(*var)?)));
        let tiles = lives.filter(|(var, _)| self.bases.get(*var).is_some()).collect();
        // What a branch makes anew and what it accumulates onto are one tile; only one of the two happens.
        let mut groups = self.bases.clone();
        aliases::coalesce_accumulators(kernel, &self.inits, self.machine.target, &mut groups);
        repairs::follow_renames(kernel, &mut groups);
        let needed = Needed { tiles, groups, alternatives: true };
        Placement {
            bases,
            repairs,
            layout,
            buffers: sharing.buffers,
            degraded: sharing.degraded,
            packed: None,
            refused: false,
            needed,
        }
    }

    /// Every must-alias group by its lifetime.
    fn packed(&self) -> Placement {
        let kernel = self.kernel;
        let mut bases = self.bases.clone();
        let repairs = self.repair(&mut bases);
        let lifetimes = Lifetimes::of(kernel, &self.inits, &bases);
        let groups = lifetimes::groups(&lifetimes, &bases);
        let constraints = Constraints::of(kernel, self.machine.target, &bases, &lifetimes, &groups);
        let input = input::Input {
            kernel,
            machine: self.machine,
            bases: &bases,
            lifetimes: &lifetimes,
            groups: &groups,
            constraints: &constraints,
            moves: &repairs.moves,
            reserved: self.reserved,
            effort: self.effort,
        };
        let packed = packed::pack(&input);
        if packed.is_none() {
            // Too large for the packer to state, and far too large for any memory.
            return self.sequential();
        }
        let buffers = (0..self.groups.len()).map(|index| vec![index]).collect();
        let spaces = || packed.iter().flat_map(|packed| packed.spaces.values());
        let mut sharing: Vec<StagePair> = spaces().flat_map(|space| &space.relaxed).cloned().collect();
        sharing.sort_by_key(|pair| pair.space);
        let stages = spaces().filter(|space| !space.relaxed.is_empty()).map(|space| space.stages).sum();
        let degraded = (!sharing.is_empty()).then_some(Degraded::Stages { sharing, stages }).into_iter().collect();
        let layout = packed.as_ref().map(|packed| packed.layout.clone()).unwrap_or_default();
        let tiles = input::tiles(kernel, &bases, &lifetimes).collect();
        let needed = Needed { tiles, groups: bases.clone(), alternatives: false };
        Placement { layout, repairs, buffers, degraded, packed, refused: false, bases, needed }
    }

    /// As the compiler's opt-in planner: yields are repaired first, then all buffers are placed by a search.
    fn dsa_rp(&self) -> Plan {
        let mut bases = self.bases.clone();
        let Repairs { moves, failures } = self.repair(&mut bases);
        let (kernel, copies) = repairs::written_out(self.kernel, &moves, &mut bases);
        let mut aliased =
            AliasedKernel::new(&kernel, self.machine, Inits::of(&kernel), bases, self.unplaced.clone(), self.effort);
        aliased.copies = copies;
        let (layout, degraded) = match dsa_rp::place(&aliased) {
            dsa_rp::PlacementResult::Placed(solution) => {
                let dsa_rp::Solution { layout, sharing, stages } = solution;
                let pair = |pair: &(usize, usize)| {
                    verdict::stage_pair(
                        &kernel,
                        &aliased.lifetimes,
                        &aliased.bases,
                        &aliased.groups,
                        &aliased.constraints,
                        *pair,
                    )
                };
                let sharing: Vec<StagePair> = sharing.iter().filter_map(pair).collect();
                (layout, (!sharing.is_empty()).then_some(Degraded::Stages { sharing, stages }))
            }
            dsa_rp::PlacementResult::NoFit => {
                let refused = Placement { refused: true, ..aliased.packed() };
                return refused.into_plan(&aliased, Planner::DsaRp);
            }
            dsa_rp::PlacementResult::TooMany => {
                return report::too_many(self.kernel, self.machine.target, Planner::DsaRp, aliased.groups.len());
            }
        };
        let tiles = aliased.lifetimes.defined.iter().filter_map(|var| Some((*var, aliased.lifetimes.live(*var)?)));
        let tiles = tiles.filter(|(var, _)| aliased.bases.get(*var).is_some()).collect();
        let placement = Placement {
            repairs: Repairs { moves: Vec::new(), failures },
            layout,
            buffers: (0..aliased.groups.len()).map(|index| vec![index]).collect(),
            degraded: degraded.into_iter().collect(),
            packed: None,
            refused: false,
            needed: Needed { tiles, groups: aliased.bases.clone(), alternatives: true },
            bases: aliased.bases.clone(),
        };
        placement.into_plan(&aliased, Planner::DsaRp)
    }

    fn repair(&self, bases: &mut Bases) -> Repairs {
        aliases::coalesce_accumulators(self.kernel, &self.inits, self.machine.target, bases);
        let repairs = repairs::fix_yields(self.kernel, bases);
        repairs::follow_renames(self.kernel, bases);
        repairs
    }

    /// Sequential while it fits; packed where only that does.
    fn auto(&self) -> Plan {
        let mut sequential = self.sequential();
        if sequential.fits(self.machine) {
            return sequential.into_plan(self, Planner::Sequential);
        }
        let packed = self.packed();
        if packed.packed.is_some() && packed.fits(self.machine) {
            let warnings = report::only_packed(self, &sequential, &packed);
            let mut plan = packed.into_plan(self, Planner::Packed);
            plan.findings.splice(0..0, warnings);
            return plan;
        }
        sequential.packed = packed.packed;
        sequential.into_plan(self, Planner::Sequential)
    }
}

impl Placement {
    fn fits(&self, machine: Machine) -> bool {
        self.layout.used.iter().all(|(space, used)| machine.capacity(*space).is_none_or(|capacity| *used <= capacity))
    }

    fn into_plan(mut self, aliased: &AliasedKernel, planner: Planner) -> Plan {
        if self.packed.is_none() && !self.fits(aliased.machine) {
            // Only to say whether another placement would help.
            self.packed = aliased.packed().packed;
        }
        report::plan(aliased, &self, planner)
    }
}

/// The memory of every tile that the kernel names.
fn kernel_memories<'a>(
    kernel: &'a Kernel,
    lifetimes: &'a Lifetimes,
    bases: &'a Bases,
) -> impl Iterator<Item = bases::MemRef> + 'a {
    input::tiles(kernel, bases, lifetimes).filter_map(|(var, _)| bases.get(var))
}

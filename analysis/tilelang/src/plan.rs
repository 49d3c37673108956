//! The plan of a launch: where each buffer lies in shared memory, what the block takes of each memory, and how far that is known.

mod bounds;
mod findings;
mod mixed;
mod reasons;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use std::sync::Arc;

use tilefit_packing::{self as packing, Problem, Spec, Violation};
use tilefit_python::finding::{Origin, Reason};

use crate::alignment::{Alignments, alignments};
use crate::bulk_copies;
use crate::events::{Events, events};
use crate::finding::Finding;
pub use crate::lifetimes::LiveRange;
use crate::lifetimes::{Lifetimes, lifetimes};
use crate::packer::{self, Packing, Tenant};
use crate::program::{BufferId, Extent, Kind, Launch, Scope};
use crate::specialise::{Outcome, Specialised, specialised};
use crate::steps::{Budget, Form, Guard, Step, Steps, spread, steps};
use crate::target::Target;
use crate::tensor_memory::{self, Arena};
use crate::workspaces::{Need, Workspace, workspaces};

use reasons::Known;

#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// In `shared.dyn`, in the order of the allocator.
    pub placed: Vec<Placed>,
    /// Of `shared.dyn`, bytes.
    pub total: Total,
    /// That run, those that only copy included; `None` where the block's number is not known.
    pub threads: Option<u64>,
    /// In shared memory, the compiler's own included; `None` where the number is not known.
    pub barriers: Option<u64>,
    /// Bytes of shared memory beside the total: barriers, addresses of tensor memory, buffers of scope `shared`; `None` where a size is not known.
    pub static_bytes: Option<u64>,
    /// Allocations of tensor memory; `None` where a width is not known.
    pub tensor_memory: Option<Vec<Arena>>,
    /// Copies have warps of their own.
    pub is_specialised: bool,
    pub findings: Vec<Finding>,
    /// Why the plan is not exact; it is, if there are none. Offsets and sizes are then known as far as they are given.
    pub reasons: Vec<Reason>,
}

/// Bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Total {
    pub low: u64,
    /// `None` where nothing bounds it.
    pub high: Option<u64>,
}

impl Total {
    pub fn exactly(self) -> Option<u64> {
        self.high.filter(|&high| high == self.low)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    pub what: Occupant,
    /// Of one copy, bytes; `None` where an extent is not known.
    pub written: Option<u64>,
    /// Copies.
    pub versions: u64,
    /// Of all copies.
    pub bytes: Option<u64>,
    /// Bytes. Where it depends on a proof of the compiler's that is not modelled, and the offset does not, what is likely.
    pub alignment: u64,
    pub live: LiveRange,
    /// Of the first byte; `None` where it is not known.
    pub offset: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Occupant {
    Buffer(BufferId),
    /// Scratch of a reduction; there is one for each time that it is written out.
    Workspace(Origin),
}

/// What the compiler makes of a launch, as far as it is known.
pub fn plan(launch: &Launch, target: Target) -> Plan {
    let source = steps(launch);
    let lowered = Lowered::of(launch, &source, target);
    let aligned = alignments(launch, &lowered.events.events, &lowered.loads(), target);
    let of_all = lowered.of_all_threads();
    let scratch = workspaces(launch, &lowered.events.events, target, (&of_all, lowered.threads(launch)));
    let lifetimes = lifetimes(launch, &lowered.events.events, target, &scratch);
    let mut placed = placed(launch, &lowered, &lifetimes, &aligned, &scratch);
    let mixed = mixed::mixed(launch, &source, &lowered, target);
    let findings = findings::findings(launch, &source, &lowered, &mixed, target);
    let known = Known { aligned: &aligned, lifetimes: &lifetimes, scratch: &scratch, mixed: &mixed };
    let mut reasons = reasons::reasons(launch, &source, &lowered, known, target);
    if reasons.is_empty() && depends_on_stretches(launch, &placed, &aligned) {
        reasons.sizes.push(Reason::new("whether a copy is proved to lie within its tensor is not modelled"));
    }
    let total = match reasons.is_empty() {
        true => placed_exactly(launch, &mut placed),
        false => bounds::total(launch, &source, &lowered, &placed, known, &reasons, target),
    };
    let tensor_memory = tensor_memory::arenas(launch, &freed(&source));
    let barriers = barriers(launch, lowered.specialised.as_ref());
    Plan {
        threads: lowered.threads(launch),
        static_bytes: static_bytes(launch, &lowered, barriers, tensor_memory.as_deref())
            .filter(|_| !exchanges_through_memory(&source)),
        barriers,
        tensor_memory,
        is_specialised: lowered.specialised.is_some(),
        placed,
        total,
        findings,
        reasons: reasons.all(),
    }
}

/// A launch behind the passes that move statements.
struct Lowered<'p> {
    events: Events<'p>,
    specialised: Option<Specialised<'p>>,
    /// Copies of buffers for roles that there are none of in the end.
    tried: BTreeMap<BufferId, u64>,
    /// Unrolled loops that are too long to be written out are left as they are.
    is_too_long: bool,
}

impl<'p> Lowered<'p> {
    fn of(launch: &'p Launch, source: &Steps<'p>, target: Target) -> Lowered<'p> {
        let mut budget = Budget::STATEMENTS;
        let mut tried = BTreeMap::new();
        let (steps, specialised) = match specialised(launch, source, target) {
            Outcome::Unchanged => (source.clone(), None),
            Outcome::Dropped(steps, versions) => {
                tried = versions;
                (steps, None)
            }
            Outcome::Specialised(specialised) => (specialised.steps.clone(), Some(specialised)),
        };
        let steps = spread(&steps, &mut budget);
        let none = BTreeSet::new();
        let loads = specialised.as_ref().map_or(&none, |specialised| &specialised.loads);
        let is_bulk = |step: &Step| match &step.form {
            Form::Op(numbered) => bulk_copies::is_started(launch, *numbered, loads, target),
            _ => false,
        };
        let events = events(launch, &steps, target, &mut budget, is_bulk);
        Lowered { events, specialised, tried, is_too_long: budget.is_spent }
    }

    fn loads(&self) -> BTreeSet<usize> {
        self.specialised.as_ref().map(|specialised| specialised.loads.clone()).unwrap_or_default()
    }

    fn threads(&self, launch: &Launch) -> Option<u64> {
        match &self.specialised {
            Some(specialised) => launch.threads?.checked_add(specialised.threads?),
            None => launch.threads,
        }
    }

    /// The statements that consumers do not have to themselves, by their numbers.
    fn of_all_threads(&self) -> BTreeSet<usize> {
        fn visit(steps: &[Rc<Step>], found: &mut BTreeSet<usize>) {
            for step in steps {
                match &step.form {
                    Form::Op(numbered) => _ = found.insert(numbered.number),
                    Form::Roles { producer, .. } => visit(producer, found),
                    // Behind the loop there are only consumers.
                    Form::If(Guard { of: None, .. }) => {}
                    form => form.parts().into_iter().for_each(|part| visit(part, found)),
                }
            }
        }
        let mut found = BTreeSet::new();
        visit(self.specialised.as_ref().map_or(&[], |specialised| &specialised.steps), &mut found);
        found
    }

    /// Copies of a buffer: those for roles, each as often as the planner says.
    fn versions(&self, buffer: BufferId) -> u64 {
        let of_roles = self.specialised.as_ref().and_then(|specialised| specialised.versions.get(&buffer));
        let of_planner = self.events.versions.get(&buffer);
        of_roles.copied().unwrap_or(1).saturating_mul(of_planner.copied().unwrap_or(1))
    }
}

/// Buffers and scratch with their live ranges, without offsets.
fn placed(
    launch: &Launch,
    lowered: &Lowered,
    lifetimes: &Lifetimes,
    aligned: &Alignments,
    scratch: &BTreeMap<usize, Workspace>,
) -> Vec<Placed> {
    let mut placed = Vec::new();
    for (place, event) in lowered.events.events.iter().enumerate() {
        placed.extend(workspaces_of(event, scratch).map(|(workspace, step, at)| Placed {
            what: Occupant::Workspace(at),
            written: Some(workspace.size),
            versions: 1,
            bytes: Some(workspace.size),
            alignment: crate::alignment::LEAST,
            live: live_in_step(workspace, (place, event), step, at),
            offset: None,
        }));
    }
    placed.extend(lifetimes.of.iter().map(|(&id, &live)| {
        let (written, versions) = (launch.buffer(id).bytes(), lowered.versions(id));
        let bytes = written.map(|written| written.saturating_mul(versions));
        let alignment = aligned.of(launch, id);
        let live = LiveRange { start: live.start * STEPS, end: live.end * STEPS, ..live };
        Placed { what: Occupant::Buffer(id), written, versions, bytes, alignment, live, offset: None }
    }));
    placed.retain(|placed| placed.bytes != Some(0));
    placed
}

/// Numbers that an event takes.
const STEPS: usize = Need::MOST;

/// Scratch lives as long as its event; but where a thread has one result, the steps of a reduction are events of their own.
fn live_in_step(workspace: &Workspace, (place, event): (usize, &Step), step: usize, at: Origin) -> LiveRange {
    let start = place * STEPS;
    match workspace.results {
        Some(0..=1) if event.op().is_some() => {
            LiveRange { start: start + step, end: start + step + 1, first: at, last: at }
        }
        _ => LiveRange { start, end: start + STEPS, first: at, last: at },
    }
}

/// Scratch of the reductions in an event, as often as each is written out there, with its step of the reduction.
fn workspaces_of<'s>(
    event: &Step,
    scratch: &'s BTreeMap<usize, Workspace>,
) -> impl Iterator<Item = (&'s Workspace, usize, Origin)> {
    let of = event.ops().into_iter().filter_map(|numbered| Some((scratch.get(&numbered.number)?, numbered.op.at)));
    of.flat_map(|(workspace, at)| {
        let count = match workspace.need {
            Need::Known(count) => count,
            Need::Unsure => 0,
        };
        (0..count.min(STEPS)).map(move |step| (workspace, step, at))
    })
}

/// Whether anything lies elsewhere if some copies are of one stretch of memory, and others not.
fn depends_on_stretches(launch: &Launch, placed: &[Placed], aligned: &Alignments) -> bool {
    /// Of buffers of which all combinations are tried.
    const MOST: usize = 4;
    let tenants: Vec<Tenant> = placed.iter().map(|placed| placed.tenant(launch)).collect();
    let open = placed.iter().enumerate().filter_map(|(i, placed)| match placed.what {
        Occupant::Buffer(id) => Some((i, *aligned.of_stretches.get(&id)?)),
        Occupant::Workspace(_) => None,
    });
    let open: Vec<(usize, [u64; 2])> = open.collect();
    let packing = packed(launch, &tenants);
    let differs = |choice: usize| {
        let mut others = tenants.clone();
        for (bit, (i, alignments)) in open.iter().enumerate() {
            others[*i].alignment = alignments[choice >> bit & 1];
        }
        packed(launch, &others) != packing
    };
    open.len() > MOST || (0..1_usize << open.len()).any(differs)
}

fn packed(launch: &Launch, tenants: &[Tenant]) -> Packing {
    if launch.options.is_reuse_off { packer::in_a_row(tenants) } else { packer::pack(tenants) }
}

/// Gives each its offset.
fn placed_exactly(launch: &Launch, placed: &mut [Placed]) -> Total {
    let tenants: Vec<Tenant> = placed.iter().map(|placed| placed.tenant(launch)).collect();
    let packing = packed(launch, &tenants);
    for (placed, &offset) in placed.iter_mut().zip(&packing.offsets) {
        placed.offset = Some(offset);
    }
    debug_assert_eq!(overlap(&tenants, &packing.offsets), None, "what lives at once shares no byte");
    placed.sort_by_key(|placed| (placed.offset, placed.live.start));
    Total { low: packing.total, high: Some(packing.total) }
}

/// What an independent check finds wrong with a packing, if it can state it.
fn overlap(tenants: &[Tenant], offsets: &[u64]) -> Option<Violation> {
    let buffers = tenants.iter().enumerate().map(|(i, tenant)| {
        let buffer = packing::Buffer::new(i.to_string(), tenant.size, tenant.start as u64, tenant.end as u64);
        buffer.aligned(tenant.alignment)
    });
    let spec = Spec { capacity: u64::MAX, buffers: buffers.collect(), ..Spec::default() };
    let problem = Problem::new(spec).ok()?;
    packing::validate(&problem, offsets).err()
}

impl Placed {
    fn tenant(&self, launch: &Launch) -> Tenant {
        let name = match self.what {
            Occupant::Buffer(id) => launch.buffer(id).name.clone(),
            Occupant::Workspace(_) => Arc::from("workspace"),
        };
        let LiveRange { start, end, .. } = self.live;
        Tenant { name, size: self.bytes.unwrap_or(0), alignment: self.alignment, start, end }
    }
}

/// Buffers of tensor memory that the author frees.
fn freed(source: &Steps) -> Vec<BufferId> {
    let ops = source.iter().flat_map(|step| step.ops());
    let frees =
        ops.filter(|numbered| matches!(&numbered.op.kind, Kind::Other(name) if &**name == "tl.deallocate_tmem"));
    frees.flat_map(|numbered| numbered.op.reads.iter().chain(&numbered.op.writes)).map(|region| region.buffer).collect()
}

/// The author's, each as often as there are stages, and those of roles (docs/reference/tilelang.md, "3. Versions (number of copies of a buffer)").
fn barriers(launch: &Launch, specialised: Option<&Specialised>) -> Option<u64> {
    let (own, each) = specialised.map_or((0, 1), |roles| (roles.barriers, roles.of_each_barrier));
    let written = launch.buffers.iter().filter(|buffer| buffer.scope == Scope::Barrier).map(|buffer| {
        buffer.shape.iter().try_fold(1_u64, |product, extent| Some(product.saturating_mul(extent.known()?)))
    });
    let written = sum(written)?;
    Some(written.saturating_mul(each).saturating_add(own))
}

fn sum(sizes: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    sizes.into_iter().try_fold(0_u64, |sum, size| Some(sum.saturating_add(size?)))
}

/// Of a barrier, and of the address of an allocation in tensor memory.
const BARRIER: u64 = 8;
const ADDRESS: u64 = 4;

fn static_bytes(launch: &Launch, lowered: &Lowered, barriers: Option<u64>, arenas: Option<&[Arena]>) -> Option<u64> {
    let ids = (0..).map(BufferId).zip(&launch.buffers);
    let buffers = ids
        .filter(|(_, buffer)| buffer.scope == Scope::StaticShared)
        .map(|(id, buffer)| Some(buffer.bytes()?.saturating_mul(lowered.versions(id))));
    let addresses = (arenas?.len() as u64).saturating_mul(ADDRESS);
    let buffers = sum(buffers)?;
    Some(barriers?.saturating_mul(BARRIER).saturating_add(addresses).saturating_add(buffers))
}

/// A thread's values are reduced with those of others through a buffer of the backend's, whose size is a matter of the backend.
fn exchanges_through_memory(source: &Steps) -> bool {
    let mut ops = source.iter().flat_map(|step| step.ops());
    ops.any(|numbered| matches!(&numbered.op.kind, Kind::Other(name) if &**name == "tirx.tvm_thread_allreduce"))
}

/// An extent that the launch gives a number.
fn is_symbolic(extent: &Extent) -> bool {
    matches!(extent, Extent::Symbolic(_))
}

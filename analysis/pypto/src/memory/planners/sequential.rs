//! Which groups share a buffer (`docs/reference/memory.md`, "Reuse").
//!
//! First-fit decreasing: the largest group first, each into the first buffer all of whose members it can share with. A buffer
//! is as large as its first member and is never divided.

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::work;

use crate::ir::{Attr, AttrName, Call, Kernel, KernelKind, Operand, Stmt, Value, VarId};
use crate::memory::aliases::never_in_place;
use crate::memory::bases::{BaseId, Bases};
use crate::memory::lifetimes::{Group, Lifetimes};
use crate::memory::plan::StagePair;
use crate::memory::sizes;
use crate::ops::{Inplace, OpId};
use crate::target::{Machine, Space, Target};

/// How often the compiler packs a space again with less double-buffering.
const MOST_REPACKS: usize = 256;

/// The buffers: which groups share, by index, the representative first.
pub(in crate::memory) struct Sharing {
    pub buffers: Vec<Vec<usize>>,
    pub degraded: Vec<Degraded>,
}

/// Less double-buffering than the author asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::memory) enum Degraded {
    /// `fits` of `wanted` buffers of a pipeline group.
    Depth { space: Space, pipeline: i64, wanted: u64, fits: u64 },
    /// Nothing helped; the space was packed with little regard to pipelines.
    Everything,
    /// These of `stages` pairs of stages share memory that the planner would keep apart if it could.
    Stages { sharing: Vec<StagePair>, stages: usize },
}

impl Degraded {
    pub(in crate::memory) fn is_in(&self, in_space: Space) -> bool {
        match self {
            Degraded::Depth { space, .. } => *space == in_space,
            Degraded::Everything => false,
            Degraded::Stages { sharing, .. } => sharing.iter().any(|pair| pair.space == in_space),
        }
    }

    pub(in crate::memory) fn sharing(&self) -> &[StagePair] {
        match self {
            Degraded::Stages { sharing, .. } => sharing,
            Degraded::Depth { .. } | Degraded::Everything => &[],
        }
    }
}

/// What keeps groups apart that are not live together.
pub(in crate::memory) struct Constraints {
    /// By group: bases of operands whose buffer the group's results must not be written to.
    no_alias: Vec<Vec<BaseId>>,
    /// By group: pipeline group and stage.
    stages: Vec<Vec<Stage>>,
    /// By group: made by a load.
    loaded: Vec<bool>,
    hazard: Hazard,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) struct Stage {
    pub pipeline: i64,
    pub stage: i64,
}

/// On the 910B's split vector function, an operation on a received tile must not write over a loaded tile that it reads.
/// The compiler's MemoryReuse means to keep them apart and does not: it looks for received tiles among those that have memory
/// of their own (`HazardInputCollector`), and its own tutorial kernel fits only because of that.
#[derive(Default)]
struct Hazard {
    loaded: FxHashSet<VarId>,
    reads_received: FxHashSet<VarId>,
}

impl Constraints {
    pub(in crate::memory) fn of(
        kernel: &Kernel,
        target: Target,
        bases: &Bases,
        lifetimes: &Lifetimes,
        groups: &[Group],
    ) -> Constraints {
        let mut no_alias: Vec<Vec<BaseId>> =
            groups.iter().map(|group| forbidden(kernel, target, bases, lifetimes, group)).collect();
        no_alias.iter_mut().for_each(|bases| {
            bases.sort_unstable();
            bases.dedup();
        });
        let pipelined = |group: &Group| {
            let calls = group.members.iter().filter_map(|var| lifetimes.call(*var));
            calls.map(|call| (call, stages_of(call))).find(|(_, stages)| !stages.is_empty())
        };
        let mut stages = Vec::with_capacity(groups.len());
        let mut loaded = Vec::with_capacity(groups.len());
        for group in groups {
            let found = pipelined(group);
            loaded.push(matches!(&found, Some((call, _)) if matches!(call.op, OpId::LOAD | OpId::READ)));
            stages.push(found.map(|(_, stages)| stages).unwrap_or_default());
        }
        Constraints { no_alias, stages, loaded, hazard: hazard(kernel, target) }
    }

    pub(in crate::memory) fn stages(&self, group: usize) -> &[Stage] {
        &self.stages[group]
    }

    /// Bases that no result of the group may be written to, sorted.
    pub(in crate::memory) fn no_alias(&self, group: usize) -> &[BaseId] {
        &self.no_alias[group]
    }

    /// Whether two groups are copies of one tile in different stages of a pipeline.
    pub(in crate::memory) fn stages_differ(&self, a: usize, b: usize) -> bool {
        let same = |(left, right): &(&Stage, &Stage)| left.pipeline == right.pipeline;
        let mut pairs = self.stages[a].iter().flat_map(|left| self.stages[b].iter().map(move |right| (left, right)));
        pairs.any(|pair| same(&pair) && pair.0.stage != pair.1.stage)
    }

    /// Whether no result of `writer` may be written to the memory of `occupant`.
    pub(in crate::memory) fn writes_over(&self, writer: usize, occupant: &Group) -> bool {
        self.no_alias[writer].binary_search(&occupant.base).is_ok()
    }

    pub(in crate::memory) fn endangers(&self, writer: &Group, input: &Group) -> bool {
        writer.live.def == input.live.last
            && self.hazard.reads_received.contains(&writer.first())
            && self.hazard.loaded.contains(&input.first())
    }
}

/// Operands that the results of a group must not be written over while they are read.
fn forbidden(kernel: &Kernel, target: Target, bases: &Bases, lifetimes: &Lifetimes, group: &Group) -> Vec<BaseId> {
    let mut forbidden = Vec::new();
    for var in &group.members {
        let maker = match lifetimes.value(*var) {
            // Of several results each is kept off the operands.
            Some(Value::Element { tuple, .. }) => *tuple,
            _ => *var,
        };
        let Some(call) = lifetimes.call(maker) else { continue };
        forbidden.extend(
            forbidden_operands(kernel, target, *var, call).filter_map(|operand| bases.of_tile(kernel, operand.var()?)),
        );
    }
    forbidden
}

fn forbidden_operands<'k>(
    kernel: &Kernel,
    target: Target,
    result: VarId,
    call: &'k Call,
) -> impl Iterator<Item = &'k Operand> {
    let op = call.op.op();
    let leading = never_in_place(call, target).unwrap_or(0);
    let widened = match op.inplace {
        Inplace::UnlessWidening => usize::from(widens(kernel, result, call)),
        _ => 0,
    };
    let listed = if leading == 0 { op.no_alias } else { &[] };
    let listed = listed.iter().filter_map(|index| call.args.get(*index as usize));
    call.args.iter().take(leading.max(widened)).chain(listed)
}

/// A wider element is written over where the next ones are still to be read.
fn widens(kernel: &Kernel, result: VarId, call: &Call) -> bool {
    let input = call.args.first().and_then(Operand::var).and_then(|input| kernel.tile(input));
    match (kernel.tile(result), input) {
        (Some(result), Some(input)) => result.dtype.logical_bits() > input.dtype.logical_bits(),
        _ => false,
    }
}

/// The stages of its pipelines that a copy belongs to.
fn stages_of(call: &Call) -> Vec<Stage> {
    let Some(Attr::Stages(stages)) = call.attr(AttrName::PipelineStages) else { return Vec::new() };
    stages.iter().map(|of| Stage { pipeline: of.group.into(), stage: of.stage.into() }).collect()
}

fn hazard(kernel: &Kernel, target: Target) -> Hazard {
    let mut hazard = Hazard::default();
    if target == Target::Ascend910b && kernel.kind == KernelKind::Aiv {
        let mut received = Received::default();
        trace_hazard(&kernel.body, &mut received, &mut hazard);
        if !received.split {
            return Hazard::default();
        }
    }
    hazard
}

/// Tiles that come from the cube core.
#[derive(Default)]
struct Received {
    tiles: FxHashSet<VarId>,
    /// In halves, one for each vector unit.
    split: bool,
}

fn trace_hazard(block: &[Stmt], received: &mut Received, hazard: &mut Hazard) {
    for stmt in block {
        match stmt {
            Stmt::Let { var, value: Value::Call(call), .. } => {
                let mut inputs = call.args.iter().filter_map(Operand::var);
                let derives = call.op.op().view_of.is_some()
                    || matches!(call.op, OpId::EXTRACT | OpId::FILLPAD | OpId::FILLPAD_INPLACE);
                if call.op == OpId::LOAD || (derives && inputs.clone().any(|input| hazard.loaded.contains(&input))) {
                    hazard.loaded.insert(*var);
                }
                if call.op == OpId::TPOP_FROM_AIC {
                    received.tiles.insert(*var);
                    received.split |= call.int(AttrName::Split).is_some_and(|mode| mode != 0);
                }
                if inputs.any(|input| received.tiles.contains(&input)) {
                    hazard.reads_received.insert(*var);
                }
            }
            _ => stmt.blocks().for_each(|block| trace_hazard(block, received, hazard)),
        }
    }
}

/// Shares buffers in every space, with as much double-buffering as fits.
pub(in crate::memory) fn share(
    machine: Machine,
    bases: &Bases,
    lifetimes: &Lifetimes,
    groups: &[Group],
    constraints: &Constraints,
    reserved: impl Fn(Space) -> u64,
) -> Sharing {
    let mut sharing = Sharing { buffers: Vec::new(), degraded: Vec::new() };
    for space in Space::ON_CHIP {
        let members: Vec<usize> =
            (0..groups.len()).filter(|index| bases.base(groups[*index].base).space == space).collect();
        if !members.is_empty() {
            let mut packer = Packer::new(space, machine, lifetimes, groups, constraints, members);
            sharing.buffers.extend(packer.pack_to_fit(reserved(space), &mut sharing.degraded));
        }
    }
    sharing
}

/// Packs the groups of one space.
struct Packer<'a> {
    space: Space,
    capacity: Option<u64>,
    lifetimes: &'a Lifetimes<'a>,
    groups: &'a [Group],
    constraints: &'a Constraints,
    /// Largest first.
    order: Vec<usize>,
    pipelines: Vec<Pipeline>,
    /// The rule of before capacities were considered: only loads are kept apart, and none in the cube's own memories.
    coarse: bool,
}

/// The copies of one pipelined loop body, in one space.
struct Pipeline {
    id: i64,
    /// Sorted.
    stages: Vec<i64>,
    /// Bytes of the largest tile.
    slot: u64,
    /// Stages this many apart share.
    depth: u64,
}

impl<'a> Packer<'a> {
    fn new(
        space: Space,
        machine: Machine,
        lifetimes: &'a Lifetimes<'a>,
        groups: &'a [Group],
        constraints: &'a Constraints,
        mut order: Vec<usize>,
    ) -> Packer<'a> {
        let capacity = machine.capacity(space);
        let pipelines = pipelines(groups, constraints, &order, capacity);
        order.sort_by_key(|index| (std::cmp::Reverse(groups[*index].size), groups[*index].live.def, *index));
        Packer { space, capacity, lifetimes, groups, constraints, order, pipelines, coarse: capacity.is_none() }
    }

    fn pack_to_fit(&mut self, reserved: u64, degraded: &mut Vec<Degraded>) -> Vec<Vec<usize>> {
        let within = self.capacity.unwrap_or(u64::MAX);
        let mut repacks = 0;
        let buffers = loop {
            if let Some(buffers) = self.pack(reserved, within) {
                break buffers;
            }
            repacks += 1;
            let deepest = if repacks <= MOST_REPACKS { self.largest_pipeline() } else { None };
            match deepest {
                Some(pipeline) => self.pipelines[pipeline].depth -= 1,
                None => {
                    self.coarse = true;
                    degraded.push(Degraded::Everything);
                    return self.pack(reserved, u64::MAX).unwrap_or_default();
                }
            }
        };
        for pipeline in &self.pipelines {
            let wanted = pipeline.stages.len() as u64;
            if pipeline.depth < wanted {
                let (space, id, fits) = (self.space, pipeline.id, pipeline.depth);
                degraded.push(Degraded::Depth { space, pipeline: id, wanted, fits });
            }
        }
        buffers
    }

    /// The pipeline that gives most bytes back when one of its buffers goes.
    fn largest_pipeline(&self) -> Option<usize> {
        let deep = self.pipelines.iter().enumerate().filter(|(_, pipeline)| pipeline.depth > 1);
        deep.min_by_key(|(_, pipeline)| (std::cmp::Reverse(sizes::aligned(pipeline.slot)), pipeline.id))
            .map(|(index, _)| index)
    }

    /// `None` as soon as the buffers, which lie one after the other, reach beyond `within`.
    fn pack(&self, reserved: u64, within: u64) -> Option<Vec<Vec<usize>>> {
        let mut top = reserved;
        let mut buffers: Vec<Vec<usize>> = Vec::new();
        for (packed, group) in self.order.iter().enumerate() {
            work::spend_on_pairs(packed);
            let fits = |buffer: &&mut Vec<usize>| buffer.iter().all(|member| self.can_share(*group, *member));
            let open = |index: usize| self.groups[index].declared.is_none();
            let found = if open(*group) {
                buffers.iter_mut().filter(|buffer| buffer.first().is_some_and(|first| open(*first))).find(fits)
            } else {
                None
            };
            match found {
                Some(buffer) => buffer.push(*group),
                None => {
                    top = sizes::aligned(top.saturating_add(self.groups[*group].size));
                    if top > within {
                        return None;
                    }
                    buffers.push(vec![*group]);
                }
            }
        }
        Some(buffers)
    }

    fn can_share(&self, a: usize, b: usize) -> bool {
        let (left, right) = (&self.groups[a], &self.groups[b]);
        let constraints = self.constraints;
        let kept_apart = (left.live.overlaps(right.live) && live_together(self.lifetimes, left, right))
            || constraints.writes_over(a, right)
            || constraints.writes_over(b, left)
            || self.stages_apart(a, b);
        !kept_apart
    }

    fn stages_apart(&self, a: usize, b: usize) -> bool {
        let (left, right) = (self.constraints.stages(a), self.constraints.stages(b));
        if left.is_empty() || right.is_empty() {
            return false;
        }
        let pairs =
            || left.iter().flat_map(|l| right.iter().map(move |r| (l, r))).filter(|(l, r)| l.pipeline == r.pipeline);
        if self.coarse {
            let vector = matches!(self.space, Space::Vec | Space::Mat);
            let loaded = self.constraints.loaded[a] || self.constraints.loaded[b];
            return vector && loaded && pairs().any(|(l, r)| l.stage != r.stage);
        }
        pairs().any(|(l, r)| match self.pipelines.iter().find(|pipeline| pipeline.id == l.pipeline) {
            Some(pipeline) => pipeline.slot_of(l.stage) != pipeline.slot_of(r.stage),
            None => false,
        })
    }
}

/// Whether two groups whose intervals overlap really are live together. Alternatives of one branch are not, unless other
/// members of the groups are.
pub(in crate::memory) fn live_together(lifetimes: &Lifetimes, left: &Group, right: &Group) -> bool {
    let mut alternatives = false;
    for a in &left.members {
        for b in &right.members {
            if lifetimes.alternatives(*a, *b) {
                alternatives = true;
            } else if let (Some(a), Some(b)) = (lifetimes.live(*a), lifetimes.live(*b))
                && a.overlaps(b)
            {
                return true;
            }
        }
    }
    !alternatives
}

impl Pipeline {
    fn slot_of(&self, stage: i64) -> u64 {
        let ordinal = self.stages.binary_search(&stage).unwrap_or(0) as u64;
        ordinal % self.depth.max(1)
    }
}

fn pipelines(groups: &[Group], constraints: &Constraints, members: &[usize], capacity: Option<u64>) -> Vec<Pipeline> {
    let mut by_id: FxHashMap<i64, Pipeline> = FxHashMap::default();
    for index in members {
        for Stage { pipeline: id, stage } in constraints.stages(*index) {
            let pipeline = by_id.entry(*id).or_insert(Pipeline { id: *id, stages: Vec::new(), slot: 0, depth: 1 });
            pipeline.slot = pipeline.slot.max(groups[*index].size);
            if let Err(at) = pipeline.stages.binary_search(stage) {
                pipeline.stages.insert(at, *stage);
            }
        }
    }
    let mut pipelines: Vec<Pipeline> = by_id.into_values().collect();
    pipelines.sort_unstable_by_key(|pipeline| pipeline.id);
    for pipeline in &mut pipelines {
        let affordable = capacity.and_then(|capacity| capacity.checked_div(pipeline.slot)).unwrap_or(1);
        pipeline.depth = affordable.min(pipeline.stages.len() as u64).max(1);
    }
    pipelines
}

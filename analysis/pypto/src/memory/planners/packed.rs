//! Addresses by lifetime: each must-alias group at the lowest offset that is free for all of its life, so that freed memory is
//! divided again (`docs/packing.md`, "Planners"). Where there is room, stages of a pipeline are kept apart, and then what
//! different pipes of the core write.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use tilefit_python::work;

use crate::memory::addresses::{Layout, Range, sizes_of};
use crate::memory::bases::BaseId;
use crate::memory::lifetimes::Live;
use crate::memory::plan::Crossings;
use crate::memory::planners::background_search::{OpenSearch, SIZE};
use crate::memory::planners::dsa_rp::{self, Tenant};
use crate::memory::planners::input::{Input, half_open, tiles};
use crate::memory::planners::verdict::{Packing, SpaceResult};
use crate::memory::sizes;
use crate::target::Space;
use tilefit_packing::{
    self, Budget, BufferIx, Goal, Interval, Lifetime, PackResult, Problem, Spec, Verdict, pack_relaxing,
    satisfy_soft_constraints,
};

/// Nodes of exact search that one space may cost, those to violate as few soft constraints as possible, and those to say why it does not
/// fit.
const NODES: u64 = 16_000;
const NODES_TO_RELAX: u64 = 4_000;

/// More groups than this in one space are kept apart only where their lifetimes meet.
const MOST_PAIRED: usize = 1024;

/// A placement of all spaces, and how each of them ended.
pub(in crate::memory) struct Packed {
    pub layout: Layout,
    pub spaces: FxHashMap<Space, Packing>,
    /// What the budget left undecided.
    pub open: Vec<OpenSearch>,
    /// Nodes that are left, for problems of up to [`SIZE`] buffers.
    nodes: u64,
}

/// Pairs of bases.
type Pairs = Vec<(BaseId, BaseId)>;

/// Packs every space. `None` where a problem is too large for the packer to state.
pub(in crate::memory) fn pack(input: &Input) -> Option<Packed> {
    let nodes = input.effort.nodes;
    let mut packed = Packed { layout: Layout::default(), spaces: FxHashMap::default(), open: Vec::new(), nodes };
    let lives = lives_of_bases(input);
    let named = tiles(input.kernel, input.bases, input.lifetimes);
    let memories = named.filter_map(|(var, _)| input.bases.get(var));
    let sizes = sizes_of(input.bases, memories);
    let apart = Apart::of(input, &sizes);
    for space in Space::ON_CHIP {
        let mut bases: Vec<BaseId> =
            sizes.keys().copied().filter(|base| input.bases.base(*base).space == space).collect();
        bases.sort_unstable();
        if !bases.is_empty() {
            place(input, space, &bases, &sizes, &lives, &apart, &mut packed)?;
        }
    }
    Some(packed)
}

/// When each base holds a value.
fn lives_of_bases(input: &Input) -> FxHashMap<BaseId, Vec<Live>> {
    let mut lives: FxHashMap<BaseId, Vec<Live>> = FxHashMap::default();
    let mut needed = |base: BaseId, live: Live| lives.entry(base).or_default().push(live);
    for (var, live) in tiles(input.kernel, input.bases, input.lifetimes) {
        if let Some(memory) = input.bases.get(var) {
            needed(memory.base, live);
        }
    }
    for repair in input.moves {
        needed(repair.to.base, Live { def: repair.before, last: repair.before });
    }
    lives
}

fn place(
    input: &Input,
    space: Space,
    bases: &[BaseId],
    sizes: &FxHashMap<BaseId, u64>,
    lives: &FxHashMap<BaseId, Vec<Live>>,
    apart: &Apart,
    packed: &mut Packed,
) -> Option<()> {
    let buffers = bases.iter().map(|base| {
        let declared = input.bases.base(*base).declared.is_some();
        let whole = Interval::new(0, 2 * input.lifetimes.statements.len() as u64 + 2);
        let lifetime = match lives.get(base) {
            // A declared allocation is the author's alone.
            Some(lives) if !declared => Lifetime::union(lives.iter().map(|live| half_open(*live))),
            _ => Lifetime::union([whole]),
        };
        let size = sizes::aligned(sizes.get(base).copied().unwrap_or(0).max(1));
        tilefit_packing::Buffer { id: base.0.to_string(), size, lifetime, align: sizes::ALIGNMENT, fixed: None }
    });
    let reserved = input.reserved.in_space(space);
    let within = |pairs: &Pairs| positions(pairs, bases);
    let (must, stages) = (within(&apart.must), within(&apart.stages));
    let spec = Spec {
        capacity: input.machine.capacity(space).unwrap_or(1 << 40),
        buffers: buffers.collect(),
        reserved: if reserved > 0 { std::iter::once(0..reserved).collect() } else { Vec::new() },
        no_alias: must.iter().chain(&stages).copied().collect(),
    };
    let without_stages = Spec { no_alias: must, ..spec.clone() };
    let problem = Problem::new(spec).ok()?;
    let (mut outcome, core) = search(input, &problem, packed);
    let size = bases.len();
    let mut in_force = None;
    let mut relaxed = Vec::new();
    if !fits(&outcome) && !stages.is_empty() {
        let loose = Problem::new(without_stages).ok()?;
        let found = pack_relaxing(&loose, &stages, &packed.budget(Goal::Fit, NODES_TO_RELAX, size));
        packed.spend(found.outcome.nodes, size);
        if fits(&found.outcome) {
            let satisfied = (0..stages.len()).filter(|at| !found.relaxed.contains(at)).map(|at| stages[at]);
            in_force = Some(loose.with_no_alias(satisfied));
            relaxed = found.relaxed.iter().map(|at| stages[*at]).collect();
            outcome = found.outcome;
        }
    }
    let best = outcome.placement.height;
    let mut crossings = None;
    if fits(&outcome) {
        let soft = within(&apart.pipes);
        let problem = in_force.as_ref().unwrap_or(&problem);
        let satisfied =
            satisfy_soft_constraints(problem, &soft, outcome, &packed.budget(Goal::Lowest, NODES_TO_RELAX, size));
        outcome = satisfied.outcome;
        crossings = Some(Crossings { remaining: satisfied.relaxed.len(), total: soft.len() });
    }
    for (base, offset) in bases.iter().zip(&outcome.placement.offsets) {
        let size = sizes.get(base).copied().unwrap_or(0);
        packed.layout.placed.insert(*base, Range { address: *offset, size });
    }
    let used = sizes::aligned(outcome.placement.height.max(reserved));
    packed.layout.used.insert(space, used);
    let searching = packed.open.last().is_some_and(|open| *open.0 == problem);
    let found = SpaceResult {
        problem: &problem,
        bases,
        outcome: &outcome,
        core,
        best,
        relaxed: &relaxed,
        stages: stages.len(),
        crossings,
        searching,
    };
    packed.spaces.insert(space, Packing::of(input, &found, reserved));
    Some(())
}

fn fits(outcome: &PackResult) -> bool {
    matches!(outcome.verdict, Verdict::Fits { .. })
}

/// The quick search, and where it decides nothing, what a background search has found.
fn search(
    input: &Input,
    problem: &Problem,
    packed: &mut Packed,
) -> (PackResult, Option<tilefit_packing::explain::Core>) {
    let size = problem.buffers().len();
    let outcome = tilefit_packing::pack(problem, &packed.budget(Goal::Lowest, NODES, size));
    packed.spend(outcome.nodes, size);
    if outcome.verdict != Verdict::Undecided {
        return (outcome, None);
    }
    let Some(known) = (input.effort.known)(problem) else {
        packed.open.push(OpenSearch(Arc::new(problem.clone())));
        return (outcome, None);
    };
    let searched = &known.outcome;
    let lower = if searched.placement.height < outcome.placement.height { searched } else { &outcome };
    let (placement, method) = (lower.placement.clone(), lower.method);
    let lower_bound = searched.lower_bound.max(outcome.lower_bound);
    (PackResult { placement, method, lower_bound, ..searched.clone() }, known.core.clone())
}

impl Packed {
    /// At most `nodes` of what is left, for a problem of `size` buffers. A node of a large problem costs as much as several.
    fn budget(&self, goal: Goal, nodes: u64, size: usize) -> Budget<'static> {
        Budget::new(goal, nodes.min(self.nodes) * SIZE / SIZE.max(size as u64))
    }

    fn spend(&mut self, nodes: u64, size: usize) {
        self.nodes = self.nodes.saturating_sub(nodes * SIZE.max(size as u64) / SIZE);
    }
}

/// Bases that are never live together and yet are kept apart.
struct Apart {
    must: Pairs,
    /// Stages of a pipeline, which wait for each other if they share.
    stages: Pairs,
    /// One is written by a pipe that would have to wait for another pipe to be done with the other.
    pipes: Pairs,
}

impl Apart {
    fn of(input: &Input, sizes: &FxHashMap<BaseId, u64>) -> Apart {
        let mut apart = Apart { must: Vec::new(), stages: Vec::new(), pipes: Vec::new() };
        for repair in input.moves {
            if let Some(source) = input.bases.get(repair.source) {
                apart.must.push((source.base, repair.to.base));
            }
        }
        for (writer, group) in input.groups.iter().enumerate() {
            apart.must.extend(input.constraints.no_alias(writer).iter().map(|operand| (group.base, *operand)));
        }
        if input.groups.len() > MOST_PAIRED {
            return apart;
        }
        for (a, left) in input.groups.iter().enumerate() {
            work::spend_on_pairs(input.groups.len() - a);
            for (b, right) in input.groups.iter().enumerate().skip(a + 1) {
                let (constraints, pair) = (input.constraints, (left.base, right.base));
                if constraints.endangers(left, right) || constraints.endangers(right, left) {
                    apart.must.push(pair);
                }
                if constraints.stages_differ(a, b) {
                    apart.stages.push(pair);
                }
            }
        }
        apart.pipes = between_pipes(input, sizes);
        apart
    }
}

fn between_pipes(input: &Input, sizes: &FxHashMap<BaseId, u64>) -> Pairs {
    let tenants = Tenant::of_groups(input.groups, input.bases, sizes);
    let pairs = dsa_rp::between_pipes(input.kernel, input.machine.target, input.bases, &tenants, &FxHashSet::default());
    // The kernel does not have the moves that repair its yields: what they touch is not known here.
    let moved = |base: BaseId| {
        input.moves.iter().any(|it| it.to.base == base || input.bases.get(it.source).is_some_and(|it| it.base == base))
    };
    let bases = pairs.into_iter().map(|(a, b)| (tenants[a].base, tenants[b].base));
    bases.filter(|(a, b)| !moved(*a) && !moved(*b)).collect()
}

/// The pairs that are in one space, as positions in its `bases`, each once.
fn positions(pairs: &Pairs, bases: &[BaseId]) -> Vec<(BufferIx, BufferIx)> {
    let position = |base: &BaseId| bases.binary_search(base).ok().map(|at| BufferIx(at as u32));
    let both = pairs.iter().filter_map(|(a, b)| Some((position(a)?, position(b)?)));
    let mut here: Vec<_> = both.filter(|(a, b)| a != b).map(|(a, b)| (a.min(b), a.max(b))).collect();
    here.sort_unstable();
    here.dedup();
    here
}

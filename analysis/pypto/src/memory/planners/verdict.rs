//! What packing one space has shown, and where it does not fit, what the author can do about it (`docs/packing.md`, "Verdicts").

use rustc_hash::FxHashMap;
use tilefit_python::finding::Origin;

use crate::ir::{Kernel, VarId};
use crate::memory::bases::{BaseId, Bases};
use crate::memory::labels::label;
use crate::memory::lifetimes::{Group, Lifetimes};
use crate::memory::plan::{Crossings, Fit, Order, StagePair, Trouble, Witness};
use crate::memory::planners::input::{self, Input};
use crate::memory::planners::sequential::Constraints;
use crate::memory::sizes;
use tilefit_packing::explain::{self, Change};
use tilefit_packing::{Budget, BufferIx, Goal, Lifetime, PackResult, Peak, Problem, Verdict};

/// More buffers than this get no proposals: each change to one of them is packed anew.
const MOST_EXPLAINED: usize = 64;

/// Nodes of exact search that may be spent on why one space does not fit.
const NODES_TO_EXPLAIN: u64 = 4_000;

/// What came out of packing one space.
pub(in crate::memory) struct SpaceResult<'a> {
    pub problem: &'a Problem,
    pub bases: &'a [BaseId],
    pub outcome: &'a PackResult,
    /// What a background search says is in the way.
    pub core: Option<tilefit_packing::explain::Core>,
    /// Height of the lowest placement.
    pub best: u64,
    /// Stages of pipelines that share memory all the same.
    pub relaxed: &'a [(BufferIx, BufferIx)],
    /// Pairs that the author's pipelines keep apart.
    pub stages: usize,
    pub crossings: Option<Crossings>,
    /// The question is open; a background search may decide it.
    pub searching: bool,
}

/// How packing one space ended; bytes, reserved ones included.
pub(in crate::memory) struct Packing {
    pub fit: Fit,
    /// Live at one instant.
    pub bound: u64,
    /// Proved: no placement is lower.
    pub lower_bound: u64,
    /// Of the lowest placement found.
    pub best: u64,
    /// Steps of the exact search.
    pub nodes: u64,
    /// `None` where it fits.
    pub trouble: Option<Trouble>,
    pub relaxed: Vec<StagePair>,
    /// Pairs that the author's pipelines keep apart.
    pub stages: usize,
    pub crossings: Option<Crossings>,
    pub searching: bool,
}

impl Packing {
    pub(in crate::memory) fn of(input: &Input, found: &SpaceResult, reserved: u64) -> Packing {
        let outcome = found.outcome;
        let fit = match outcome.verdict {
            Verdict::Fits { .. } if found.relaxed.is_empty() => Fit::Fits,
            Verdict::Fits { .. } => Fit::Relaxed,
            Verdict::OverCapacity { .. } => Fit::OverAtAnInstant,
            Verdict::Fragmented => Fit::Unpackable,
            Verdict::Undecided => Fit::Undecided,
        };
        let explained = Explained { input, found, names: names(input, found.bases) };
        let trouble = || Some(explained.trouble(outcome.bound.peaks.first()?));
        Packing {
            fit,
            bound: outcome.bound.bytes.saturating_add(reserved),
            lower_bound: outcome.lower_bound,
            best: sizes::aligned(found.best.max(reserved)),
            nodes: outcome.nodes,
            trouble: if matches!(fit, Fit::Fits | Fit::Relaxed) { None } else { trouble() },
            relaxed: found.relaxed.iter().filter_map(|pair| explained.stages(*pair)).collect(),
            stages: found.stages,
            crossings: found.crossings,
            searching: found.searching,
        }
    }
}

struct Explained<'a> {
    input: &'a Input<'a>,
    found: &'a SpaceResult<'a>,
    names: Vec<Named>,
}

/// A buffer, for a reader: by the first of its tiles.
#[derive(Clone)]
struct Named {
    name: String,
    shape: Vec<u64>,
    at: Origin,
}

impl Named {
    fn by(kernel: &Kernel, lifetimes: &Lifetimes, tile: VarId) -> Named {
        let shape = kernel.tile(tile).map_or_else(Vec::new, |tile| tile.shape.clone());
        Named { name: label(kernel, lifetimes, tile), shape, at: kernel.var(tile).origin }
    }

    fn taking(self, bytes: u64) -> Witness {
        let Named { name, shape, at } = self;
        Witness { name, shape, bytes, at }
    }
}

impl Explained<'_> {
    fn trouble(&self, peak: &Peak) -> Trouble {
        let SpaceResult { outcome, problem, .. } = self.found;
        let at = order(peak.plateau.start);
        let mut trouble = Trouble {
            at,
            joined: self.joined(at, peak),
            live: self.witnesses(&peak.live),
            overshoot: match outcome.verdict {
                Verdict::OverCapacity { overshoot } => overshoot,
                _ => 0,
            },
            touching: problem.buffers().iter().any(|buffer| ends_at(&buffer.lifetime, peak.plateau.start)),
            further: Vec::new(),
            and_more: false,
            halve: Vec::new(),
            remove: Vec::new(),
            end_earlier: Vec::new(),
            core: None,
        };
        match outcome.verdict {
            Verdict::OverCapacity { .. } => {
                trouble.further = further(&outcome.bound.peaks);
                trouble.and_more = outcome.bound.peaks.len() > 7;
                self.propose(&mut trouble);
            }
            Verdict::Fragmented => {
                let quick = || explain::irreducible(problem, NODES_TO_EXPLAIN, None);
                let core = self.found.core.clone().or_else(quick);
                trouble.core = core.map(|core| (self.witnesses(&core.buffers), core.irreducible));
            }
            Verdict::Undecided | Verdict::Fits { .. } => {}
        }
        trouble
    }

    /// Removing is proposed only where less does not do.
    fn propose(&self, trouble: &mut Trouble) {
        if self.found.problem.buffers().len() > MOST_EXPLAINED {
            return;
        }
        let fixes = explain::fixes(self.found.problem, &Budget::new(Goal::Fit, 0));
        for fix in &fixes {
            let Some(base) = self.found.bases.get(fix.buffer.index()) else { continue };
            let name = self.witness(fix.buffer).name;
            let halved = || fixes.iter().any(|other| other.buffer == fix.buffer && other.change == Change::Halve);
            match fix.change {
                Change::Halve => trouble.halve.push(name),
                Change::Remove if !halved() => trouble.remove.push(name),
                // The author decides how long a declared allocation lives.
                Change::EndAt(_) if self.input.bases.base(*base).declared.is_none() => trouble.end_earlier.push(name),
                Change::Remove | Change::EndAt(_) => {}
            }
        }
    }

    fn witness(&self, ix: BufferIx) -> Witness {
        self.names[ix.index()].clone().taking(self.found.problem.buffer(ix).size)
    }

    /// Largest first.
    fn witnesses(&self, buffers: &[BufferIx]) -> Vec<Witness> {
        let mut all: Vec<Witness> = buffers.iter().map(|ix| self.witness(*ix)).collect();
        all.sort_by_key(|witness| std::cmp::Reverse(witness.bytes));
        all
    }

    /// The stages of one pipeline that two buffers belong to.
    fn stages(&self, (a, b): (BufferIx, BufferIx)) -> Option<StagePair> {
        let group = |ix: BufferIx| {
            let base = self.found.bases.get(ix.index())?;
            self.input.groups.iter().position(|group| group.base == *base)
        };
        let [a, b] = [group(a)?, group(b)?];
        let Input { kernel, lifetimes, bases, groups, constraints, .. } = *self.input;
        stage_pair(kernel, lifetimes, bases, groups, constraints, (a, b))
    }

    fn joined(&self, at: Order, peak: &Peak) -> Option<Witness> {
        let Input { kernel, bases, lifetimes, .. } = *self.input;
        let of_live =
            |base: BaseId| peak.live.iter().find(|ix| self.found.bases.get(ix.index()) == Some(&base)).copied();
        input::tiles(kernel, bases, lifetimes).filter(|(_, live)| live.def == at).find_map(|(var, _)| {
            let bytes = self.witness(of_live(bases.get(var)?.base)?).bytes;
            Some(Named::by(kernel, lifetimes, var).taking(bytes))
        })
    }
}

/// Two groups that are in different stages of one pipeline.
pub(in crate::memory) fn stage_pair(
    kernel: &Kernel,
    lifetimes: &Lifetimes,
    bases: &Bases,
    groups: &[Group],
    constraints: &Constraints,
    (a, b): (usize, usize),
) -> Option<StagePair> {
    let mut stages = constraints.stages(a).iter().flat_map(|l| constraints.stages(b).iter().map(move |r| (l, r)));
    let (left, right) = stages.find(|(l, r)| l.pipeline == r.pipeline && l.stage != r.stage)?;
    let name = |group: usize| label(kernel, lifetimes, groups[group].first());
    Some(StagePair {
        tiles: [(name(a), left.stage), (name(b), right.stage)],
        at: kernel.var(groups[a].first()).origin,
        space: bases.base(groups[a].base).space,
    })
}

/// What a reader calls each base.
fn names(input: &Input, bases: &[BaseId]) -> Vec<Named> {
    let mut tiles: FxHashMap<BaseId, &Group> = FxHashMap::default();
    // A declared allocation is called as it is declared.
    for is_declared in [true, false] {
        let groups = input.groups.iter().rev().filter(|group| group.declared.is_some() == is_declared);
        tiles.extend(groups.map(|group| (group.base, group)));
    }
    let named = |base: &BaseId| {
        let own = || input.bases.base(*base).name.clone();
        let Some(group) = tiles.get(base) else {
            return Named { name: own(), shape: Vec::new(), at: input.kernel.name_origin };
        };
        let named = Named::by(input.kernel, input.lifetimes, group.first());
        if group.declared.is_some() { Named { name: own(), ..named } } else { named }
    };
    bases.iter().map(named).collect()
}

/// Inverse of [`input::half_open`].
fn order(time: u64) -> Order {
    Order(u32::try_from(time.saturating_sub(1) / 2).unwrap_or(u32::MAX))
}

fn ends_at(lifetime: &Lifetime, time: u64) -> bool {
    lifetime.intervals().any(|interval| interval.end == time)
}

/// The peaks after the first; what goes on at the same height is one peak.
fn further(peaks: &[Peak]) -> Vec<(Order, u64)> {
    let apart = peaks.windows(2).filter_map(|pair| {
        let [before, peak] = pair else { return None };
        let goes_on = before.bytes == peak.bytes && before.plateau.end == peak.plateau.start;
        (!goes_on).then(|| (order(peak.plateau.start), peak.bytes))
    });
    apart.collect()
}

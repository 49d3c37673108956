//! What packing one space has shown, and where it does not fit, what the author can do about it (`docs/packing.md`, "Verdicts").

use rustc_hash::FxHashMap;

use crate::ir::{Kernel, Origin};
use crate::memory::bases::{BaseId, Bases};
use crate::memory::lifetimes::Group;
use crate::memory::packed::{Input, SpaceResult};
use crate::memory::plan::{Crossings, Fit, Order, StagePair, Trouble, Witness};
use crate::memory::reuse::Constraints;
use crate::memory::{packed, sizes};
use tilefit_packing::explain::{self, Change};
use tilefit_packing::{Budget, BufferIx, Goal, Lifetime, Peak, Verdict};

/// More buffers than this get no proposals: each change to one of them is packed anew.
const MOST_EXPLAINED: usize = 64;

/// How packing one space ended; bytes, reserved ones included.
pub(super) struct Packing {
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
    pub(super) fn of(input: &Input, found: &SpaceResult, reserved: u64) -> Packing {
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
    names: Vec<(String, Origin)>,
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
                let quick = || explain::irreducible(problem, packed::NODES_TO_EXPLAIN, None);
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
        let (name, at) = self.names[ix.index()].clone();
        Witness { name, bytes: self.found.problem.buffer(ix).size, at }
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
        stage_pair(self.input.kernel, self.input.bases, self.input.groups, self.input.constraints, (a, b))
    }

    fn joined(&self, at: Order, peak: &Peak) -> Option<Witness> {
        let Input { kernel, bases, lifetimes, .. } = *self.input;
        let of_live =
            |base: BaseId| peak.live.iter().find(|ix| self.found.bases.get(ix.index()) == Some(&base)).copied();
        packed::tiles(kernel, bases, lifetimes).filter(|(_, live)| live.def == at).find_map(|(var, _)| {
            let bytes = self.witness(of_live(bases.get(var)?.base)?).bytes;
            let var = kernel.var(var);
            Some(Witness { name: var.name.clone(), bytes, at: var.origin })
        })
    }
}

/// Two groups that are in different stages of one pipeline.
pub(super) fn stage_pair(
    kernel: &Kernel,
    bases: &Bases,
    groups: &[Group],
    constraints: &Constraints,
    (a, b): (usize, usize),
) -> Option<StagePair> {
    let mut stages = constraints.stages(a).iter().flat_map(|l| constraints.stages(b).iter().map(move |r| (l, r)));
    let (left, right) = stages.find(|(l, r)| l.pipeline == r.pipeline && l.stage != r.stage)?;
    let tile = |group: usize| kernel.var(groups[group].first());
    Some(StagePair {
        tiles: [(tile(a).name.clone(), left.stage), (tile(b).name.clone(), right.stage)],
        at: tile(a).origin,
        space: bases.base(groups[a].base).space,
    })
}

/// What the author calls each base.
fn names(input: &Input, bases: &[BaseId]) -> Vec<(String, Origin)> {
    let first: FxHashMap<BaseId, Origin> =
        input.groups.iter().rev().map(|group| (group.base, input.kernel.var(group.first()).origin)).collect();
    let mut tiles: FxHashMap<BaseId, &str> = FxHashMap::default();
    for group in input.groups.iter().rev().filter(|group| group.declared.is_none()) {
        tiles.insert(group.base, &input.kernel.var(group.first()).name);
    }
    let name = |base: &BaseId| {
        let name = tiles.get(base).copied().unwrap_or(&input.bases.base(*base).name);
        (name.to_owned(), first.get(base).copied().unwrap_or(input.kernel.name_origin))
    };
    bases.iter().map(name).collect()
}

/// Inverse of [`packed::half_open`].
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

//! What packing one space has shown, and where it does not fit, what the author can do about it (`reference/packing.md` §4).

use rustc_hash::FxHashMap;

use crate::ir::Origin;
use crate::memory::bases::BaseId;
use crate::memory::packed::Input;
use crate::memory::packing::explain::{self, Change};
use crate::memory::packing::{Budget, BufferIx, Goal, Lifetime, Outcome, Peak, Problem, Verdict};
use crate::memory::plan::{Fit, Order, Witness};
use crate::memory::{packed, sizes};

/// More buffers than this get no proposals: each change to one of them is packed anew.
const MOST_EXPLAINED: usize = 64;

/// How packing one space ended; bytes, reserved ones included.
pub(super) struct Packing {
    pub fit: Fit,
    /// Live at one instant.
    pub bound: u64,
    /// Proved: no placement is lower.
    pub floor: u64,
    /// Of the lowest placement found.
    pub best: u64,
    /// Steps of the exact search.
    pub nodes: u64,
    /// `None` where it fits.
    pub trouble: Option<Trouble>,
}

/// Why it does not fit.
pub(super) struct Trouble {
    /// The first statement at which most is live.
    pub at: Order,
    /// The tile that is written there.
    pub joined: Option<Witness>,
    /// What is live there, largest first.
    pub live: Vec<Witness>,
    /// Something ends where the peak begins: whether that may share decides.
    pub touching: bool,
    /// Other instants that are over capacity.
    pub further: Vec<(Order, u64)>,
    /// There may be more of them.
    pub and_more: bool,
    /// Changes to one tile with which everything fits.
    pub halve: Vec<String>,
    pub remove: Vec<String>,
    pub end_earlier: Vec<String>,
    /// Tiles that cannot be placed even without the others, and whether any of them could be left out.
    pub core: Option<(Vec<Witness>, bool)>,
}

impl Packing {
    pub(super) fn of(
        input: &Input,
        problem: &Problem,
        bases: &[BaseId],
        outcome: &Outcome,
        reserved: u64,
        nodes: u64,
    ) -> Packing {
        let fit = match outcome.verdict {
            Verdict::Fits { .. } => Fit::Fits,
            Verdict::OverCapacity { .. } => Fit::OverAtAnInstant,
            Verdict::Fragmented => Fit::Unpackable,
            Verdict::Undecided => Fit::Undecided,
        };
        let trouble = || {
            let peak = outcome.bound.peaks.first()?;
            Some(Explained { input, problem, bases, names: names(input, bases) }.trouble(outcome, peak, nodes))
        };
        Packing {
            fit,
            bound: outcome.bound.bytes.saturating_add(reserved),
            floor: outcome.floor,
            best: sizes::aligned(outcome.placement.height.max(reserved)),
            nodes: outcome.nodes,
            trouble: if fit == Fit::Fits { None } else { trouble() },
        }
    }
}

struct Explained<'a> {
    input: &'a Input<'a>,
    problem: &'a Problem,
    bases: &'a [BaseId],
    names: Vec<(String, Origin)>,
}

impl Explained<'_> {
    fn trouble(&self, outcome: &Outcome, peak: &Peak, nodes: u64) -> Trouble {
        let at = order(peak.plateau.start);
        let mut trouble = Trouble {
            at,
            joined: self.joined(at, peak),
            live: self.witnesses(&peak.live),
            touching: self.problem.buffers().iter().any(|buffer| ends_at(&buffer.lifetime, peak.plateau.start)),
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
                let core = explain::irreducible(self.problem, nodes, None);
                trouble.core = core.map(|core| (self.witnesses(&core.buffers), core.irreducible));
            }
            Verdict::Undecided | Verdict::Fits { .. } => {}
        }
        trouble
    }

    /// Removing is proposed only where less does not do.
    fn propose(&self, trouble: &mut Trouble) {
        if self.problem.buffers().len() > MOST_EXPLAINED {
            return;
        }
        let fixes = explain::fixes(self.problem, &Budget::new(Goal::Fit, 0));
        for fix in &fixes {
            let Some(base) = self.bases.get(fix.buffer.index()) else { continue };
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
        Witness { name, bytes: self.problem.buffer(ix).size, at }
    }

    /// Largest first.
    fn witnesses(&self, buffers: &[BufferIx]) -> Vec<Witness> {
        let mut all: Vec<Witness> = buffers.iter().map(|ix| self.witness(*ix)).collect();
        all.sort_by_key(|witness| std::cmp::Reverse(witness.bytes));
        all
    }

    fn joined(&self, at: Order, peak: &Peak) -> Option<Witness> {
        let Input { kernel, bases, lifetimes, .. } = *self.input;
        let of_live = |base: BaseId| peak.live.iter().find(|ix| self.bases.get(ix.index()) == Some(&base)).copied();
        packed::tiles(kernel, bases, lifetimes).filter(|(_, live)| live.def == at).find_map(|(var, _)| {
            let bytes = self.witness(of_live(bases.get(var)?.base)?).bytes;
            let var = kernel.var(var);
            Some(Witness { name: var.name.clone(), bytes, at: var.origin })
        })
    }
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

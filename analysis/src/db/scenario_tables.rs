//! What all scenarios of a kernel come to: each is laid out, the worst first.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use tilefit_gpu::argument_type::ArgumentType;
use tilefit_gpu::assumed::Assumed;
use tilefit_gpu::device::{Arch, Compiler};
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_python::eval::{Constant, OneOf};
use tilefit_python::finding::{Note, Reason};
use tilefit_python::work::within;

use super::possible::Estimate;
use super::scenarios::{is_pruned, scenarios};
use super::{Unit, config};

/// What the scenarios of a kernel come to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ScenarioTable {
    /// Those that do not fit first, the largest of them first.
    pub(crate) rows: Vec<ScenarioRow>,
    /// Scenarios that have no row.
    pub(crate) more: usize,
    /// How many fit, of those of known size that no `static_assert` refuses.
    pub(crate) fits: (usize, usize),
    /// Bytes of shared memory and columns of tensor memory, at least and at most, of those of known size; `None` where nothing bounds them.
    pub(crate) smem: Option<(u64, u64)>,
    pub(crate) tmem: Option<(u64, u64)>,
    /// Element types that these rest on, and nothing says.
    pub(crate) elements: Vec<Assumed>,
    /// How many the compiler refuses.
    pub(crate) refused: usize,
    /// Scenarios that nothing was found out of: there are too many.
    pub(crate) is_cut: bool,
    /// A function of the author's drops some of them before any is compiled.
    pub(crate) pruned: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScenarioRow {
    /// Its place among all scenarios.
    pub(crate) index: usize,
    pub(crate) scenario: Scenario,
    pub(crate) usage: MemoryUsage,
}

/// A kernel's memory under one scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemoryUsage {
    pub(crate) verdict: Verdict,
    /// Bytes, at least and at most; `None` where nothing bounds it.
    pub(crate) smem: (u64, Option<u64>),
    /// Columns, as they are requested.
    pub(crate) tmem: (u64, Option<u64>),
    pub(crate) capacity: (u64, u64),
    /// Element types that it rests on, and nothing says.
    pub(crate) elements: Vec<Assumed>,
    /// Why it is not one number.
    pub(crate) reason: Option<Reason>,
    /// What the compiler refuses of it, and where.
    pub(crate) refusal: Option<Note>,
}

impl MemoryUsage {
    /// On a device. `is_refused`: no compiler takes the kernel.
    pub(super) fn on(arch: Arch, smem: (u64, Option<u64>), tmem: (u64, Option<u64>), is_refused: bool) -> MemoryUsage {
        let capacity = (arch.smem(), arch.tmem());
        let verdict = if is_refused { Verdict::Refused } else { verdict(smem, tmem, capacity) };
        MemoryUsage { verdict, smem, tmem, capacity, elements: Vec::new(), reason: None, refusal: None }
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.smem.1 == Some(self.smem.0) && self.tmem.1 == Some(self.tmem.0)
    }

    /// Whether it is at most something in each memory, or refused.
    pub(super) fn is_bounded(&self) -> bool {
        self.smem.1.is_some() && self.tmem.1.is_some() || self.verdict == Verdict::Refused
    }

    /// What it is where it may be either of two, of which neither is refused.
    pub(super) fn or(self, other: &MemoryUsage) -> MemoryUsage {
        let either = |one: (u64, Option<u64>), other: (u64, Option<u64>)| {
            (one.0.min(other.0), one.1.zip(other.1).map(|(one, other)| one.max(other)))
        };
        let (smem, tmem) = (either(self.smem, other.smem), either(self.tmem, other.tmem));
        let depends = (smem, tmem) != (self.smem, self.tmem) || (smem, tmem) != (other.smem, other.tmem);
        let reason = depends.then(|| Reason::new("it depends on what is given for what the file leaves open"));
        let both = [self.verdict, other.verdict];
        let verdict = match verdict(smem, tmem, self.capacity) {
            Verdict::Unknown if both.iter().any(|it| matches!(it, Verdict::Fits | Verdict::Depends)) => {
                if both[0] == both[1] { both[0] } else { Verdict::Depends }
            }
            verdict => verdict,
        };
        let reason = reason.or(self.reason).or(other.reason.clone());
        let elements = distinct([&self.elements, &other.elements]);
        MemoryUsage { verdict, smem, tmem, capacity: self.capacity, elements, reason, refusal: None }
    }
}

/// Assumptions, each once.
pub(super) fn distinct<'a>(all: impl IntoIterator<Item = &'a Vec<Assumed>>) -> Vec<Assumed> {
    let mut found: Vec<Assumed> = Vec::new();
    for assumed in all.into_iter().flatten() {
        if !found.contains(assumed) {
            found.push(assumed.clone());
        }
    }
    found
}

fn verdict(smem: (u64, Option<u64>), tmem: (u64, Option<u64>), (bytes, columns): (u64, u64)) -> Verdict {
    match (smem.1, tmem.1) {
        _ if smem.0 > bytes || tmem.0 > columns => Verdict::Exceeds,
        (Some(smem), Some(tmem)) if smem <= bytes && tmem <= columns => Verdict::Fits,
        _ => Verdict::Unknown,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Fits,
    Exceeds,
    /// A `static_assert` is not satisfied, or the compiler refuses it for something else.
    Refused,
    /// It fits with some of what may be given for what the file leaves open; with the rest it does not, or that is not known.
    Depends,
    /// Sizes are missing.
    Unknown,
}

impl Verdict {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Verdict::Fits => "fits",
            Verdict::Exceeds => "exceeds",
            Verdict::Refused => "refused",
            Verdict::Depends => "depends",
            Verdict::Unknown => "unknown",
        }
    }
}

/// A survey may take this many times the steps of one kernel.
pub(super) const SURVEYED_FOR_ONE: u64 = 4;
/// Scenarios that a table has rows for. All are counted.
const MOST_ROWS: usize = 64;

/// A row for each scenario. `usage` gives the memory of one; nothing where there is no kernel. `relevant`: the parameters on
/// which memory may depend; `None`: any of them.
pub(super) fn survey<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    selected: usize,
    relevant: Option<&BTreeSet<String>>,
    usage: &dyn Fn(&Scenario) -> Option<Estimate>,
) -> Option<ScenarioTable> {
    let scenarios = scenarios(db, unit);
    let usage = usage_of_each(db, scenarios, relevant, usage);
    if usage.is_empty() {
        return None;
    }
    let rows = scenarios.iter().zip(usage).enumerate();
    let row = |(index, (scenario, estimate)): (usize, (&Scenario, Estimate))| ScenarioRow {
        index,
        scenario: scenario.clone(),
        usage: estimate.usage,
    };
    let mut rows: Vec<ScenarioRow> = rows.map(row).collect();
    let count = |verdict| rows.iter().filter(|row| row.usage.verdict == verdict).count();
    let fits = count(Verdict::Fits);
    let fits = (fits, fits + count(Verdict::Exceeds));
    let known = || rows.iter().filter(|row| matches!(row.usage.verdict, Verdict::Fits | Verdict::Exceeds));
    let all = |of: fn(&MemoryUsage) -> (u64, Option<u64>)| {
        let each = known().map(|row| of(&row.usage)).map(|(low, high)| Some((low, high?)));
        each.reduce(|one, other| one.zip(other).map(|(one, other)| (one.0.min(other.0), one.1.max(other.1)))).flatten()
    };
    let (smem, tmem) = (all(|it| it.smem), all(|it| it.tmem));
    let elements = distinct(known().map(|row| &row.usage.elements));
    let refused = count(Verdict::Refused);
    let is_cut = scenarios.len() >= scenario::MOST_SCENARIOS || rows.len() < scenarios.len();
    rows.sort_by_key(|row| match row.usage.verdict {
        Verdict::Exceeds => (false, std::cmp::Reverse((row.usage.tmem.0, row.usage.smem.0))),
        _ => (true, std::cmp::Reverse((0, 0))),
    });
    // The one in force has a row, however many do not fit.
    if let Some(at) = rows.iter().skip(MOST_ROWS).position(|row| row.index == selected) {
        rows.swap(MOST_ROWS - 1, MOST_ROWS + at);
    }
    rows.truncate(MOST_ROWS);
    let more = scenarios.len() - rows.len();
    Some(ScenarioTable { rows, more, fits, smem, tmem, elements, refused, is_cut, pruned: is_pruned(db, unit) })
}

/// The memory of a kernel under each scenario, until the budget is spent; empty if there is no kernel.
pub(super) fn usage_of_each(
    db: &dyn salsa::Database,
    scenarios: &[Scenario],
    relevant: Option<&BTreeSet<String>>,
    usage: &dyn Fn(&Scenario) -> Option<Estimate>,
) -> Vec<Estimate> {
    let mut found: Vec<Estimate> = Vec::new();
    // Scenarios that differ in nothing that memory depends on come to the same.
    let mut known: FxHashMap<u64, Vec<(Footing<'_>, Estimate)>> = FxHashMap::default();
    // What was found out before the budget is used up counts.
    let _ = within(config(db).limits, || {
        for scenario in scenarios {
            let footing = Footing::of(scenario, relevant);
            let alike = known.entry(footing.sketch()).or_default();
            let result = match alike.iter().find(|(other, _)| *other == footing) {
                Some((_, result)) => result.under(scenario, relevant),
                None => {
                    let Some(result) = usage(scenario) else { return };
                    alike.push((footing, result.clone()));
                    result
                }
            };
            found.push(result);
        }
    });
    found
}

/// What memory depends on of a scenario.
#[derive(PartialEq)]
struct Footing<'a> {
    values: Vec<Option<&'a Constant>>,
    arguments: &'a BTreeMap<String, (ArgumentType, String)>,
    arch: Option<Arch>,
    compiler: Option<Compiler>,
    options: [Option<u32>; 3],
    divisible: Option<&'a BTreeSet<String>>,
    possible: &'a BTreeMap<String, Option<OneOf>>,
}

impl<'a> Footing<'a> {
    /// The same for those that are equal, and for few others.
    fn sketch(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.options.hash(&mut hasher);
        for value in self.values.iter().flatten() {
            match value {
                Constant::Int(number) => number.hash(&mut hasher),
                Constant::Bool(truth) => truth.hash(&mut hasher),
                Constant::Str(text) => text.hash(&mut hasher),
                _ => {}
            }
        }
        hasher.finish()
    }

    fn of(scenario: &'a Scenario, relevant: Option<&BTreeSet<String>>) -> Footing<'a> {
        let values = match relevant {
            Some(names) => names.iter().map(|name| scenario.values.get(name).map(|(value, _)| value)).collect(),
            None => scenario.values.values().map(|(value, _)| Some(value)).collect(),
        };
        let Scenario { arch, compiler, num_warps, num_ctas, num_stages, .. } = *scenario;
        let (options, divisible) = ([num_warps, num_ctas, num_stages], scenario.divisible.as_ref());
        let (arguments, possible) = (&scenario.arguments, &scenario.possible);
        Footing { values, arguments, arch, compiler, options, divisible, possible }
    }
}

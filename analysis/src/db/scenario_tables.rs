//! What all scenarios of a kernel come to: each is laid out, the worst first.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use tilefit_gpu::argument_type::ArgumentType;
use tilefit_gpu::assumed::Assumed;
use tilefit_gpu::device::{Arch, Compiler};
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_python::eval::{Constant, OneOf};
use tilefit_python::work::within;

use super::memory_usage::{Estimate, MemoryUsage, Taken, Verdict, distinct};
use super::possible::{Surveying, estimate_in_force};
use super::scenarios::{is_pruned, scenarios};
use super::triton::{relevant_params, triton_kernel};
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
    /// What those of known size take of each memory, at least and at most; nothing is known where nothing bounds one of them.
    pub(crate) memories: Vec<Taken>,
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
    let all = |space| {
        let each = known().map(|row| row.usage.amount(space)).map(|(low, high)| Some((low, high?)));
        each.reduce(|one, other| one.zip(other).map(|(one, other)| (one.0.min(other.0), one.1.max(other.1)))).flatten()
    };
    let total = |taken: &Taken| {
        let amount = all(taken.space).map_or((0, None), |(low, high)| (low, Some(high)));
        Taken { amount, ..*taken }
    };
    let memories = known().next().map_or_else(Vec::new, |row| row.usage.memories.iter().map(total).collect());
    let elements = distinct(known().map(|row| &row.usage.elements));
    let refused = count(Verdict::Refused);
    let is_cut = scenarios.len() >= scenario::MOST_SCENARIOS || rows.len() < scenarios.len();
    rows.sort_by_key(|row| match row.usage.verdict {
        Verdict::Exceeds => (false, std::cmp::Reverse(least_of_each(&row.usage))),
        _ => (true, std::cmp::Reverse(Vec::new())),
    });
    // The one in force has a row, however many do not fit.
    if let Some(at) = rows.iter().skip(MOST_ROWS).position(|row| row.index == selected) {
        rows.swap(MOST_ROWS - 1, MOST_ROWS + at);
    }
    rows.truncate(MOST_ROWS);
    let more = scenarios.len() - rows.len();
    Some(ScenarioTable { rows, more, fits, memories, elements, refused, is_cut, pruned: is_pruned(db, unit) })
}

/// Of the device's last memory first, which has the least room.
fn least_of_each(usage: &MemoryUsage) -> Vec<u64> {
    usage.memories.iter().rev().map(|taken| taken.amount.0).collect()
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

/// Nothing where there are fewer than two scenarios.
#[salsa::tracked(returns(ref))]
pub(crate) fn triton_scenario_table<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<ScenarioTable> {
    let kernel = triton_kernel(db, unit).as_ref().filter(|kernel| kernel.scenarios > 1)?;
    let relevant = relevant_params(db, unit, kernel.dialect);
    let surveying = Surveying::new(db, unit, kernel.dialect);
    survey(db, unit, kernel.selected, relevant.as_ref(), &|scenario| surveying.estimate(scenario))
}

/// What nothing says of a kernel and any of its numbers rests on: those of the plan, and of the tables of what else there is.
#[salsa::tracked(returns(ref))]
pub(crate) fn triton_assumed<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Vec<Assumed> {
    let Some(kernel) = triton_kernel(db, unit) else { return Vec::new() };
    let table = triton_scenario_table(db, unit).as_ref().filter(|table| table.fits.1 > 0);
    // What is possible is spoken of where no configuration is known.
    let possible = if table.is_none() { estimate_in_force(db, unit).as_ref() } else { None };
    let of_table = table.map(|table| &table.elements);
    let of_possible = possible.map(|estimate| &estimate.usage.elements);
    distinct([&kernel.traced.assumed].into_iter().chain(of_table).chain(of_possible))
}

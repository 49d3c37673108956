//! What all scenarios of a kernel come to: each is laid out, the worst first.

use std::collections::{BTreeMap, BTreeSet};

use crate::eval::Constant;
use crate::triton::device::{Arch, Compiler};
use crate::triton::scenario::{self, ArgumentType, Scenario};
use crate::work::within;

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
    pub(crate) verdict: Verdict,
    /// Bytes, at least.
    pub(crate) smem: u64,
    /// Columns, as they are requested, at least.
    pub(crate) tmem: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Fits,
    Exceeds,
    /// A `static_assert` is not satisfied.
    Refused,
    /// Sizes are missing.
    Unknown,
}

/// A survey may take this many times the steps of one kernel.
pub(super) const SURVEYED_FOR_ONE: u64 = 4;
/// Scenarios that a table has rows for. All are counted.
const MOST_ROWS: usize = 64;

/// A verdict, bytes and columns.
type CameTo<'a> = &'a dyn Fn(&Scenario) -> Option<(Verdict, u64, u64)>;

/// A row for each scenario. `came_to` says what one comes to: bytes and columns; nothing where there is no kernel. `relevant`: the parameters on
/// which memory may depend; `None`: any of them.
pub(super) fn survey<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    selected: usize,
    relevant: Option<&BTreeSet<String>>,
    came_to: CameTo<'_>,
) -> Option<ScenarioTable> {
    let scenarios = scenarios(db, unit);
    let mut rows: Vec<ScenarioRow> = Vec::new();
    // Scenarios that differ in nothing that memory depends on come to the same.
    let mut known: Vec<(Footing<'_>, (Verdict, u64, u64))> = Vec::new();
    // One budget for all of them: a table is shown for one kernel. What was found out before it is used up counts.
    let surveyed = within(config(db).limits, || {
        for (index, scenario) in scenarios.iter().enumerate() {
            let footing = Footing::of(scenario, relevant);
            let result = match known.iter().find(|(other, _)| *other == footing) {
                Some((_, result)) => *result,
                None => {
                    let result = came_to(scenario)?;
                    known.push((footing, result));
                    result
                }
            };
            let (verdict, smem, tmem) = result;
            rows.push(ScenarioRow { index, scenario: scenario.clone(), verdict, smem, tmem });
        }
        Some(())
    });
    if matches!(surveyed, Ok(None)) || rows.is_empty() {
        return None;
    }
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let fits = count(Verdict::Fits);
    let fits = (fits, fits + count(Verdict::Exceeds));
    let is_cut = scenarios.len() >= scenario::MOST_SCENARIOS || rows.len() < scenarios.len();
    rows.sort_by_key(|row| match row.verdict {
        Verdict::Exceeds => (false, std::cmp::Reverse((row.tmem, row.smem))),
        _ => (true, std::cmp::Reverse((0, 0))),
    });
    // The one in force has a row, however many do not fit.
    if let Some(at) = rows.iter().skip(MOST_ROWS).position(|row| row.index == selected) {
        rows.swap(MOST_ROWS - 1, MOST_ROWS + at);
    }
    rows.truncate(MOST_ROWS);
    let more = scenarios.len() - rows.len();
    Some(ScenarioTable { rows, more, fits, is_cut, pruned: is_pruned(db, unit) })
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
}

impl<'a> Footing<'a> {
    fn of(scenario: &'a Scenario, relevant: Option<&BTreeSet<String>>) -> Footing<'a> {
        let values = match relevant {
            Some(names) => names.iter().map(|name| scenario.values.get(name).map(|(value, _)| value)).collect(),
            None => scenario.values.values().map(|(value, _)| Some(value)).collect(),
        };
        let Scenario { arch, compiler, num_warps, num_ctas, num_stages, .. } = *scenario;
        let (options, divisible) = ([num_warps, num_ctas, num_stages], scenario.divisible.as_ref());
        Footing { values, arguments: &scenario.arguments, arch, compiler, options, divisible }
    }
}

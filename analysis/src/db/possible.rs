//! A kernel's memory whatever is given for what the file leaves open: each possible value is tried, where they are few.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

use tilefit_gpu::possible::{Range, ranges};
use tilefit_gpu::scenario::{OPTIONS, Scenario};
use tilefit_gpu::trace::Dialect;
use tilefit_python::eval::Constant;
use tilefit_python::finding::{Example, Reason};
use tilefit_python::work::Limits;

use super::gpu::TracedKernel;
use super::memory_usage::{Estimate, MemoryUsage, Verdict};
use super::reexports::imports;
use super::scenarios::scenarios;
use super::scope::UnitScope;
use super::triton::{Elements, elements_of, laid_out, laid_out_within, triton_kernel, usage};
use super::{Unit, config, syntax};

/// Steps that the ways of all scenarios of a kernel may take together, on one device: about a twentieth of a second.
pub(super) const STEPS: u64 = 600_000;

/// Of where a value is from that is tried.
const POSSIBLE: &str = "what is possible";

/// The kernel's memory under the scenario in force, where that leaves something open.
#[salsa::tracked(returns(ref))]
pub(crate) fn estimate_in_force<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arc<Estimate>> {
    let kernel = triton_kernel(db, unit).as_ref()?;
    let scenario = scenarios(db, unit).get(kernel.selected).cloned().unwrap_or_default();
    // What is too large for one is too large for all.
    if is_settled(&kernel.traced, &scenario) || !kernel.traced.is_planned {
        return None;
    }
    let left = Cell::new(STEPS);
    estimate(db, unit, kernel.dialect, &scenario, &left).map(Arc::new)
}

/// `left`: the steps that may be taken still.
pub(super) fn estimate<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    dialect: Dialect,
    scenario: &Scenario,
    left: &Cell<u64>,
) -> Option<Estimate> {
    let usual = triton_kernel(db, unit).as_ref().map(|kernel| elements_of(&kernel.traced)).unwrap_or_default();
    let traced = laid_out(db, unit, dialect, scenario, &usual)?;
    let at_once = usage(&traced);
    if is_settled(&traced, scenario) || at_once.verdict == Verdict::Refused || !traced.is_planned {
        return Some(at_once.into());
    }
    let ranges = ranges(syntax(db, unit), imports(db, unit.file(db)), &UnitScope::new(db, unit));
    let mut estimating = Estimating { db, unit, dialect, ranges, left, usual, ways: Vec::new(), refused: None };
    if let Err(reason) = estimating.split(scenario, Some(traced)) {
        let open = at_once.smem.1.is_none() || scenario.possible.keys().any(|name| OPTIONS.contains(&name.as_str()));
        let bytes = if open { (0, None) } else { at_once.smem };
        // What names the values that are missing says more than how many there may be.
        let says_more = |known: &Reason| !open || known.remedy().is_some();
        let reason = at_once.reason.filter(says_more).unwrap_or(reason);
        return Some(MemoryUsage { smem: bytes, verdict: Verdict::Unknown, reason: Some(reason), ..at_once }.into());
    }
    let Estimating { ways, refused, .. } = estimating;
    let Some(all) = ways.iter().map(|(_, usage)| usage.clone()).reduce(|one, other| one.or(&other)) else {
        // What is refused for elements that are only assumed may be taken for others.
        return refused.filter(|refused| refused.elements.is_empty()).or(Some(at_once)).map(Estimate::from);
    };
    Some(Estimate { usage: all, ways: if ways.len() > 1 { ways } else { Vec::new() } })
}

/// Whether nothing that is open changes the kernel's memory.
fn is_settled(traced: &TracedKernel, scenario: &Scenario) -> bool {
    let plan = &traced.planned.plan;
    let has_bounds = plan.shared.high.is_some() && plan.tensor.high.is_some();
    let leaves_options = OPTIONS.iter().any(|option| scenario.possible.contains_key(*option));
    has_bounds && traced.undecided.is_empty() && !leaves_options
}

/// The kernel under a scenario that is tried with others: it may take what they leave of the steps of all.
pub(super) fn tried<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    dialect: Dialect,
    scenario: &Scenario,
    left: &Cell<u64>,
    usual: &Elements,
) -> Result<TracedKernel, &'static str> {
    let limits = config(db).limits;
    let steps = limits.steps.min(left.get());
    let limits = Limits { steps, ..limits };
    // An extent that the compiler refuses for the usual elements is none of those that are possible.
    let traced = laid_out_within(db, unit, dialect, scenario, limits, usual).ok_or("there is no kernel")?;
    // One that is too large by itself has come to that.
    if !traced.is_planned && steps < config(db).limits.steps {
        return Err(TOO_MANY);
    }
    take(left, &traced)?;
    Ok(traced)
}

fn take(left: &Cell<u64>, traced: &TracedKernel) -> Result<(), &'static str> {
    left.set(left.get().checked_sub(traced.steps.max(1)).ok_or(TOO_MANY)?);
    Ok(())
}

struct Estimating<'a, 'db> {
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    dialect: Dialect,
    ranges: BTreeMap<String, Range>,
    left: &'a Cell<u64>,
    /// What was assumed so far.
    usual: Elements,
    ways: Vec<(Scenario, MemoryUsage)>,
    /// A way that the compiler refuses.
    refused: Option<MemoryUsage>,
}

impl Estimating<'_, '_> {
    /// Goes through the ways to give what a scenario leaves open, as far as the kernel asks for it. `Err`: there are too many.
    fn split(&mut self, scenario: &Scenario, traced: Option<TracedKernel>) -> Result<(), Reason> {
        if let Some(option) = OPTIONS.iter().find(|option| scenario.possible.contains_key(**option)) {
            return self.each(scenario, self.option_values(scenario, option)?);
        }
        let traced = match traced {
            Some(traced) => {
                take(self.left, &traced)?;
                traced
            }
            None => tried(self.db, self.unit, self.dialect, scenario, self.left, &self.usual)?,
        };
        self.usual.extend(elements_of(&traced));
        let usage = usage(&traced);
        if usage.verdict == Verdict::Refused {
            self.refused = Some(usage);
            return Ok(());
        }
        let asked = asked_for(&traced);
        let next = asked.iter().find_map(|name| self.values(scenario, name, &traced));
        match next {
            // What does not bound the plan is not looked at.
            Some(values) if !is_settled(&traced, scenario) => self.each(scenario, values),
            _ if traced.planned.plan.shared.high.is_some() && traced.planned.plan.tensor.high.is_some() => {
                self.ways.push((scenario.clone(), usage));
                Ok(())
            }
            _ => Err(usage.reason.unwrap_or_else(|| Reason::new("its sizes are not known"))),
        }
    }

    fn each(&mut self, scenario: &Scenario, values: Vec<Vec<(String, Constant)>>) -> Result<(), Reason> {
        values.into_iter().try_for_each(|given| {
            let with =
                |scenario: Scenario, (name, value): &(String, Constant)| scenario.where_it_is(name, value, POSSIBLE);
            self.split(&given.iter().fold(scenario.clone(), with), None)
        })
    }

    fn option_values(&self, scenario: &Scenario, option: &str) -> Result<Vec<Vec<(String, Constant)>>, Reason> {
        match self.left_by_the_host(scenario, option) {
            Some(values) => Ok(values),
            None if option == "num_warps" => Ok(each_of(option, &Range::Warps)),
            None => Err(Reason::new(format!("the launch computes `{option}`"))),
        }
    }

    /// What may be given for a parameter; `None` where that may be anything.
    fn values(&self, scenario: &Scenario, name: &str, traced: &TracedKernel) -> Option<Vec<Vec<(String, Constant)>>> {
        if let Some(values) = self.left_by_the_host(scenario, name) {
            return Some(values);
        }
        match self.ranges.get(name) {
            Some(range) => Some(each_of(name, range)),
            None => Some(each_of(name, &of_elements(*traced.untyped.get(name)?)?)),
        }
    }

    /// The few values that host code leaves for a parameter or an option, each with what is decided along with it.
    fn left_by_the_host(&self, scenario: &Scenario, name: &str) -> Option<Vec<Vec<(String, Constant)>>> {
        let choice = scenario.possible.get(name)?.as_ref()?;
        let together: Vec<_> = scenario
            .possible
            .iter()
            .filter_map(|(other, it)| Some((other, it.as_ref()?)))
            .filter(|(other, it)| *other == name || it.by.is_some() && it.by == choice.by)
            .collect();
        let mut found: Vec<Vec<(String, Constant)>> = Vec::new();
        for case in choice.distinct_cases() {
            let mut ways: Vec<Vec<(String, Constant)>> = vec![Vec::new()];
            for (name, it) in &together {
                let longer = |way: &Vec<(String, Constant)>, value: &Constant| {
                    way.iter().cloned().chain([((*name).clone(), value.clone())]).collect()
                };
                ways = ways.iter().flat_map(|way| it.within(case).map(|value| longer(way, value))).collect();
            }
            let holds = |(name, value): &(String, Constant)| self.ranges.get(name).is_none_or(|it| it.holds(value));
            for given in ways {
                if given.iter().all(holds) && !found.contains(&given) {
                    found.push(given);
                }
            }
        }
        Some(found)
    }
}

const TOO_MANY: &str = "too many values are possible; a comment `# tilefit: NAME=value` selects one";

/// The types that a pointer may lead to, of which each is tried.
pub(super) fn of_elements(example: Example) -> Option<Range> {
    match example {
        Example::Elements => Some(Range::Element),
        Example::Indices => Some(Range::Index),
        _ => None,
    }
}

fn each_of(name: &str, range: &Range) -> Vec<Vec<(String, Constant)>> {
    range.values().into_iter().map(|value| vec![(name.to_owned(), value)]).collect()
}

/// The parameters that a plan lacks: those that decide what the kernel is made of, then those that sizes depend on.
fn asked_for(traced: &TracedKernel) -> Vec<String> {
    let sizes = super::triton::asked_for(traced).into_iter().map(|(name, _)| name);
    let mut found: Vec<String> = Vec::new();
    // Types are asked for last: most kernels take no more memory for one than for another.
    for name in traced.undecided.iter().cloned().chain(sizes).chain(traced.untyped.keys().cloned()) {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

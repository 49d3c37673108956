//! A kernel's memory whatever is given for what the file leaves open: each possible value is tried, where they are few, and else some of them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
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

/// The part of them that is kept for a few ways, where there are too many to try each.
const KEPT: u64 = 3;

/// How many values of each thing are tried where there are too many ways.
const MOST_OF_EACH: usize = 3;

/// One way may take so many times as many steps as others.
const OFF_BY: u64 = 2;

/// Of where a value is from that is tried.
pub(crate) const POSSIBLE: &str = "what is possible";

/// The kernel's memory under the scenario in force, where that leaves something open.
#[salsa::tracked(returns(ref))]
pub(crate) fn estimate_in_force<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Arc<Estimate>> {
    let kernel = triton_kernel(db, unit).as_ref()?;
    let scenario = scenarios(db, unit).get(kernel.selected).cloned().unwrap_or_default();
    // What is too large for one is too large for all.
    if is_settled(&kernel.traced, &scenario) || !kernel.traced.is_planned {
        return None;
    }
    Surveying::new(db, unit, kernel.dialect).estimate(&scenario).map(Arc::new)
}

/// As [`estimate`] of several scenarios of a kernel, with some of the ways of each where there are too many to try all.
pub(super) struct Surveying<'db> {
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    dialect: Dialect,
    /// The steps that may be taken still.
    left: Cell<u64>,
    /// What the scenarios so far assumed.
    usual: RefCell<Elements>,
    /// A scenario with too many ways, and how many of each value were tried of it.
    has_too_many: RefCell<Option<(Scenario, usize)>>,
}

impl<'db> Surveying<'db> {
    pub(super) fn new(db: &'db dyn salsa::Database, unit: Unit<'db>, dialect: Dialect) -> Self {
        let (left, usual, has_too_many) = (Cell::new(STEPS), RefCell::default(), RefCell::default());
        Surveying { db, unit, dialect, left, usual, has_too_many }
    }

    /// On another device all of them are gone through anew.
    pub(super) fn starts_again(&self) {
        self.left.set(STEPS);
        self.has_too_many.take();
    }

    pub(super) fn estimate(&self, scenario: &Scenario) -> Option<Estimate> {
        let left = &self.left;
        let mut estimating = Estimating::new(self.db, self.unit, self.dialect, left);
        estimating.usual.extend(self.usual.take());
        // As many ways as one that leaves as much open.
        let is_open_alike =
            |other: &Scenario| other.possible == scenario.possible && other.values.keys().eq(scenario.values.keys());
        let most = self.has_too_many.borrow().as_ref().filter(|(other, _)| is_open_alike(other)).map(|(_, most)| *most);
        let kept = left.get() / KEPT;
        left.set(left.get() - kept);
        estimating.budget = if most.is_some() { 0 } else { left.get() };
        let all = estimating.all(scenario);
        left.set(left.get() + kept);
        let all = all?;
        let ways = if all.has_more && self.dialect == Dialect::Triton {
            let (ways, most) = estimating.some_ways(scenario, most.unwrap_or(MOST_OF_EACH));
            self.has_too_many.replace(Some((scenario.clone(), most)));
            ways
        } else {
            all.ways
        };
        self.usual.replace(std::mem::take(&mut estimating.usual));
        Some(Estimate { ways, ..all })
    }
}

/// `left`: the steps that may be taken still.
pub(super) fn estimate<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    dialect: Dialect,
    scenario: &Scenario,
    left: &Cell<u64>,
) -> Option<Estimate> {
    Estimating::new(db, unit, dialect, left).all(scenario)
}

/// What is assumed under the scenario in force.
fn assumed_elements<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Elements {
    triton_kernel(db, unit).as_ref().map(|kernel| elements_of(&kernel.traced)).unwrap_or_default()
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
    /// How many of the values that are usual are tried of each; `None`: all that are possible.
    most: Option<usize>,
    left: &'a Cell<u64>,
    /// The steps that all ways may take.
    budget: u64,
    /// What was assumed so far.
    usual: Elements,
    /// What was tried so far.
    seen: Vec<(Scenario, Rc<TracedKernel>)>,
    ways: Vec<(Scenario, MemoryUsage)>,
    /// A way that the compiler refuses.
    refused: Option<MemoryUsage>,
}

impl<'a, 'db> Estimating<'a, 'db> {
    fn new(db: &'db dyn salsa::Database, unit: Unit<'db>, dialect: Dialect, left: &'a Cell<u64>) -> Self {
        let usual = assumed_elements(db, unit);
        let ranges = ranges(syntax(db, unit), imports(db, unit.file(db)), &UnitScope::new(db, unit));
        let budget = left.get();
        let (seen, ways) = (Vec::new(), Vec::new());
        Estimating { db, unit, dialect, ranges, most: None, left, budget, usual, seen, ways, refused: None }
    }

    /// Each of the ways to give what a scenario leaves open.
    fn all(&mut self, scenario: &Scenario) -> Option<Estimate> {
        let traced = laid_out(self.db, self.unit, self.dialect, scenario, &self.usual)?;
        let at_once = usage(&traced);
        if is_settled(&traced, scenario) || at_once.verdict == Verdict::Refused || !traced.is_planned {
            return Some(at_once.into());
        }
        if let Err(reason) = self.split(scenario, Some(traced), 1) {
            let open =
                at_once.smem.1.is_none() || scenario.possible.keys().any(|name| OPTIONS.contains(&name.as_str()));
            let bytes = if open { (0, None) } else { at_once.smem };
            // What names the values that are missing says more than how many there may be.
            let says_more = |known: &Reason| !open || known.remedy().is_some();
            let reason = at_once.reason.filter(says_more).unwrap_or(reason);
            let usage = MemoryUsage { smem: bytes, verdict: Verdict::Unknown, reason: Some(reason), ..at_once };
            return Some(Estimate { usage, ways: Vec::new(), has_more: true });
        }
        let (ways, refused) = (std::mem::take(&mut self.ways), self.refused.take());
        let Some(all) = ways.iter().map(|(_, usage)| usage.clone()).reduce(|one, other| one.or(&other)) else {
            // What is refused for elements that are only assumed may be taken for others.
            return refused.filter(|refused| refused.elements.is_empty()).or(Some(at_once)).map(Estimate::from);
        };
        Some(Estimate { usage: all, ways: if ways.len() > 1 { ways } else { Vec::new() }, has_more: false })
    }

    /// Some of the ways to give what a scenario leaves open, where there are too many; and how many of each value those have, which are at most so many.
    fn some_ways(&mut self, scenario: &Scenario, most: usize) -> (Vec<(Scenario, MemoryUsage)>, usize) {
        let mut kept = self.left.get();
        let mut begun: Vec<(Scenario, MemoryUsage)> = Vec::new();
        let mut tried = 0;
        self.ways.clear();
        // With the least of each, if nothing else is possible.
        for most in (0..=most).rev() {
            let part = if most == 0 { 1 } else { 2 };
            tried = most;
            begun = if self.ways.len() > begun.len() { std::mem::take(&mut self.ways) } else { begun };
            self.ways.clear();
            self.most = Some(most);
            self.budget = kept / part;
            self.left.set(self.budget);
            let ended = self.split(scenario, None, 1);
            kept -= self.budget - self.left.get();
            if ended.is_ok() && !self.ways.is_empty() {
                break;
            }
        }
        self.left.set(kept);
        // Some of those that there was no time to go through.
        let ways = if self.ways.is_empty() { begun } else { std::mem::take(&mut self.ways) };
        (ways, tried)
    }

    /// Goes through the ways to give what a scenario leaves open, as far as the kernel asks for it. `like`: how many others there are that this one
    /// is tried with, and itself. `Err`: there are too many.
    fn split(&mut self, scenario: &Scenario, traced: Option<TracedKernel>, like: u64) -> Result<(), Reason> {
        if let Some(option) = OPTIONS.iter().find(|option| scenario.possible.contains_key(**option)) {
            return self.each(scenario, self.option_values(scenario, option)?, like);
        }
        let traced = match traced {
            Some(traced) => {
                take(self.left, &traced)?;
                Rc::new(traced)
            }
            None => self.tried(scenario)?,
        };
        // All of them will not be done in time, so time is kept for fewer.
        if like.saturating_mul(traced.steps) / OFF_BY > self.budget {
            return Err(TOO_MANY.into());
        }
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
            Some(values) if !is_settled(&traced, scenario) => self.each(scenario, values, like),
            _ if traced.planned.plan.shared.high.is_some() && traced.planned.plan.tensor.high.is_some() => {
                self.ways.push((scenario.clone(), usage));
                Ok(())
            }
            // Of some ways only those are shown that are known.
            _ if self.most.is_some() => Ok(()),
            _ => Err(usage.reason.unwrap_or_else(|| Reason::new("its sizes are not known"))),
        }
    }

    fn tried(&mut self, scenario: &Scenario) -> Result<Rc<TracedKernel>, Reason> {
        if let Some((_, traced)) = self.seen.iter().find(|(it, _)| it == scenario) {
            return Ok(Rc::clone(traced));
        }
        let traced = Rc::new(tried(self.db, self.unit, self.dialect, scenario, self.left, &self.usual)?);
        self.seen.push((scenario.clone(), Rc::clone(&traced)));
        Ok(traced)
    }

    fn each(&mut self, scenario: &Scenario, values: Vec<Vec<(String, Constant)>>, like: u64) -> Result<(), Reason> {
        let values = match self.most {
            Some(most) => thinned(values, most),
            None => values,
        };
        let like = like.saturating_mul(values.len() as u64);
        values.into_iter().try_for_each(|given| {
            let with =
                |scenario: Scenario, (name, value): &(String, Constant)| scenario.where_it_is(name, value, POSSIBLE);
            self.split(&given.iter().fold(scenario.clone(), with), None, like)
        })
    }

    fn option_values(&self, scenario: &Scenario, option: &str) -> Result<Vec<Vec<(String, Constant)>>, Reason> {
        match self.left_by_the_host(scenario, option) {
            Some(values) => Ok(values),
            None if option == "num_warps" => Ok(self.each_of(option, &Range::Warps)),
            None if self.most.is_some() => Ok(numbers(option, &USUAL_STAGES)),
            None => Err(Reason::new(format!("the launch computes `{option}`"))),
        }
    }

    /// What may be given for a parameter; `None` where that may be anything.
    fn values(&self, scenario: &Scenario, name: &str, traced: &TracedKernel) -> Option<Vec<Vec<(String, Constant)>>> {
        if let Some(values) = self.left_by_the_host(scenario, name) {
            return Some(if self.most.is_some() { usual_extents(name, values) } else { values });
        }
        if let Some(range) = self.ranges.get(name) {
            return Some(self.each_of(name, range));
        }
        if let Some(range) = traced.untyped.get(name).and_then(|example| of_elements(*example)) {
            return Some(self.each_of(name, &range));
        }
        let is_number = |(asked, example): &(String, Example)| asked == name && *example == Example::Number;
        let is_tried = self.most.is_some() && super::triton::asked_for(traced).iter().any(is_number);
        is_tried.then(|| numbers(name, &USUAL_NUMBERS))
    }

    fn each_of(&self, name: &str, range: &Range) -> Vec<Vec<(String, Constant)>> {
        let values = if self.most.is_some() { range.usual() } else { range.values() };
        values.into_iter().map(|value| vec![(name.to_owned(), value)]).collect()
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

/// Numbers of which nothing says how large they are.
const USUAL_NUMBERS: [i64; 3] = [8, 64, 128];
const USUAL_STAGES: [i64; 3] = [2, 3, 4];

fn numbers(name: &str, values: &[i64]) -> Vec<Vec<(String, Constant)>> {
    values.iter().map(|&value| vec![(name.to_owned(), Constant::Int(value))]).collect()
}

/// Ways in which a number is as large as extents mostly are, where there are any.
fn usual_extents(name: &str, ways: Vec<Vec<(String, Constant)>>) -> Vec<Vec<(String, Constant)>> {
    let usual = Range::Extent.usual();
    let is_usual = |way: &Vec<(String, Constant)>| way.iter().any(|(it, value)| it == name && usual.contains(value));
    let (kept, others): (Vec<_>, Vec<_>) = ways.into_iter().partition(is_usual);
    if kept.is_empty() { others } else { kept }
}

/// The first, the last and those between them at equal distances; the middle one where there is to be one, the first where there is to be none.
fn thinned<T>(values: Vec<T>, most: usize) -> Vec<T> {
    let all = values.len();
    if all <= most.max(1) {
        return values;
    }
    let kept: Vec<usize> = match most {
        0 => vec![0],
        1 => vec![all / 2],
        _ => (0..most).map(|nth| nth * (all - 1) / (most - 1)).collect(),
    };
    values.into_iter().enumerate().filter(|(at, _)| kept.contains(at)).map(|(_, value)| value).collect()
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

//! A kernel's memory whatever is given for what the file leaves open: each possible value is tried, where they are few, and else some of them.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use tilefit_gpu::possible::{Range, ranges};
use tilefit_gpu::scenario::{OPTIONS, Scenario};
use tilefit_python::eval::{Constant, OneOf};
use tilefit_python::finding::{Example, Reason};
use tilefit_python::work::Limits;

use super::dialect::Dialect;
use super::gpu::TracedKernel;
use super::memory_usage::{Estimate, MemoryUsage, Verdict};
use super::reexports::imports;
use super::scenarios::scenarios;
use super::scope::UnitScope;
use super::triton::{Elements, elements_of, is_refused_for_elements, laid_out, laid_out_within, triton_kernel, usage};
use super::{Unit, config, syntax};

/// Steps that the ways of all scenarios of a kernel may take together, on one device: about a twentieth of a second.
pub(super) const STEPS: u64 = 600_000;

/// The part of them that is kept for a few ways, where there are too many to try each.
const KEPT: u64 = 3;

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
    /// A scenario with too many ways.
    has_too_many: RefCell<Option<Scenario>>,
    /// No scenario had too many ways yet.
    is_first: Cell<bool>,
}

impl<'db> Surveying<'db> {
    pub(super) fn new(db: &'db dyn salsa::Database, unit: Unit<'db>, dialect: Dialect) -> Self {
        let (usual, has_too_many) = (RefCell::default(), RefCell::default());
        Surveying { db, unit, dialect, left: Cell::new(STEPS), usual, has_too_many, is_first: Cell::new(true) }
    }

    /// On another device all of them are gone through anew.
    pub(super) fn starts_again(&self) {
        self.left.set(STEPS);
        self.has_too_many.take();
        self.is_first.set(true);
    }

    pub(super) fn estimate(&self, scenario: &Scenario) -> Option<Estimate> {
        let left = &self.left;
        let mut estimating = Estimating::new(self.db, self.unit, self.dialect, left);
        estimating.usual.extend(self.usual.take());
        // As many ways as one that leaves as much open.
        let is_open_alike =
            |other: &Scenario| other.possible == scenario.possible && other.values.keys().eq(scenario.values.keys());
        let has_too_many = self.has_too_many.borrow().as_ref().is_some_and(is_open_alike);
        let kept = left.get() / KEPT;
        left.set(left.get() - kept);
        estimating.budget = if has_too_many { 0 } else { left.get() };
        let all = estimating.all(scenario);
        left.set(left.get() + kept);
        let all = all?;
        let ways = if all.has_more && self.dialect == Dialect::Triton {
            self.has_too_many.replace(Some(scenario.clone()));
            estimating.some_ways(scenario, self.is_first.take());
            std::mem::take(&mut estimating.ways)
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
    let has_bounds = traced.planned.plan.is_bounded();
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

/// Values that are tried where there are too many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sample {
    Usual,
    /// Where the usual ones are too large.
    Small,
}

struct Estimating<'a, 'db> {
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    dialect: Dialect,
    ranges: BTreeMap<String, Range>,
    /// Only these of the values that are possible are tried.
    sample: Option<Sample>,
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
        Estimating { db, unit, dialect, ranges, sample: None, left, budget, usual, seen, ways, refused: None }
    }

    /// Each of the ways to give what a scenario leaves open.
    fn all(&mut self, scenario: &Scenario) -> Option<Estimate> {
        let traced = laid_out(self.db, self.unit, self.dialect, scenario, &self.usual)?;
        let at_once = usage(&traced);
        if is_settled(&traced, scenario) || at_once.verdict == Verdict::Refused || !traced.is_planned {
            return Some(at_once.into());
        }
        if let Err(reason) = self.split(scenario, Some(traced), 1) {
            let leading = at_once.leading();
            let open = at_once.amount(leading).1.is_none()
                || scenario.possible.keys().any(|name| OPTIONS.contains(&name.as_str()));
            let mut memories = at_once.memories.clone();
            for taken in memories.iter_mut().filter(|taken| open && taken.space == leading) {
                taken.amount = (0, None);
            }
            // What names the values that are missing says more than how many there may be.
            let says_more = |known: &Reason| !open || known.remedy().is_some();
            let reason = at_once.reason.filter(says_more).unwrap_or(reason);
            let usage = MemoryUsage { memories, verdict: Verdict::Unknown, reason: Some(reason), ..at_once };
            return Some(Estimate { usage, ways: Vec::new(), has_more: true });
        }
        let (ways, refused) = (std::mem::take(&mut self.ways), self.refused.take());
        let Some(all) = ways.iter().map(|(_, usage)| usage.clone()).reduce(|one, other| one.or(&other)) else {
            // What is refused for elements that are only assumed may be taken for others.
            return refused.filter(|refused| refused.elements.is_empty()).or(Some(at_once)).map(Estimate::from);
        };
        Some(Estimate { usage: all, ways: if ways.len() > 1 { ways } else { Vec::new() }, has_more: false })
    }

    /// Some of the ways to give what a scenario leaves open, where there are too many. `is_first`: they may take as long as a kernel by itself.
    fn some_ways(&mut self, scenario: &Scenario, is_first: bool) {
        self.ways.clear();
        let kept = self.left.get();
        // Of a kernel that takes long, one way is worth more than nothing.
        let part = if is_first { 2 } else { 1 };
        if is_first {
            self.left.set(kept.max(config(self.db).limits.steps));
        }
        for sample in [Sample::Usual, Sample::Small] {
            self.sample = Some(sample);
            self.around_the_middle(scenario, (kept, part));
            if !self.ways.is_empty() {
                break;
            }
        }
        self.left.set(self.left.get().min(kept));
    }

    /// Ways with the middle one of the values of each thing, with the least and with the most of all, then with another one of one thing at a time.
    /// `part`: one of the first two may take so much of what is left; all others together what was `kept`.
    fn around_the_middle(&mut self, scenario: &Scenario, (kept, part): (u64, u64)) {
        let middle = |count: usize| count / 2;
        let usual = self.within(part, |this| this.way(scenario, &|_, count| middle(count)));
        let least = self.within(part, |this| this.way(scenario, &|_, _| 0));
        self.left.set(self.left.get().min(kept));
        let (Some(given), Some(_)) = (usual, least) else { return };
        let others = given.iter().flat_map(|(thing, count)| (0..*count).map(move |nth| (thing, nth, middle(*count))));
        let picks = others.filter(|(_, nth, middle)| nth != middle).map(|(thing, nth, _)| {
            move |other: &str, count: usize| if other == thing { nth.min(count - 1) } else { middle(count) }
        });
        let _ = self.within(1, |this| {
            this.way(scenario, &|_, count| count - 1)?;
            picks.map(|pick| this.way(scenario, &pick)).try_for_each(|way| way.map(|_| ()))
        });
    }

    /// Tries something that may take a part of what is left. It has taken all of that where it does not end.
    fn within<T>(&mut self, part: u64, attempt: impl FnOnce(&mut Self) -> Result<T, Reason>) -> Option<T> {
        let all = self.left.get();
        self.left.set(all / part);
        let result = attempt(self).ok();
        let rest = if result.is_some() { self.left.get() } else { 0 };
        self.left.set(all - all / part + rest);
        result
    }

    /// Gives a scenario what it leaves open until the kernel asks for no more. `pick`: which one of so many values of a thing. Returns the things, each
    /// with how many values there are. `Err`: that takes too long.
    fn way(
        &mut self,
        scenario: &Scenario,
        pick: &dyn Fn(&str, usize) -> usize,
    ) -> Result<Vec<(String, usize)>, Reason> {
        let mut way = scenario.clone();
        let mut given: Vec<(String, usize)> = Vec::new();
        let mut give = |way: &mut Scenario, thing: &str, values: Vec<Vec<(String, Constant)>>| {
            let count = values.len();
            let Some(chosen) = values.into_iter().nth(if count == 0 { 0 } else { pick(thing, count) }) else { return };
            given.push((thing.to_owned(), count));
            for (name, value) in chosen {
                *way = way.where_it_is(&name, &value, POSSIBLE);
            }
        };
        for option in OPTIONS {
            if way.possible.contains_key(option) {
                let values = self.option_values(&way, option)?;
                give(&mut way, option, values);
            }
        }
        loop {
            let mut traced = self.tried(&way)?;
            if is_refused_for_elements(&traced) {
                let without = laid_out(self.db, self.unit, self.dialect, &way, &Elements::new());
                traced = Rc::new(without.ok_or("there is no kernel")?);
                take(self.left, &traced)?;
            }
            self.usual.extend(elements_of(&traced));
            let usage = usage(&traced);
            if usage.verdict == Verdict::Refused {
                break;
            }
            let has_bounds = traced.planned.plan.is_bounded();
            let before = way.clone();
            if !is_settled(&traced, &way) {
                // What decides most is given together; types only where nothing else is asked for.
                for name in asked_for(&traced) {
                    let is_type = traced.untyped.contains_key(&name);
                    if is_type && (has_bounds || way != before) || way.values.contains_key(&name) {
                        continue;
                    }
                    if let Some(values) = self.values(&way, &name, &traced) {
                        give(&mut way, &name, values);
                    }
                }
            }
            if way != before {
                continue;
            }
            if has_bounds && !self.ways.iter().any(|(other, _)| *other == way) {
                self.ways.push((way, usage));
            }
            break;
        }
        Ok(given)
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
            _ if traced.planned.plan.is_bounded() => {
                self.ways.push((scenario.clone(), usage));
                Ok(())
            }
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
            None if self.sample.is_some() && option == "num_ctas" => Ok(numbers(option, &[1])),
            None if self.sample.is_some() => Ok(numbers(option, &USUAL_STAGES)),
            None => Err(Reason::new(format!("the launch computes `{option}`"))),
        }
    }

    /// What may be given for a parameter; `None` where that may be anything.
    fn values(&self, scenario: &Scenario, name: &str, traced: &TracedKernel) -> Option<Vec<Vec<(String, Constant)>>> {
        if let Some(values) = self.left_by_the_host(scenario, name) {
            return Some(match self.sample {
                Some(Sample::Usual) if values.len() > FEW => among(&Range::Extent.usual(), name, values),
                Some(Sample::Small) if values.len() > FEW => among(&Range::Extent.small(), name, values),
                _ => values,
            });
        }
        if let Some(range) = self.ranges.get(name) {
            return Some(self.each_of(name, range));
        }
        if let Some(range) = traced.untyped.get(name).and_then(|example| of_elements(*example)) {
            return Some(self.each_of(name, &range));
        }
        let is_number = |(asked, example): &(String, Example)| asked == name && *example == Example::Number;
        let is_tried = self.sample.is_some() && super::triton::asked_for(traced).iter().any(is_number);
        is_tried.then(|| numbers(name, &USUAL_NUMBERS))
    }

    fn each_of(&self, name: &str, range: &Range) -> Vec<Vec<(String, Constant)>> {
        let values = match self.sample {
            None => range.values(),
            Some(Sample::Usual) => range.usual(),
            Some(Sample::Small) => range.small(),
        };
        values.into_iter().map(|value| vec![(name.to_owned(), value)]).collect()
    }

    /// The few values that host code leaves for a parameter or an option, each with what is decided along with it.
    fn left_by_the_host(&self, scenario: &Scenario, name: &str) -> Option<Vec<Vec<(String, Constant)>>> {
        let left = |name: &String, choice: &Option<OneOf>| {
            let choice = choice.as_ref()?;
            // How long an axis is says which block it fills, and nothing else that can be counted.
            let is_told = !choice.is_open() || self.ranges.get(name) == Some(&Range::Extent);
            is_told.then(|| choice.blocks())
        };
        let choices: BTreeMap<&String, OneOf> =
            scenario.possible.iter().filter_map(|(name, choice)| Some((name, left(name, choice)?))).collect();
        let choice = choices.iter().find(|(other, _)| **other == name)?.1;
        let together: Vec<(&str, &OneOf)> = choices
            .iter()
            .map(|(other, it)| (other.as_str(), it))
            .filter(|(other, it)| *other == name || it.by.is_some() && it.by == choice.by)
            .collect();
        let mut found: Vec<Vec<(String, Constant)>> = Vec::new();
        for case in choice.distinct_cases() {
            let mut ways: Vec<Vec<(String, Constant)>> = vec![Vec::new()];
            // A number that the case leaves open waits until the kernel asks for it.
            let waits = |other: &str, it: &OneOf| {
                let is_number = !self.ranges.contains_key(other) && !OPTIONS.contains(&other);
                is_number && other != name && it.within(case).nth(1).is_some()
            };
            for &(name, it) in together.iter().filter(|(other, it)| !waits(other, it)) {
                let longer = |way: &Vec<(String, Constant)>, value: &Constant| {
                    way.iter().cloned().chain([(name.to_owned(), value.clone())]).collect()
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

/// No more values than these that host code leaves are tried all, whatever is usual.
const FEW: usize = 4;

/// The ways in which a parameter is one of some values; all where it is in none.
fn among(wanted: &[Constant], name: &str, ways: Vec<Vec<(String, Constant)>>) -> Vec<Vec<(String, Constant)>> {
    let is_among = |way: &Vec<(String, Constant)>| way.iter().any(|(it, value)| it == name && wanted.contains(value));
    let (kept, others): (Vec<_>, Vec<_>) = ways.into_iter().partition(is_among);
    if kept.is_empty() { others } else { kept }
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

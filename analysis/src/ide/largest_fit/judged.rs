//! What kernels come to with one value of a constant, and whether that fits.

use std::collections::BTreeMap;

use tilefit_pypto::ir::Type;
use tilefit_python::diagnostics::{Code, Severity};
use tilefit_python::finding::Status;

use crate::db::{self, Verdict as OfScenario};
use crate::ide::language::{Amount, KernelView, Memory};
use crate::ide::plan_view::ScenarioView;
use crate::ide::speculative::Concerned;
use crate::ide::{Context, PlacedUnit, languages};

/// Whether every memory of the kernels fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Fits,
    /// A memory is too small in any case.
    Exceeds(MemoryUse),
    /// For another reason than memory: the compiler or its instruction library does not accept it, in the words of the diagnostic.
    Refused(String),
    /// Memory is enough, or may be, and something new is doubtful, in the words of the diagnostic.
    Warned(String),
    /// It may fit. Why that is not known.
    Unknown(String),
}

/// One memory of one kernel, in bytes or columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryUse {
    pub kernel: String,
    /// The machine that the kernel is laid out for.
    pub target: &'static str,
    pub memory: &'static str,
    /// At most; at least, where it exceeds the capacity.
    pub used: u64,
    pub capacity: u64,
}

/// Some kernels of a text.
#[derive(Default)]
pub(super) struct Outcome {
    kernels: Vec<Kernel>,
    /// What PyPTO's kernels are called with.
    pub(super) params: Vec<Type>,
}

struct Kernel {
    name: String,
    target: &'static str,
    status: Status,
    reasons: Vec<String>,
    memories: Vec<Memory>,
    /// None where there is only one.
    scenarios: Vec<ScenarioView>,
    /// Scenarios that are not among them.
    more_scenarios: usize,
    found: Vec<(Code, Severity, String)>,
}

impl Outcome {
    /// Of the blocks with these indices. `None` where the text has no longer the same blocks. `asker`: who waits for it, which an edit or a
    /// cancelled request interrupts.
    pub(super) fn of(context: &Context<'_>, blocks: &[usize], asker: &Context<'_>) -> Option<Outcome> {
        let mut outcome = Outcome::default();
        for &block in blocks {
            asker.db.unwind_if_revision_cancelled();
            outcome.add(context, block)?;
        }
        Some(outcome)
    }

    /// The kernels of a block; `None` where there is none with this index.
    pub(super) fn add(&mut self, context: &Context<'_>, block: usize) -> Option<()> {
        let start = context.document().blocks().get(block)?.start;
        for placed in Concerned::Block(start).units(context) {
            let kernels = db::source_kernels(context.db, placed.unit);
            let params = kernels.flat_map(|it| it.params.iter().map(|&param| it.var(param).ty.clone()));
            self.params.extend(params);
            let views = languages::all_kernels(context, placed.unit);
            self.kernels.extend(views.iter().map(|view| Kernel::of(context, &placed, &**view)));
        }
        Some(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// The kernels, by index, that are not as `other` has them.
    pub(super) fn changed<'o>(&'o self, other: &'o Outcome) -> impl Iterator<Item = usize> + 'o {
        let pairs = self.kernels.iter().zip(&other.kernels).enumerate();
        pairs.filter(|(_, (one, other))| !one.takes_as(other)).map(|(nth, _)| nth)
    }

    pub(super) fn name(&self, nth: usize) -> &str {
        &self.kernels[nth].name
    }

    pub(super) fn target(&self, nth: usize) -> &'static str {
        self.kernels[nth].target
    }

    /// The memories that these kernels, or the largest of these scenarios of them, use something of.
    pub(super) fn memories(&self, changing: &BTreeMap<usize, Vec<usize>>) -> Vec<MemoryUse> {
        let kernels = changing.iter().map(|(&nth, rows)| (&self.kernels[nth], rows));
        let used = kernels.flat_map(|(kernel, rows)| {
            kernel.memories.iter().filter_map(|it| {
                let of_row = |row: &ScenarioView| {
                    let here = row.usage.memories.iter().find(|taken| taken.space.name() == it.name);
                    here.map_or((0, Some(0)), |taken| taken.amount)
                };
                let of_rows: Vec<_> = kernel.rows(rows).map(of_row).collect();
                let whole = [(it.used.low(), it.used.high())];
                let used = most(if of_rows.is_empty() { &whole } else { &of_rows }, limit(it)?)?;
                (used > 0).then(|| kernel.uses(it.name, used, limit(it).unwrap_or_default()))
            })
        });
        used.collect()
    }

    /// Whether the kernels with these indices fit, where they come to `before` with the present value. `changing`: of each the scenarios that
    /// depend on the constant.
    pub(super) fn verdict(&self, before: &Outcome, changing: &BTreeMap<usize, Vec<usize>>) -> Verdict {
        if !self.kernels.iter().map(|it| &it.name).eq(before.kernels.iter().map(|it| &it.name)) {
            return Verdict::Unknown("the file has other kernels with this value".to_owned());
        }
        let each = changing.iter().map(|(&nth, rows)| self.kernels[nth].verdict(&before.kernels[nth], rows));
        each.max_by_key(Verdict::weight).unwrap_or(Verdict::Fits)
    }

    /// The scenarios of a kernel that are not as `other` has them; none where the kernel has others, of which none is the same.
    pub(super) fn changed_scenarios(&self, other: &Outcome, nth: usize) -> Vec<usize> {
        if !self.kernels[nth].has_scenarios_of(&other.kernels[nth]) {
            return Vec::new();
        }
        let takes = |it: &ScenarioView| (it.index, it.usage.memories.clone(), it.usage.verdict);
        let other: Vec<_> = other.kernels[nth].scenarios.iter().map(takes).collect();
        let one = self.kernels[nth].scenarios.iter().map(takes);
        one.filter(|row| !other.contains(row)).map(|(index, ..)| index).collect()
    }
}

impl Verdict {
    fn weight(&self) -> u8 {
        match self {
            Verdict::Fits => 0,
            Verdict::Warned(_) => 1,
            Verdict::Unknown(_) => 2,
            Verdict::Refused(_) => 3,
            Verdict::Exceeds(_) => 4,
        }
    }
}

/// A capacity of 0 is none.
fn limit(memory: &Memory) -> Option<u64> {
    memory.capacity.filter(|&capacity| capacity > 0)
}

/// Of several uses of a memory, each at least and at most so much: the most; at least, where it exceeds the capacity.
fn most(uses: &[(u64, Option<u64>)], capacity: u64) -> Option<u64> {
    let low = uses.iter().map(|(low, _)| *low).max().filter(|&low| low > capacity);
    low.or_else(|| uses.iter().map(|(_, high)| *high).collect::<Option<Vec<u64>>>()?.into_iter().max())
}

impl Kernel {
    fn of(context: &Context<'_>, placed: &PlacedUnit<'_>, view: &dyn KernelView) -> Kernel {
        let found = view.diagnostics(context, placed).into_iter();
        let details = view.is_planned().then(|| view.details(context, placed));
        let more_scenarios = details.as_ref().map_or(0, |details| details.more_scenarios);
        Kernel {
            name: context.qualified_name(placed.unit, view.name()),
            target: view.target(),
            status: view.status(),
            reasons: view.reasons(),
            memories: view.memories(),
            scenarios: details.map_or_else(Vec::new, |details| details.scenarios),
            more_scenarios,
            found: found.map(|it| (it.code, it.severity, it.message)).collect(),
        }
    }

    /// The scenarios with these indices; all without any.
    fn rows<'k>(&'k self, indices: &'k [usize]) -> impl Iterator<Item = &'k ScenarioView> {
        self.scenarios.iter().filter(|row| indices.is_empty() || indices.contains(&row.index))
    }

    /// A value can take one away, and the others are known by their order.
    fn has_scenarios_of(&self, other: &Kernel) -> bool {
        self.scenarios.len() + self.more_scenarios == other.scenarios.len() + other.more_scenarios
    }

    fn takes_as(&self, other: &Kernel) -> bool {
        let takes = |it: &Kernel| -> Vec<(&'static str, Amount, u64)> {
            it.memories.iter().map(|memory| (memory.name, memory.used, memory.peak)).collect()
        };
        let scenarios = |it: &Kernel| -> Vec<_> {
            it.scenarios.iter().map(|row| (row.usage.memories.clone(), row.usage.verdict)).collect()
        };
        self.status == other.status && takes(self) == takes(other) && scenarios(self) == scenarios(other)
    }

    fn verdict(&self, before: &Kernel, rows: &[usize]) -> Verdict {
        match self.scenarios.is_empty() {
            _ if !self.has_scenarios_of(before) => {
                Verdict::Unknown("the kernel has other configurations with this value".to_owned())
            }
            true => self.of_memories(before),
            false => self.of_scenarios(before, rows),
        }
    }

    fn of_memories(&self, before: &Kernel) -> Verdict {
        let exceeds = |it: &&Memory| limit(it).is_some_and(|most| it.used.low() > most);
        if let Some(memory) = self.memories.iter().find(exceeds) {
            return Verdict::Exceeds(self.uses(memory.name, memory.used.low(), limit(memory).unwrap_or_default()));
        }
        if let Some(wrong) = self.wrong(before, &SAYS_TOO_LARGE) {
            return wrong;
        }
        let reason = || self.reasons.first().cloned();
        match self.status {
            Status::Exact | Status::Predicted | Status::Bounded => {}
            Status::Rejected => {
                let error = self.found.iter().find(|(_, severity, _)| *severity == Severity::Error);
                let why = error.map(|(.., message)| message.clone()).or_else(reason);
                return Verdict::Refused(why.unwrap_or_else(|| "the compiler refuses the kernel".to_owned()));
            }
            Status::Partial | Status::NotModelled => {
                return Verdict::Unknown(reason().unwrap_or_else(|| "the kernel is only partly analysed".to_owned()));
            }
        }
        let is_open = |it: &&Memory| match (it.used.high(), limit(it)) {
            (Some(used), most) => used > most.unwrap_or(0),
            (None, _) => true,
        };
        self.memories.iter().find(is_open).map_or(Verdict::Fits, |memory| {
            let what = || format!("the use of {} is not known", memory.name);
            Verdict::Unknown(reason().unwrap_or_else(what))
        })
    }

    /// Of the rows that depend on the constant.
    fn of_scenarios(&self, before: &Kernel, indices: &[usize]) -> Verdict {
        let rows = || self.rows(indices).map(|row| &row.usage);
        let exceeding = rows().find(|row| row.verdict == OfScenario::Exceeds);
        if let Some(taken) = exceeding.and_then(|row| row.memories.iter().find(|taken| taken.exceeds())) {
            return Verdict::Exceeds(self.uses(taken.space.name(), taken.amount.0, taken.capacity));
        }
        // What is too large may be another configuration.
        let wrong = self.wrong(before, &[]);
        if rows().any(|row| row.verdict == OfScenario::Refused) {
            let why = || "the compiler does not accept the kernel, as where a `static_assert` fails".to_owned();
            return wrong.filter(|it| matches!(it, Verdict::Refused(_))).unwrap_or_else(|| Verdict::Refused(why()));
        }
        if let Some(wrong) = wrong {
            return wrong;
        }
        let more = self.more_scenarios.max(before.more_scenarios);
        let unknown = rows().find(|row| row.verdict != OfScenario::Fits);
        match rows().count() >= indices.len() && unknown.is_none() {
            true if more > 0 => Verdict::Unknown(format!("{more} configurations of the kernel were not looked at")),
            true => Verdict::Fits,
            false => {
                let reason = unknown.and_then(|row| row.reason.as_ref()).map(ToString::to_string);
                let reason = reason.or_else(|| self.reasons.first().cloned());
                Verdict::Unknown(reason.unwrap_or_else(|| "the memory use of a configuration is not known".to_owned()))
            }
        }
    }

    fn uses(&self, memory: &'static str, used: u64, capacity: u64) -> MemoryUse {
        MemoryUse { kernel: self.name.clone(), target: self.target, memory, used, capacity }
    }

    /// What was not found before, or more often now; also what was, of these codes.
    fn wrong(&self, before: &Kernel, also: &[Code]) -> Option<Verdict> {
        let count = |of: &Kernel, code: Code| of.found.iter().filter(|(it, ..)| *it == code).count();
        let is_new = |(code, severity, _): &&(Code, Severity, String)| {
            let counts = *severity >= Severity::Warning || SAYS_NOT_KNOWN.contains(code);
            counts && (count(self, *code) > count(before, *code) || also.contains(code))
        };
        let (code, severity, message) = self.found.iter().filter(is_new).max_by_key(|(_, severity, _)| *severity)?;
        Some(match (code, severity) {
            (code, _) if SAYS_NOT_KNOWN.contains(code) => Verdict::Unknown(message.clone()),
            (Code::TileLayout, _) | (_, Severity::Error) => Verdict::Refused(message.clone()),
            _ => Verdict::Warned(message.clone()),
        })
    }
}

/// Hints that say that the rest is not to be relied on.
const SAYS_NOT_KNOWN: [Code; 4] = [Code::NotModelled, Code::KernelTooLarge, Code::Internal, Code::MayNotFit];

/// What is found of a kernel that does not fit, or may not.
const SAYS_TOO_LARGE: [Code; 4] =
    [Code::CapacityExceeded, Code::FitsOnlyPacked, Code::OperandTooLarge, Code::MayNotFit];

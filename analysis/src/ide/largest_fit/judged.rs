//! What kernels come to with one value of a constant, and whether that fits.

use std::collections::BTreeMap;

use crate::db;
use crate::diagnostics::{Code, Severity};
use crate::finding::Status;
use crate::ide::language::{Amount, KernelView, Memory};
use crate::ide::plan_view::ScenarioView;
use crate::ide::speculative::Concerned;
use crate::ide::{Context, PlacedUnit};
use crate::ir::Type;

/// Whether every memory of the kernels fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Fits,
    /// A memory is too small in any case.
    Exceeds(MemoryUse),
    /// For another reason than memory: something new is wrong, in the words of its diagnostic.
    Refused(String),
    /// It may fit. Why that is not known.
    Unknown(String),
}

/// One memory of one kernel, in bytes or columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryUse {
    pub kernel: String,
    pub memory: &'static str,
    /// At most; at least, where it exceeds the capacity.
    pub used: u64,
    pub capacity: u64,
}

/// Some kernels of a text.
pub(super) struct Outcome {
    kernels: Vec<Kernel>,
    /// What PyPTO's kernels are called with.
    pub(super) params: Vec<Type>,
}

struct Kernel {
    name: String,
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
    /// Of the blocks with these indices. `None` where the text has no longer the same blocks.
    pub(super) fn of(context: &Context<'_>, blocks: &[usize]) -> Option<Outcome> {
        let mut outcome = Outcome { kernels: Vec::new(), params: Vec::new() };
        for &block in blocks {
            context.db.unwind_if_revision_cancelled();
            let start = context.document().blocks().get(block)?.start;
            for placed in Concerned::Block(start).units(context) {
                let kernels = db::source_kernels(context.db, placed.unit);
                let params = kernels.flat_map(|it| it.params.iter().map(|&param| it.var(param).ty.clone()));
                outcome.params.extend(params);
                let views = context.all_kernels(placed.unit);
                outcome.kernels.extend(views.iter().map(|view| Kernel::of(context, &placed, &**view)));
            }
        }
        Some(outcome)
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

    /// The memories that these kernels, or the largest of these scenarios of them, use something of.
    pub(super) fn memories(&self, changing: &BTreeMap<usize, Vec<usize>>) -> Vec<MemoryUse> {
        let kernels = changing.iter().map(|(&nth, rows)| (&self.kernels[nth], rows));
        let used = kernels.flat_map(|(kernel, rows)| {
            kernel.memories.iter().filter_map(|it| {
                let of_rows = kernel.rows(rows).map(|row| if it.name == "tmem" { row.tmem } else { row.smem }).max();
                let used = of_rows.or_else(|| it.used.high()).filter(|&used| used > 0)?;
                Some(MemoryUse { kernel: kernel.name.clone(), memory: it.name, used, capacity: limit(it)? })
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

    /// The scenarios of a kernel that are not as `other` has them.
    pub(super) fn changed_scenarios(&self, other: &Outcome, nth: usize) -> Vec<usize> {
        let takes = |it: &ScenarioView| (it.index, it.smem, it.tmem, it.verdict);
        let other: Vec<_> = other.kernels[nth].scenarios.iter().map(takes).collect();
        let one = self.kernels[nth].scenarios.iter().map(takes);
        one.filter(|row| !other.contains(row)).map(|(index, ..)| index).collect()
    }
}

impl Verdict {
    fn weight(&self) -> u8 {
        match self {
            Verdict::Fits => 0,
            Verdict::Unknown(_) => 1,
            Verdict::Refused(_) => 2,
            Verdict::Exceeds(_) => 3,
        }
    }
}

/// A capacity of 0 is none.
fn limit(memory: &Memory) -> Option<u64> {
    memory.capacity.filter(|&capacity| capacity > 0)
}

impl Kernel {
    fn of(context: &Context<'_>, placed: &PlacedUnit<'_>, view: &dyn KernelView) -> Kernel {
        let found = view.diagnostics(context, placed).into_iter();
        let details = view.is_planned().then(|| view.details(context, placed));
        let more_scenarios = details.as_ref().map_or(0, |details| details.more_scenarios);
        Kernel {
            name: context.qualified_name(placed.unit, view.name()),
            status: view.status(),
            reasons: view.reasons(),
            memories: view.memories(),
            scenarios: details.map_or_else(Vec::new, |details| details.scenarios),
            more_scenarios,
            found: found.map(|it| (it.code, it.severity, it.message)).collect(),
        }
    }

    /// The scenarios with these indices.
    fn rows<'k>(&'k self, indices: &'k [usize]) -> impl Iterator<Item = &'k ScenarioView> {
        self.scenarios.iter().filter(|row| indices.contains(&row.index))
    }

    fn takes_as(&self, other: &Kernel) -> bool {
        let takes = |it: &Kernel| -> Vec<(&'static str, Amount, u64)> {
            it.memories.iter().map(|memory| (memory.name, memory.used, memory.peak)).collect()
        };
        let scenarios = |it: &Kernel| -> Vec<(u64, u64, &'static str)> {
            it.scenarios.iter().map(|row| (row.smem, row.tmem, row.verdict)).collect()
        };
        self.status == other.status && takes(self) == takes(other) && scenarios(self) == scenarios(other)
    }

    fn verdict(&self, before: &Kernel, rows: &[usize]) -> Verdict {
        match self.scenarios.is_empty() && before.scenarios.is_empty() {
            true => self.of_memories(before),
            false => self.of_scenarios(before, rows),
        }
    }

    fn of_memories(&self, before: &Kernel) -> Verdict {
        let exceeds = |it: &&Memory| limit(it).is_some_and(|most| it.used.low() > most);
        if let Some(memory) = self.memories.iter().find(exceeds) {
            return self.exceeds(memory.name, memory.used.low());
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
    fn of_scenarios(&self, before: &Kernel, rows: &[usize]) -> Verdict {
        let known = self.rows(rows).count() == rows.len();
        let rows = || self.rows(rows);
        if let Some(row) = rows().find(|row| row.verdict == "exceeds") {
            let limit_of = |name| self.memories.iter().find(|it| it.name == name).and_then(limit);
            let is_shared = limit_of("smem").is_some_and(|most| row.smem > most);
            return if is_shared { self.exceeds("smem", row.smem) } else { self.exceeds("tmem", row.tmem) };
        }
        if rows().any(|row| row.verdict == "refused") {
            return Verdict::Refused("a `static_assert` fails".to_owned());
        }
        // What is too large may be another configuration.
        if let Some(wrong) = self.wrong(before, &[]) {
            return wrong;
        }
        let more = self.more_scenarios.max(before.more_scenarios);
        match known && rows().all(|row| row.verdict == "fits") {
            true if more > 0 => Verdict::Unknown(format!("{more} configurations of the kernel were not looked at")),
            true => Verdict::Fits,
            false => {
                let reason = self.reasons.first().cloned();
                Verdict::Unknown(reason.unwrap_or_else(|| "the memory use of a configuration is not known".to_owned()))
            }
        }
    }

    fn exceeds(&self, memory: &'static str, used: u64) -> Verdict {
        let capacity = self.memories.iter().find(|it| it.name == memory).and_then(limit).unwrap_or_default();
        Verdict::Exceeds(MemoryUse { kernel: self.name.clone(), memory, used, capacity })
    }

    /// What was not found before, or more often now; also what was, of these codes.
    fn wrong(&self, before: &Kernel, also: &[Code]) -> Option<Verdict> {
        let count = |of: &Kernel, code: Code| of.found.iter().filter(|(it, ..)| *it == code).count();
        let is_new = |(code, severity, _): &&(Code, Severity, String)| {
            let counts = *severity >= Severity::Warning || SAYS_NOT_KNOWN.contains(code);
            counts && (count(self, *code) > count(before, *code) || also.contains(code))
        };
        let (code, _, message) = self.found.iter().filter(is_new).max_by_key(|(_, severity, _)| *severity)?;
        Some(match SAYS_NOT_KNOWN.contains(code) {
            true => Verdict::Unknown(message.clone()),
            false => Verdict::Refused(message.clone()),
        })
    }
}

/// Hints that say that the rest is not to be relied on.
const SAYS_NOT_KNOWN: [Code; 4] = [Code::NotModelled, Code::KernelTooLarge, Code::Internal, Code::MayNotFit];

/// What is found of a kernel that does not fit, or may not.
const SAYS_TOO_LARGE: [Code; 4] =
    [Code::CapacityExceeded, Code::FitsOnlyPacked, Code::OperandTooLarge, Code::MayNotFit];

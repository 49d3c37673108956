//! How much memory a kernel takes under a scenario, and whether that fits.

use std::collections::BTreeSet;

use tilefit_gpu::assumed::Assumed;
use tilefit_gpu::device::Space;
use tilefit_gpu::scenario::Scenario;
use tilefit_python::finding::{Note, Reason};

/// A kernel's memory under one scenario.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemoryUsage {
    pub(crate) verdict: Verdict,
    /// Of each memory of the device, in its order.
    pub(crate) memories: Vec<Taken>,
    /// Element types that it rests on, and nothing says.
    pub(crate) elements: Vec<Assumed>,
    /// Why it is not one number.
    pub(crate) reason: Option<Reason>,
    /// What the compiler refuses of it, and where.
    pub(crate) refusal: Option<Note>,
}

/// What a kernel takes of one memory: bytes, or columns as they are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) space: Space,
    /// At least and at most; `None` where nothing bounds it.
    pub(crate) amount: (u64, Option<u64>),
    pub(crate) capacity: u64,
}

impl Taken {
    fn is_exact(&self) -> bool {
        self.amount.1 == Some(self.amount.0)
    }

    pub(crate) fn exceeds(&self) -> bool {
        self.amount.0 > self.capacity
    }

    fn fits(&self) -> bool {
        self.amount.1.is_some_and(|high| high <= self.capacity)
    }
}

/// The memory to speak of where there is room for one number: shared memory of a GPU, else the fullest.
pub(super) fn leading(memories: &[Taken]) -> Space {
    let share = |taken: &&Taken| taken.amount.0.saturating_mul(1 << 20) / taken.capacity.max(1);
    match memories.first() {
        Some(Taken { space: Space::Shared, .. }) | None => Space::Shared,
        Some(first) => memories.iter().rev().max_by_key(share).unwrap_or(first).space,
    }
}

impl MemoryUsage {
    /// `is_refused`: no compiler takes the kernel.
    pub(super) fn of(memories: Vec<Taken>, is_refused: bool) -> MemoryUsage {
        let verdict = if is_refused { Verdict::Refused } else { verdict(&memories) };
        MemoryUsage { verdict, memories, elements: Vec::new(), reason: None, refusal: None }
    }

    /// What it takes of a memory; nothing of one that the device does not have.
    pub(crate) fn amount(&self, space: Space) -> (u64, Option<u64>) {
        self.memories.iter().find(|taken| taken.space == space).map_or((0, Some(0)), |taken| taken.amount)
    }

    pub(crate) fn leading(&self) -> Space {
        leading(&self.memories)
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.memories.iter().all(Taken::is_exact)
    }

    /// Whether it is at most something in each memory, or refused.
    pub(super) fn is_bounded(&self) -> bool {
        self.memories.iter().all(|taken| taken.amount.1.is_some()) || self.verdict == Verdict::Refused
    }

    /// What it is where it may be either of two, of which neither is refused.
    pub(super) fn or(self, other: &MemoryUsage) -> MemoryUsage {
        let either = |one: (u64, Option<u64>), other: (u64, Option<u64>)| {
            (one.0.min(other.0), one.1.zip(other.1).map(|(one, other)| one.max(other)))
        };
        let of_both = |taken: &Taken| Taken { amount: either(taken.amount, other.amount(taken.space)), ..*taken };
        let memories: Vec<Taken> = self.memories.iter().map(of_both).collect();
        let depends = memories != self.memories || memories != other.memories;
        let reason = depends.then(|| Reason::new("it depends on what is given for what the file leaves open"));
        let both = [self.verdict, other.verdict];
        let verdict = match verdict(&memories) {
            Verdict::Unknown if both.iter().any(|it| matches!(it, Verdict::Fits | Verdict::Depends)) => {
                if both[0] == both[1] { both[0] } else { Verdict::Depends }
            }
            verdict => verdict,
        };
        let reason = reason.or(self.reason).or(other.reason.clone());
        let elements = distinct([&self.elements, &other.elements]);
        MemoryUsage { verdict, memories, elements, reason, refusal: None }
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

fn verdict(memories: &[Taken]) -> Verdict {
    match () {
        () if memories.iter().any(Taken::exceeds) => Verdict::Exceeds,
        () if memories.iter().all(Taken::fits) => Verdict::Fits,
        () => Verdict::Unknown,
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

/// A kernel's memory under a scenario that may leave something open.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Estimate {
    /// Whatever is given for it.
    pub(crate) usage: MemoryUsage,
    /// Each way to give it, where that makes a difference, with the kernel's memory. None that the compiler refuses.
    pub(crate) ways: Vec<(Scenario, MemoryUsage)>,
    /// There are more ways than these, which nothing is known of: too many to try each.
    pub(crate) has_more: bool,
}

impl Estimate {
    /// The same under a scenario that differs in nothing of what memory depends on: the ways have its values of all else.
    pub(super) fn under(&self, scenario: &Scenario, relevant: Option<&BTreeSet<String>>) -> Estimate {
        let mut here = self.clone();
        if let Some(relevant) = relevant {
            for (way, _) in &mut here.ways {
                way.values.retain(|name, _| relevant.contains(name));
                *way = way.filled_from(scenario);
            }
        }
        here
    }
}

impl From<MemoryUsage> for Estimate {
    fn from(usage: MemoryUsage) -> Estimate {
        Estimate { usage, ways: Vec::new(), has_more: false }
    }
}

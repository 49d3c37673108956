//! How full the memories of a kernel are, as a lens says it; and which of the plans of a unit are whose.

use std::ops::Range;

use crate::db::{self, Dumped, Outcome, Unit};
use crate::ide::{Context, formatting};
use crate::memory::{Plan, SpaceUse, Status};

/// The plans of each of some kernels that stand in a unit, two where one works on both cores; with their index among those of the unit.
pub(super) fn outcomes<'db>(
    context: &Context<'db>,
    unit: Unit<'db>,
    kernels: Range<usize>,
) -> Vec<Vec<(usize, &'db Outcome)>> {
    let standing = db::source_kernel_ids(context.db, unit);
    let count = |kernel: usize| match standing.get(kernel) {
        Some(&(host, index)) => db::planned(context.db, host, index).len(),
        None => 1,
    };
    let mut first: usize = (0..kernels.start).map(count).sum();
    let of_kernel = |kernel| {
        let from = first;
        first += count(kernel);
        let all = context.plans(unit).iter().enumerate().take(first).skip(from);
        all.filter(|(_, outcome)| outcome.plan().is_some()).collect()
    };
    kernels.map(of_kernel).collect()
}

/// Without dumps, nothing is planned.
pub(super) fn dumps<'db>(context: &Context<'db>, unit: Unit<'db>, kernels: Range<usize>) -> Vec<&'db Dumped<'db>> {
    let dumps = context.dumped(unit);
    if dumps.is_empty() {
        return Vec::new();
    }
    let outcomes = outcomes(context, unit, kernels).into_iter().flatten();
    outcomes.filter_map(|(index, _)| dumps.get(index)?.as_ref()).collect()
}

pub(super) fn fill(plan: &Plan) -> String {
    let spaces: Vec<_> = plan.spaces.iter().map(bar).collect();
    match (plan.status, spaces.is_empty()) {
        (Status::NotModelled, _) => "not modelled".to_owned(),
        (_, true) => "no tiles".to_owned(),
        (Status::Partial | Status::Bounded, _) => format!("{} · partly modelled", spaces.join("  ")),
        (Status::Rejected, _) => format!("{} · rejected", spaces.join("  ")),
        (Status::Predicted, _) => format!("{} · predicted", spaces.join("  ")),
        (Status::Exact, _) => spaces.join("  "),
    }
}

/// `Vec ███░░░░░ 36 %`, or the bytes where the target has no limit.
fn bar(space: &SpaceUse) -> String {
    const CELLS: u64 = 8;
    let Some(capacity) = space.capacity.filter(|&capacity| capacity > 0) else {
        return format!("{} {}", space.space, formatting::bytes(space.used));
    };
    let filled = space.used.saturating_mul(CELLS).div_ceil(capacity).min(CELLS) as usize;
    let percent = formatting::percent(space.used, capacity);
    format!("{} {}{} {percent} %", space.space, "█".repeat(filled), "░".repeat(CELLS as usize - filled))
}

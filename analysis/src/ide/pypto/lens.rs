//! How full the memories of a kernel are, as a lens says it; and which of the plans of a unit are whose.

use std::ops::Range;

use tilefit_pypto::memory::{Plan, SpaceUse};
use tilefit_python::finding::Status;

use crate::db::{self, Dumped, Outcome, Unit};
use crate::ide::{Context, formatting};

/// The plans of each of some kernels that stand in a unit, two where one works on both cores; with their index among those of the unit.
pub(super) fn outcomes<'db>(
    context: &Context<'db>,
    unit: Unit<'db>,
    kernels: Range<usize>,
) -> Vec<Vec<(usize, &'db Outcome)>> {
    let declared = db::source_kernel_ids(context.db, unit);
    let count = |kernel: usize| match declared.get(kernel) {
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
    let is_least = matches!(plan.status, Status::Partial | Status::Bounded);
    let spaces: Vec<_> = plan.spaces.iter().map(|space| bar(space, is_least)).collect();
    match (plan.status, spaces.is_empty()) {
        (Status::NotModelled, _) => "not modelled".to_owned(),
        (_, true) => "no tiles".to_owned(),
        (Status::Partial | Status::Bounded, _) => format!("{} · partly modelled", spaces.join("  ")),
        (Status::Rejected, _) => format!("{} · rejected", spaces.join("  ")),
        (Status::Predicted, _) => format!("{} · predicted", spaces.join("  ")),
        (Status::Exact, _) => spaces.join("  "),
    }
}

/// `Vec ██░░░░░░ 36 %`, `Vec ████████ ⚠ 105 %, 8 KiB over`, or the bytes where the target has no limit. The last cell is for a memory that has
/// nothing left: what is left must be seen. `is_least`: it may be more, `Vec ██░░░░░░ ≥ 36 %`.
fn bar(space: &SpaceUse, is_least: bool) -> String {
    const CELLS: u64 = 8;
    let least = if is_least { "≥ " } else { "" };
    let Some(capacity) = space.capacity.filter(|&capacity| capacity > 0) else {
        return format!("{} {least}{}", space.space, formatting::bytes(space.used));
    };
    let filled = (space.used.saturating_mul(CELLS) / capacity).clamp(u64::from(space.used > 0), CELLS) as usize;
    let (full, free) = ("█".repeat(filled), "░".repeat(CELLS as usize - filled));
    format!("{} {full}{free} {least}{}", space.space, formatting::fullness(space.used, capacity))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::Fixture;

    /// The lens of a kernel with one tile of some rows of 1 KiB; 184 fit.
    fn lens(rows: u64) -> String {
        let fixture = Fixture::new(&format!(
            "import pypto.language as pl\n\n@pl.function(type=pl.FunctionType.InCore)\ndef k(a: pl.Tensor[[256, 256], pl.FP32], out: pl.Out[pl.Tensor[[256, 256], pl.FP32]]):\n    x = pl.load(a, [0, 0], [{rows}, 256])\n    out = pl.store(x, [0, 0], out)\n    return out\n"
        ));
        let lens = fixture.code_lenses().swap_remove(0);
        fixture.code_lens(lens).expect("it is there").title
    }

    #[test]
    fn what_is_almost_full_full_and_over_differ() {
        expect!["Vec █░░░░░░░ 1 %"].assert_eq(&lens(1));
        expect!["Vec ███████░ 92 %"].assert_eq(&lens(169));
        expect!["Vec ███████░ 100 %"].assert_eq(&lens(183));
        expect!["Vec ████████ 100 %"].assert_eq(&lens(184));
        expect!["Vec ████████ ⚠ 105 %, 8 KiB over"].assert_eq(&lens(192));
    }
}

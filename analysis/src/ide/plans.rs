//! The plans of a file.

use tilefit_syntax::TextRange;

use super::confirmations;
use super::diagnostic::configured;
use super::language::{Amount, KernelView, Memory};
use super::plan_view::{Bounds, Details, KernelPlan, KernelSummary, PlanDiagnostic, SpacePacking, SpacePlan};
use super::{Context, PlacedUnit, languages};

pub(crate) fn plans(context: &Context<'_>) -> Vec<KernelPlan> {
    of_each(context, |placed, kernel| kernel_plan(context, placed, kernel))
}

/// Of the same kernels in the same order.
pub(crate) fn summaries(context: &Context<'_>) -> Vec<KernelSummary> {
    of_each(context, |placed, kernel| kernel_summary(context, placed, kernel))
}

fn of_each<T>(context: &Context<'_>, of_kernel: impl Fn(&PlacedUnit<'_>, &dyn KernelView) -> T) -> Vec<T> {
    let mut all = Vec::new();
    for placed in context.units() {
        let kernels = languages::all_kernels(context, placed.unit);
        all.extend(kernels.iter().map(|kernel| of_kernel(&placed, &**kernel)));
    }
    all
}

fn kernel_summary(context: &Context<'_>, placed: &PlacedUnit<'_>, kernel: &dyn KernelView) -> KernelSummary {
    let packing = kernel.packing(context, placed).into_iter().map(Some).chain(std::iter::repeat_with(|| None));
    KernelSummary {
        name: context.qualified_name(placed.unit, kernel.name()),
        cell: context.cell(placed.start),
        line: context.line(placed.range(kernel.name_origin()).start),
        range: TextRange::new(placed.start, placed.start + placed.len),
        status: kernel.status().name(),
        target: kernel.target(),
        planner: kernel.planner(),
        spaces: kernel.memories().into_iter().zip(packing).map(space_plan).collect(),
    }
}

fn kernel_plan(context: &Context<'_>, placed: &PlacedUnit<'_>, kernel: &dyn KernelView) -> KernelPlan {
    let summary = kernel_summary(context, placed, kernel);
    let KernelSummary { name, cell, line, range, status, target, planner, spaces } = summary;
    let Details { tiles, specs, scenarios, uncompared, marks, assumes, compiler, .. } = kernel.details(context, placed);
    let mut diagnostics = kernel.diagnostics(context, placed);
    diagnostics.extend(confirmations::diagnostics(context, placed, kernel));
    diagnostics.retain_mut(|diagnostic| configured(context, diagnostic));
    let diagnostics = diagnostics.into_iter().map(|diagnostic| PlanDiagnostic {
        code: diagnostic.code.name(),
        severity: diagnostic.severity.name(),
        line: context.line(diagnostic.range.start),
        message: diagnostic.message,
    });
    KernelPlan {
        name,
        cell,
        line,
        range,
        status,
        reasons: kernel.reasons(),
        uncompared,
        marks,
        assumes,
        target,
        planner,
        compiler,
        spaces,
        tiles,
        specs,
        scenarios,
        confirmation: confirmations::of_kernel(context, placed, kernel),
        diagnostics: diagnostics.collect(),
    }
}

fn space_plan((memory, packing): (Memory, Option<SpacePacking>)) -> (&'static str, SpacePlan) {
    let Memory { name, used, peak, capacity } = memory;
    let bounds = match used {
        Amount::Exactly(_) => None,
        Amount::Between(low, high) => Some(Bounds { low, high }),
    };
    (name, SpacePlan { used: used.exactly(), bounds, capacity, peak, packing })
}

#[cfg(test)]
mod tests {
    use tilefit_python::diagnostics::{Code, Severity};

    use crate::Fixture;
    use crate::project::Config;

    /// What is said of the kernels of a file, by code, under these severities.
    fn codes(text: &str, severity: &[(Code, Option<Severity>)]) -> Vec<&'static str> {
        let config = Config { severity: severity.iter().copied().collect(), ..Config::default() };
        let plans = Fixture::new(text).with(config).plans();
        plans.iter().flat_map(|plan| &plan.diagnostics).map(|diagnostic| diagnostic.code).collect()
    }

    #[test]
    fn severities_hold_for_every_language() {
        let tlx = "import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as tlx\n\n@triton.jit\ndef k(a, B: tl.constexpr):\n    b = tlx.local_alloc((B, 64), tl.float16, 2)\n";
        assert_eq!(codes(tlx, &[]), ["not-modelled"]);
        assert!(codes(tlx, &[(Code::NotModelled, None)]).is_empty());
    }
}

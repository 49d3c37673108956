//! `tilefit/plannedFor`: what each kernel of a file is planned for.

use tilefit_analysis::Cancellable;

use crate::ext::{KernelPlannedFor, PlannedFor};
use crate::view::View;

pub fn planned_for(view: &View) -> Cancellable<PlannedFor> {
    let mut planned = view.analysis.planned_for(view.file)?;
    planned.retain(|kernel| view.has(kernel.range.start));
    let kernels = planned.into_iter().map(|kernel| KernelPlannedFor {
        range: view.range(kernel.range),
        kernel: kernel.kernel,
        target: kernel.target,
        planner: kernel.planner,
        assumed: kernel.is_assumed,
    });
    Ok(PlannedFor { kernels: kernels.collect(), version: view.version })
}

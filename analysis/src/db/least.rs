//! The least that a kernel takes, whatever the options are that its plan assumes.

use tilefit_gpu::assumed::Assumed;
use tilefit_gpu::scenario::Scenario;

use super::gpu::TracedKernel;
use super::memory_usage::{MemoryUsage, Taken};
use super::scenarios::scenarios;
use super::triton::{elements_of, laid_out, triton_kernel, usage};
use super::{Unit, possible};

/// The least bytes and columns that a kernel takes whatever the options are that its plan assumes; `None` where that is not known.
#[salsa::tracked(returns(clone))]
pub(crate) fn triton_least<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>) -> Option<Vec<Taken>> {
    let kernel = triton_kernel(db, unit).as_ref()?;
    let scenario = scenarios(db, unit).get(kernel.selected).cloned().unwrap_or_default();
    let usual = elements_of(&kernel.traced);
    let usage = |scenario: &Scenario| Some(usage(&laid_out(db, unit, kernel.dialect, scenario, &usual)?));
    least(&scenario, &kernel.traced, &usage)
}

/// Stages of which one more than one may overlap a loop, and more take no less.
const FEWEST_STAGES: [u32; 2] = [1, 2];

/// The least of a kernel over the options that its plan assumes under a scenario.
pub(super) fn least(
    scenario: &Scenario,
    traced: &TracedKernel,
    usage: &dyn Fn(&Scenario) -> Option<MemoryUsage>,
) -> Option<Vec<Taken>> {
    let mut ways = vec![scenario.clone()];
    for assumed in &traced.assumed {
        let with = |set: fn(&mut Scenario, u32), values: &[u32]| -> Vec<Scenario> {
            let one = |way: &Scenario, value: u32| {
                let mut way = way.clone();
                set(&mut way, value);
                way
            };
            ways.iter().flat_map(|way| values.iter().map(move |&value| one(way, value))).collect()
        };
        ways = match assumed {
            Assumed::Device(..) | Assumed::Compiler(_) => continue,
            Assumed::Warps(_) => with(|way, warps| way.num_warps = Some(warps), &[1, 2, 4, 8, 16, 32]),
            Assumed::Stages(_) => with(|way, stages| way.num_stages = Some(stages), &FEWEST_STAGES),
            Assumed::Number(..) | Assumed::Elements(..) | Assumed::Large(_) | Assumed::Launch(_) => return None,
        };
    }
    if traced.steps.saturating_mul(ways.len() as u64) > possible::STEPS {
        return None;
    }
    let all: Vec<MemoryUsage> = ways.iter().map(usage).collect::<Option<_>>()?;
    let mut least = all.first()?.memories.clone();
    for taken in &mut least {
        taken.amount.0 = all.iter().map(|it| it.amount(taken.space).0).min().unwrap_or(0);
    }
    Some(least)
}

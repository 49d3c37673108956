//! The memory of a kernel under launches that somebody asks about.

use tilefit_gpu::device::Arch;
use tilefit_gpu::scenario::{self, Scenario};
use tilefit_python::work::within;

use super::gpu::TracedKernel;
use super::memory_usage::MemoryUsage;
use super::possible::Surveying;
use super::scenarios::scenarios_on;
use super::triton::{Elements, laid_out, triton_dialect};
use super::{Unit, config, syntax};

/// What the code says of a launch that a question leaves open may be so many things; of more nothing is said.
const MOST_WAYS: usize = 32;

/// The memory under each launch; `None`: it is not known. Nothing where there is no kernel.
pub(crate) fn usage_of_launches<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    arch: Arch,
    launches: &[Scenario],
) -> Option<Vec<Option<MemoryUsage>>> {
    let surveying = Surveying::new(db, unit, triton_dialect(db, unit)?);
    let usage = |scenario: &Scenario| {
        surveying.starts_again();
        within(config(db).limits, || surveying.estimate(scenario)).ok().flatten().map(|estimate| estimate.usage)
    };
    let of_launch = |launch: &Scenario| {
        let all = completed(db, unit, arch, launch);
        let (first, rest) = all.split_first().filter(|(_, rest)| rest.len() < MOST_WAYS)?;
        rest.iter().try_fold(usage(first)?, |known, other| Some(known.or(&usage(other)?)))
    };
    Some(launches.iter().map(of_launch).collect())
}

/// The kernel as it is laid out under a launch.
pub(crate) fn laid_out_for_launch<'db>(
    db: &'db dyn salsa::Database,
    unit: Unit<'db>,
    arch: Arch,
    launch: &Scenario,
) -> Option<TracedKernel> {
    let all = completed(db, unit, arch, launch);
    let [only] = all.as_slice() else { return None };
    laid_out(db, unit, triton_dialect(db, unit)?, only, &Elements::new())
}

/// A launch with what the code says of what it leaves open.
fn completed<'db>(db: &'db dyn salsa::Database, unit: Unit<'db>, arch: Arch, launch: &Scenario) -> Vec<Scenario> {
    let launch = Scenario { arch: Some(arch), compiler: launch.compiler.or(config(db).triton), ..launch.clone() };
    let ast = syntax(db, unit);
    let params = scenario::function(ast).map_or(&[][..], |function| &function.params);
    let says = |name: &str| launch.values.contains_key(name) || launch.arguments.contains_key(name);
    if params.iter().all(|param| param.default.is_some() || ast.name(param.name).is_some_and(says)) {
        return vec![launch];
    }
    let mut all: Vec<Scenario> = Vec::new();
    for scenario in scenario::combine(std::slice::from_ref(&launch), scenarios_on(db, unit, arch).to_vec()) {
        if !all.contains(&scenario) {
            all.push(scenario);
        }
    }
    all
}

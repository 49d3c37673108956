//! Time to plan each kernel of `tests/conformance/pypto`: passes and memory pipeline, each alone, for every planner.

use std::path::Path;
use std::time::{Duration, Instant};

use tilefit_pypto::ir::Kernel;
use tilefit_pypto::lower::Module;
use tilefit_pypto::memory;
use tilefit_pypto::passes;
use tilefit_pypto::target::{Planner, Target};

const ROUNDS: usize = 20;

fn kernels() -> Vec<Kernel> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/pypto");
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("the conformance kernels").flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "py"));
    paths.sort();
    let mut kernels = Vec::new();
    for path in paths {
        kernels.extend(Module::new(&std::fs::read_to_string(path).expect("a readable kernel")).kernels());
    }
    kernels
}

/// The least time of some rounds.
fn time(mut work: impl FnMut()) -> Duration {
    let round = |_| {
        let start = Instant::now();
        work();
        start.elapsed()
    };
    (0..ROUNDS).map(round).min().unwrap_or_default()
}

fn report(what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: f64| times.get(((times.len() - 1) as f64 * share) as usize).copied().unwrap_or_default();
    println!("{what:18} p50 {:>9.1?}   p95 {:>9.1?}   max {:>9.1?}", at(0.5), at(0.95), at(1.0));
}

fn main() {
    let target = Target::Ascend910b;
    let kernels = kernels();
    let prepare = |kernel: &Kernel| passes::prepare(kernel.clone(), target.into(), Planner::Sequential);
    report("passes", kernels.iter().map(|kernel| time(|| drop(prepare(kernel)))).collect());
    let prepared: Vec<Kernel> = kernels.iter().flat_map(prepare).collect();
    for planner in Planner::ALL {
        let plan = |kernel: &Kernel| time(|| drop(memory::plan(kernel, target, planner)));
        report(planner.name(), prepared.iter().map(plan).collect());
    }
    let tiles: usize = prepared.iter().map(|kernel| kernel.vars.len()).sum();
    println!("{} kernels, {} variables on average", prepared.len(), tiles / prepared.len().max(1));
}

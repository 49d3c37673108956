//! What an edit waits for at most: kernels with the tiles of MiniMalloc's instances, in memories that are too small for most packings.
//! `cargo bench -p tilefit-tests --bench hard_kernels`

use std::collections::BTreeMap;
use std::time::Instant;

use tilefit_analysis::AnalysisHost;
use tilefit_analysis::project::Config;
use tilefit_pypto::target::{Planner, Space};
use tilefit_syntax::Document;
use tilefit_tests::kernels;

fn main() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/benchmarks/minimalloc");
    let entries = std::fs::read_dir(folder).expect("the instances").flatten().map(|entry| entry.path());
    let mut paths: Vec<_> = entries.filter(|path| path.to_string_lossy().ends_with(".1048576.csv")).collect();
    paths.sort();
    println!("diagnostics of one kernel, milliseconds, best of 3: by planner and by capacity in bytes");
    let capacities = [900_000, 1_000_000, 1_048_576, 1_200_000];
    let columns: Vec<String> = capacities.iter().map(|capacity| format!("{capacity:>10}")).collect();
    println!("{:>3} {:>8} {} {:>10}", "", "tiles", columns.concat(), "planner");
    let mut most: f64 = 0.0;
    for path in paths {
        let csv = std::fs::read_to_string(&path).expect("a readable file");
        let source = kernels::of_problem(&csv);
        let name =
            path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.get(..1)).unwrap_or("?").to_owned();
        for planner in [Planner::Auto, Planner::Packed] {
            let times: Vec<f64> = capacities.iter().map(|&capacity| time(&source, planner, capacity)).collect();
            most = times.iter().copied().fold(most, f64::max);
            let columns: String = times.iter().map(|time| format!("{time:>10.1}")).collect();
            println!("{name:>3} {:>8} {columns} {:>10}", csv.lines().count() - 1, planner.name());
        }
    }
    println!("at most {most:.1}");
}

fn time(source: &str, planner: Planner, capacity: u64) -> f64 {
    let run = |_| {
        let mut host = AnalysisHost::new();
        let capacity = BTreeMap::from([(Space::Vec, capacity)]);
        host.set_config(Config { planner, capacity, ..Config::default() });
        let file = host.file_id("kernel.py");
        let document = Document::new(source);
        let start = Instant::now();
        host.set_document(file, document);
        let diagnosis = host.snapshot().diagnosis(file).expect("nothing is edited");
        assert!(diagnosis.diagnostics.iter().all(|it| it.code != tilefit_python::diagnostics::Code::NotModelled));
        start.elapsed().as_secs_f64() * 1e3
    };
    (0..3).map(run).fold(f64::INFINITY, f64::min)
}

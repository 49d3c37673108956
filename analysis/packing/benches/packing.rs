//! How fast packing is and how low it gets. Prints tables, asserts nothing: `cargo bench -p tilefit-analysis --bench packing`,
//! with `-- exact small` for only these tables.
//!
//! One thread. Times are wall time, the best of several runs where a table says so: on a busy machine that is an upper limit
//! of the CPU time.

use std::time::{Duration, Instant};

use tilefit_packing::*;

const CAPACITY: u64 = 1_048_576;

const MINIMALLOC: [(&str, &str); 11] = [
    ("A", include_str!("../../../tests/benchmarks/minimalloc/A.1048576.csv")),
    ("B", include_str!("../../../tests/benchmarks/minimalloc/B.1048576.csv")),
    ("C", include_str!("../../../tests/benchmarks/minimalloc/C.1048576.csv")),
    ("D", include_str!("../../../tests/benchmarks/minimalloc/D.1048576.csv")),
    ("E", include_str!("../../../tests/benchmarks/minimalloc/E.1048576.csv")),
    ("F", include_str!("../../../tests/benchmarks/minimalloc/F.1048576.csv")),
    ("G", include_str!("../../../tests/benchmarks/minimalloc/G.1048576.csv")),
    ("H", include_str!("../../../tests/benchmarks/minimalloc/H.1048576.csv")),
    ("I", include_str!("../../../tests/benchmarks/minimalloc/I.1048576.csv")),
    ("J", include_str!("../../../tests/benchmarks/minimalloc/J.1048576.csv")),
    ("K", include_str!("../../../tests/benchmarks/minimalloc/K.1048576.csv")),
];

const TABLES: [(&str, fn()); 6] = [
    ("exact", exact),
    ("lowest", lowest),
    ("kernels", kernels),
    ("orders", orders),
    ("small", small),
    ("scaling", scaling),
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    for (name, table) in TABLES {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            table();
        }
    }
}

fn time<T>(run: impl FnOnce() -> T) -> (T, Duration) {
    let before = Instant::now();
    let answer = run();
    (answer, before.elapsed())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn minimalloc() -> impl Iterator<Item = (&'static str, Problem)> {
    MINIMALLOC.iter().map(|&(name, text)| (name, csv::read(text, CAPACITY).expect("a benchmark is well-formed")))
}

/// MiniMalloc's instances at their capacity: all steps of the packer, one thread.
fn exact() {
    println!(
        "MiniMalloc's instances at capacity {CAPACITY}: bound, orders, exact search, validation; milliseconds, best of 3"
    );
    println!("{:>3} {:>7} {:>8} {:>8} {:>8} {:>8}  verdict", "", "buffers", "bound", "height", "nodes", "ms");
    let mut sum = Duration::ZERO;
    for (name, problem) in minimalloc() {
        let run = || time(|| pack(&problem, &Budget::new(Goal::Fit, 2_000_000)));
        let (outcome, best) = (0..3).map(|_| run()).min_by_key(|(_, time)| *time).expect("three runs");
        sum += best;
        print_outcome(name, &problem, &outcome, best);
    }
    println!("{:>3} {:>46.1}\n", "sum", millis(sum));
}

fn print_outcome(name: &str, problem: &Problem, outcome: &PackResult, time: Duration) {
    let (count, bound, height) = (problem.buffers().len(), outcome.bound.bytes, outcome.placement.height);
    let nodes = outcome.nodes;
    println!("{name:>3} {count:>7} {bound:>8} {height:>8} {nodes:>8} {:>9.1}  {:?}", millis(time), outcome.verdict);
}

/// The lowest packing that a budget finds, and what is proved about it.
fn lowest() {
    println!("MiniMalloc's instances as low as 400,000 nodes go, one run");
    println!("{:>3} {:>7} {:>8} {:>8} {:>8} {:>9}  verdict", "", "buffers", "bound", "height", "nodes", "ms");
    for (name, problem) in minimalloc() {
        let (outcome, time) = time(|| pack(&problem, &Budget::new(Goal::Lowest, 400_000)));
        print_outcome(name, &problem, &outcome, time);
    }
    println!();
}

/// The buffer sets of real kernels.
fn kernels() {
    println!("PyPTO kernels, lowest packing within 20,000 nodes; microseconds, best of 5");
    println!(
        "{:>12} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "buffers", "capacity", "shared", "bound", "height", "nodes", "us"
    );
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/benchmarks/pypto");
    let files = std::fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|extension| extension == "csv")).collect();
    files.sort();
    for path in files {
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        let capacity = if name.contains("vec") { 188_416 } else { 65_536 };
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let problem = csv::read(&text, capacity).expect("a benchmark is well-formed");
        let run = || time(|| pack(&problem, &Budget::new(Goal::Lowest, 20_000)));
        let (outcome, best) = (0..5).map(|_| run()).min_by_key(|(_, time)| *time).expect("five runs");
        let shared =
            Conflicts::of(&problem, MOST_PAIRS).map_or(0, |conflicts| share_then_bump(&problem, &conflicts).height);
        let (count, bound, height) = (problem.buffers().len(), outcome.bound.bytes, outcome.placement.height);
        let micros = best.as_secs_f64() * 1e6;
        println!(
            "{name:>12} {count:>7} {capacity:>8} {shared:>8} {bound:>8} {height:>8} {:>8} {micros:>8.1}",
            outcome.nodes
        );
    }
    println!();
}

/// First-fit heights (`docs/packing.md`, "MiniMalloc's instances").
fn orders() {
    println!("first-fit on MiniMalloc's instances, heights in bytes at capacity {CAPACITY}");
    println!(
        "{:>2} {:>7} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "", "buffers", "bound", "input", "size", "lifetime", "start", "area", "shared"
    );
    for (name, problem) in minimalloc() {
        let height = |order| first_fit(&problem, order).height;
        let [input, size, lifetime, start, area] = Order::ALL.map(height);
        let shared =
            Conflicts::of(&problem, MOST_PAIRS).map_or(0, |conflicts| share_then_bump(&problem, &conflicts).height);
        let (count, bound) = (problem.buffers().len(), liveness::bound(&problem).bytes);
        println!("{name:>2} {count:>7} {bound:>8} {input:>8} {size:>8} {lifetime:>8} {start:>8} {area:>8} {shared:>8}");
    }
    println!();
}

/// xorshift64*, so that every run packs the same problems.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % limit
    }

    /// About 20 buffers live at any time, for 1 to 40 ticks each, of 256 bytes to 16 KB.
    fn problem(&mut self, count: u64, capacity: u64) -> Problem {
        let buffers = (0..count).map(|at| {
            let start = self.below(count.max(20));
            Buffer::new(at.to_string(), 256 * (1 + self.below(64)), start, start + 1 + self.below(40)).aligned(32)
        });
        Problem::new(Spec { capacity, buffers: buffers.collect(), ..Spec::default() })
            .expect("a random problem is well-formed")
    }
}

/// What an edit of a kernel costs: bound, orders and validation, no exact search.
fn small() {
    println!(
        "bound + five orders + validation on 1,000 random problems of each size, microseconds, each the best of 3"
    );
    println!("{:>7} {:>8} {:>8} {:>8} {:>8}", "buffers", "p50", "p90", "p99", "max");
    let mut random = Random(1);
    let mut all: Vec<Duration> = Vec::new();
    for count in [10, 20, 50, 100, 200] {
        let mut times: Vec<Duration> = (0..1000)
            .map(|_| {
                let problem = random.problem(count, 1);
                let run = || time(|| pack(&problem, &Budget::new(Goal::Lowest, 0)));
                (0..3).map(|_| run().1).min().unwrap_or_default()
            })
            .collect();
        print_quantiles(&count.to_string(), &mut times);
        all.append(&mut times);
    }
    print_quantiles("all", &mut all);
    println!();
}

fn print_quantiles(name: &str, times: &mut [Duration]) {
    times.sort_unstable();
    let quantile = |q: usize| times[(times.len() - 1) * q / 1000].as_secs_f64() * 1e6;
    println!("{name:>7} {:>8.1} {:>8.1} {:>8.1} {:>8.1}", quantile(500), quantile(900), quantile(990), quantile(1000));
}

fn scaling() {
    println!("scaling, milliseconds, best of 4");
    println!(
        "{:>8} {:>8} {:>8} {:>8} {:>8} {:>10} {:>8} {:>8}",
        "buffers", "bound", "sweep", "validate", "pack", "height", "of bound", "size"
    );
    let mut random = Random(7);
    for count in [1_000, 10_000, 100_000, 1_000_000] {
        let problem = random.problem(count, 1);
        let best = |run: &dyn Fn()| (0..4).map(|_| time(run).1).min().map_or(0.0, millis);
        let (placement, bound) = (sweep(&problem), liveness::bound(&problem));
        let tall = problem.with_capacity(placement.height);
        println!(
            "{count:>8} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {:>10} {:>8.3} {:>8.2}",
            best(&|| drop(liveness::bound(&problem))),
            best(&|| drop(sweep(&problem))),
            best(&|| assert_eq!(validate(&tall, &placement.offsets), Ok(()))),
            best(&|| drop(pack(&problem, &Budget::new(Goal::Lowest, 0)))),
            placement.height,
            placement.height as f64 / bound.bytes as f64,
            best(&|| drop(first_fit(&problem, Order::Size))),
        );
    }
}

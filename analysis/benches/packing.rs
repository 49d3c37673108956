//! How fast packing is and how low it gets. Prints tables, asserts nothing: `cargo bench -p tilelens-analysis --bench packing`.
//!
//! One thread. Times are wall time, the best of several runs where a table says so: on a busy machine that is an upper limit
//! of the CPU time.

use std::time::{Duration, Instant};

use tilelens_analysis::memory::packing::*;

const CAPACITY: u64 = 1_048_576;

const MINIMALLOC: [(&str, &str); 11] = [
    ("A", include_str!("../../tests/benchmarks/minimalloc/A.1048576.csv")),
    ("B", include_str!("../../tests/benchmarks/minimalloc/B.1048576.csv")),
    ("C", include_str!("../../tests/benchmarks/minimalloc/C.1048576.csv")),
    ("D", include_str!("../../tests/benchmarks/minimalloc/D.1048576.csv")),
    ("E", include_str!("../../tests/benchmarks/minimalloc/E.1048576.csv")),
    ("F", include_str!("../../tests/benchmarks/minimalloc/F.1048576.csv")),
    ("G", include_str!("../../tests/benchmarks/minimalloc/G.1048576.csv")),
    ("H", include_str!("../../tests/benchmarks/minimalloc/H.1048576.csv")),
    ("I", include_str!("../../tests/benchmarks/minimalloc/I.1048576.csv")),
    ("J", include_str!("../../tests/benchmarks/minimalloc/J.1048576.csv")),
    ("K", include_str!("../../tests/benchmarks/minimalloc/K.1048576.csv")),
];

fn main() {
    orders();
    small();
    scaling();
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

/// First-fit heights, to compare with `reference/packing.md` section 1.
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
    println!("bound + five orders + validation on random problems, microseconds of wall time");
    println!("{:>7} {:>8} {:>8} {:>8} {:>8}", "buffers", "p50", "p90", "p99", "max");
    let mut random = Random(1);
    let mut all: Vec<Duration> = Vec::new();
    for count in [10, 20, 50, 100, 200] {
        let mut times: Vec<Duration> = (0..1000)
            .map(|_| {
                let problem = random.problem(count, 1);
                let before = Instant::now();
                let outcome = pack(&problem, &Budget::new(Goal::Lowest, 0));
                assert!(outcome.placement.height >= outcome.floor);
                before.elapsed()
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

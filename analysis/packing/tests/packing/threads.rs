//! The same bytes with any number of threads: nothing is shared, and nothing asks who runs it.

use tilefit_packing::*;

const INSTANCE: &str = include_str!("../../../../tests/benchmarks/minimalloc/C.1048576.csv");

#[test]
fn one_thread_and_many_find_the_same() {
    let problem = csv::read(INSTANCE, 1_048_576).unwrap();
    let soft: Vec<(BufferIx, BufferIx)> = problem.indices().zip(problem.indices().skip(40)).collect();
    let run = || {
        let packed = pack(&problem, &Budget::new(Goal::Lowest, 3_000));
        let relaxed = pack_relaxing(&problem.with_capacity(1 << 21), &soft, &Budget::new(Goal::Fit, 500));
        (packed, relaxed)
    };
    let alone = run();
    for threads in [2, 8] {
        let together: Vec<_> = std::thread::scope(|scope| {
            let started: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
            started.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(together.iter().all(|found| *found == alone), "{threads} threads");
    }
}

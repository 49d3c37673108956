//! The exact search against plain enumeration of every offset.
//!
//! `TILEFIT_PACKING_CASES=10000 cargo test --release -p tilefit-packing brute_force` runs as many of each kind.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tilefit_packing::*;

use crate::properties::problems;

fn cases() -> u32 {
    std::env::var("TILEFIT_PACKING_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(150)
}

/// The same problems in every run.
fn sample<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, check: impl Fn(T)) {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    for _ in 0..cases() {
        check(strategy.new_tree(&mut runner).unwrap().current());
    }
}

/// The lowest height of all packings.
fn optimum(problem: &Problem) -> u64 {
    let bound = liveness::bound(problem).bytes;
    (bound..).find(|&height| places_from(problem, height, &mut Vec::new())).unwrap()
}

/// Whether the buffers after the first, which are at `offsets`, can be placed below `height`.
fn places_from(problem: &Problem, height: u64, offsets: &mut Vec<u64>) -> bool {
    let ix = BufferIx(offsets.len() as u32);
    let Some(buffer) = problem.buffers().get(ix.index()) else { return true };
    for offset in 0..=height.saturating_sub(buffer.size) {
        let top = offset + buffer.size;
        let clear = |start: u64, end: u64| top <= start || end <= offset;
        let possible = top <= height
            && offset % buffer.align == 0
            && buffer.fixed.is_none_or(|fixed| fixed == offset)
            && problem.reserved().iter().all(|range| clear(range.start, range.end))
            && (0u32..).map(BufferIx).zip(offsets.iter()).all(|(other, &placed)| {
                !problem.conflict(ix, other) || clear(placed, placed + problem.buffer(other).size)
            });
        if possible {
            offsets.push(offset);
            if places_from(problem, height, offsets) {
                return true;
            }
            offsets.pop();
        }
    }
    false
}

fn check(problem: &Problem) {
    let optimum = optimum(problem);
    let lowest = pack(problem, &Budget::new(Goal::Lowest, 1_000_000));
    assert_eq!(lowest.placement.height, optimum, "{problem:?}");
    assert!(lowest.lower_bound == optimum, "lower bound {} of {optimum}: {problem:?}", lowest.lower_bound);
    validate(&problem.with_capacity(optimum), &lowest.placement.offsets).unwrap();

    let tight = pack(&problem.with_capacity(optimum), &Budget::new(Goal::Fit, 1_000_000));
    assert!(matches!(tight.verdict, Verdict::Fits { .. }), "{:?} {problem:?}", tight.verdict);

    let short = problem.with_capacity(optimum - 1);
    let outcome = pack(&short, &Budget::new(Goal::Fit, 1_000_000));
    let live = problem.height_around_reserved(lowest.bound.bytes);
    let expected = if live > optimum - 1 { "over" } else { "fragmented" };
    match outcome.verdict {
        Verdict::OverCapacity { overshoot } => assert!(expected == "over" && overshoot > 0, "{problem:?}"),
        Verdict::Fragmented => assert_eq!(expected, "fragmented", "{problem:?}"),
        verdict => panic!("{verdict:?} {problem:?}"),
    }
    let core = explain::irreducible(&short, 1_000_000, None).unwrap();
    assert!(core.irreducible);
    let packs = |keep: &[BufferIx]| places_from(&short.subset(keep), short.capacity(), &mut Vec::new());
    assert!(!packs(&core.buffers), "{core:?} {problem:?}");
    for left_out in &core.buffers {
        let others: Vec<BufferIx> = core.buffers.iter().copied().filter(|ix| ix != left_out).collect();
        assert!(packs(&others), "{core:?} without {left_out:?} {problem:?}");
    }
}

fn plain(buffers: Vec<(u64, u64, u64)>) -> Problem {
    let buffers = buffers.into_iter().enumerate();
    let buffers = buffers.map(|(at, (start, length, size))| Buffer::new(at.to_string(), size, start, start + length));
    Problem::new(Spec { capacity: 8, buffers: buffers.collect(), ..Spec::default() }).unwrap()
}

#[test]
fn small_plain_problems() {
    sample(prop::collection::vec((0u64..7, 1u64..5, 1u64..6), 3..9), |buffers| check(&plain(buffers)));
}

#[test]
fn small_problems_with_everything() {
    sample(problems(6), |problem| {
        // Enumeration is only quick on low ground.
        if pack(&problem, &Budget::new(Goal::Lowest, 0)).placement.height <= 40 {
            check(&problem);
        }
    });
}

/// Start, length and size of `gap-above-bound-7`, whose bound is 8 and whose optimum 9.
const GAP: [(u64, u64, u64); 7] = [(1, 2, 4), (5, 1, 3), (4, 2, 4), (3, 2, 2), (1, 1, 4), (2, 3, 2), (2, 2, 1)];

#[test]
fn mutants_of_gap_above_bound_7() {
    let filler = (0u64..6, 1u64..4, 1u64..4);
    let change = (0usize..8, 0usize..3, prop::sample::select(vec![-1i64, 1]));
    let above = std::cell::Cell::new(0u32);
    sample((filler, prop::collection::vec(change, 0..2)), |(filler, changes)| {
        let mut buffers: Vec<(u64, u64, u64)> = GAP.into_iter().chain([filler]).collect();
        for (at, what, by) in changes {
            let (start, length, size) = &mut buffers[at];
            let (field, least) = [(start, 0), (length, 1), (size, 1)].into_iter().nth(what).unwrap();
            *field = field.saturating_add_signed(by).max(least);
        }
        let problem = plain(buffers);
        check(&problem);
        above.set(above.get() + u32::from(optimum(&problem) > liveness::bound(&problem).bytes));
    });
    assert!(above.get() * 20 > cases(), "only {} of {} mutants have a gap above the bound", above.get(), cases());
}

/// Two copies of a hard part beside each other, the second of which cannot be packed: what was packed in the first must be
/// undone before the search goes back behind both.
#[test]
fn parts_that_fall_apart_are_undone() {
    let joined = |shift: u64, tall: u64| {
        let copy = GAP.map(|(start, length, size)| (start + shift, length, size));
        let bridge = (1, shift + 5, tall);
        GAP.into_iter().chain(copy).chain([bridge]).collect::<Vec<_>>()
    };
    for tall in 1..4 {
        let problem = plain(joined(6, tall));
        let outcome = pack(&problem, &Budget::new(Goal::Lowest, 1_000_000));
        assert_eq!((outcome.placement.height, outcome.lower_bound), (9 + tall, 9 + tall));
    }
}

/// The fewest soft constraints that any packing within the capacity violates; `None` where none fits.
fn fewest_violated(problem: &Problem, soft: &[(BufferIx, BufferIx)]) -> Option<usize> {
    let all = (0u32..1 << soft.len()).filter(|satisfied| {
        let pairs = (0..soft.len()).filter(|at| satisfied >> at & 1 == 1).map(|at| soft[at]);
        let with = problem.with_no_alias(pairs);
        places_from(&with, with.capacity(), &mut Vec::new())
    });
    all.map(|satisfied| soft.len() - satisfied.count_ones() as usize).min()
}

#[test]
fn few_soft_constraints_are_violated() {
    let soft = prop::collection::vec((0u32..6, 0u32..6), 1..5);
    let (optimal, violated) = (std::cell::Cell::new(0), std::cell::Cell::new((0, 0)));
    sample((problems(6), soft), |(problem, soft)| {
        let count = problem.buffers().len() as u32;
        let mut soft: Vec<_> = soft.iter().map(|(a, b)| (BufferIx(a % count), BufferIx(b % count))).collect();
        soft.retain(|&(a, b)| a != b && !problem.conflict(a, b));
        let problem = problem.with_capacity(problem.capacity().min(24));
        let relaxed = pack_relaxing(&problem, &soft, &Budget::new(Goal::Lowest, 10_000));
        let fewest = fewest_violated(&problem, &soft);
        assert_eq!(fewest.is_some(), matches!(relaxed.outcome.verdict, Verdict::Fits { .. }), "{problem:?}");
        if let Some(fewest) = fewest {
            assert!(relaxed.relaxed.len() >= fewest);
            optimal.set(optimal.get() + usize::from(relaxed.relaxed.len() == fewest));
            violated.set((violated.get().0 + relaxed.relaxed.len(), violated.get().1 + fewest));
        }
    });
    let (found, fewest) = violated.get();
    println!("{found} soft constraints violated where {fewest} need be; the fewest in {} problems", optimal.get());
    assert!(found <= fewest + fewest / 10, "{found} of {fewest}");
}

//! What holds for every problem.

use proptest::prelude::*;
use tilefit_packing::*;

/// A problem of up to `most` buffers with everything in it: gaps, alignment, fixed offsets, reserved ranges, no-alias pairs.
/// What contradicts itself (fixed offsets that overlap) is left out.
pub(crate) fn problems(most: usize) -> impl Strategy<Value = Problem> {
    let interval = (0u64..30, 1u64..12).prop_map(|(start, length)| Interval::new(start, start + length));
    let lifetime = prop_oneof![
        4 => interval.clone().prop_map(|interval| Lifetime::union([interval])),
        1 => prop::collection::vec(interval, 2..4).prop_map(Lifetime::union),
    ];
    let buffer =
        (1u64..20, lifetime, prop::sample::select(vec![1u64, 1, 1, 2, 4, 3]), prop::option::weighted(0.05, 0u64..20));
    let reserved = prop::collection::vec((0u64..40, 1u64..6), 0..3);
    let pairs = prop::collection::vec((0..most as u32, 0..most as u32), 0..4);
    (prop::collection::vec(buffer, 1..most), reserved, pairs, 8u64..80).prop_map(
        |(buffers, reserved, pairs, capacity)| {
            let mut spec = Spec { capacity, ..Spec::default() };
            spec.reserved = reserved.iter().map(|&(start, size)| start..start + size).collect();
            for (at, (size, lifetime, align, fixed)) in buffers.into_iter().enumerate() {
                let free = Buffer { id: format!("b{at}"), size, lifetime, align, fixed: None };
                let mut pinned = spec.clone();
                pinned.buffers.push(Buffer { fixed: fixed.map(|offset| offset * align), ..free.clone() });
                let agrees = Problem::new(pinned.clone()).is_ok();
                if agrees { spec = pinned } else { spec.buffers.push(free) }
            }
            let count = spec.buffers.len() as u32;
            for (a, b) in pairs {
                let (a, b) = (BufferIx(a % count), BufferIx(b % count));
                let mut apart = spec.clone();
                apart.no_alias.push((a, b));
                if Problem::new(apart.clone()).is_ok() {
                    spec = apart;
                }
            }
            Problem::new(spec).unwrap()
        },
    )
}

fn assert_valid(problem: &Problem, placement: &Placement) {
    assert_eq!(validate(&problem.with_capacity(placement.height), &placement.offsets), Ok(()));
}

/// The rule of a packing said once more, pair by pair.
fn is_packing(problem: &Problem, offsets: &[u64]) -> bool {
    let range = |ix: BufferIx| (offsets[ix.index()], offsets[ix.index()] + problem.buffer(ix).size);
    let apart = |(a, b): (u64, u64), (c, d): (u64, u64)| b <= c || d <= a;
    problem.indices().all(|ix| {
        let buffer = problem.buffer(ix);
        let (offset, top) = range(ix);
        offset % buffer.align == 0
            && buffer.fixed.is_none_or(|fixed| fixed == offset)
            && top <= problem.capacity()
            && problem.reserved().iter().all(|reserved| apart((offset, top), (reserved.start, reserved.end)))
            && problem.indices().all(|other| {
                let meet =
                    buffer.lifetime.intervals().any(|a| problem.buffer(other).lifetime.intervals().any(|b| a.meets(b)));
                let pair = problem.no_alias().contains(&(ix.min(other), ix.max(other)));
                ix == other || !(meet || pair) || apart(range(ix), range(other))
            })
    })
}

proptest! {
    #[test]
    fn heuristics_give_packings(problem in problems(24)) {
        let conflicts = Conflicts::of(&problem, MOST_PAIRS).unwrap();
        for order in Order::ALL {
            assert_valid(&problem, &first_fit(&problem, order));
        }
        assert_valid(&problem, &sweep(&problem));
        assert_valid(&problem, &bump(&problem));
        assert_valid(&problem, &share_then_bump(&problem, &conflicts));
    }

    #[test]
    fn the_sweep_is_first_fit_by_start(problem in problems(40)) {
        let plain = problem.buffers().iter().map(|buffer| {
            let lifetime = Lifetime::new(buffer.lifetime.start(), buffer.lifetime.end());
            Buffer { lifetime, fixed: None, ..buffer.clone() }
        });
        let spec = Spec { buffers: plain.collect(), reserved: problem.reserved().to_vec(), ..Spec::default() };
        let problem = Problem::new(spec).unwrap();
        let conflicts = Conflicts::of(&problem, MOST_PAIRS).unwrap();
        let slow = first_fit_in(&problem, &conflicts, &Order::Start.sorted(&problem));
        prop_assert_eq!(sweep(&problem), slow);
    }

    #[test]
    fn the_validator_agrees_with_the_rule(problem in problems(8), seed in prop::collection::vec(0u64..40, 8)) {
        let offsets: Vec<u64> = problem
            .buffers()
            .iter()
            .zip(seed)
            .map(|(buffer, offset)| buffer.fixed.unwrap_or(offset.next_multiple_of(buffer.align)))
            .collect();
        prop_assert_eq!(validate(&problem, &offsets).is_ok(), is_packing(&problem, &offsets));
        let nudged: Vec<u64> = offsets.iter().map(|offset| offset + 1).collect();
        prop_assert_eq!(validate(&problem, &nudged).is_ok(), is_packing(&problem, &nudged));
    }

    #[test]
    fn conflicts_are_the_pairs_in_conflict(problem in problems(24)) {
        let conflicts = Conflicts::of(&problem, MOST_PAIRS).unwrap();
        for ix in problem.indices() {
            let mut found: Vec<BufferIx> = conflicts.neighbours(ix).collect();
            found.sort();
            let expected: Vec<BufferIx> =
                problem.indices().filter(|&other| other != ix && problem.conflict(ix, other)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_bound_is_the_most_live_at_an_instant(problem in problems(24)) {
        let bound = liveness::bound(&problem);
        let live = |time: u64| problem.buffers().iter().filter(move |b| b.lifetime.contains(time)).map(|b| b.size).sum::<u64>();
        prop_assert_eq!(bound.bytes, (0..50).map(live).max().unwrap());
        for peak in &bound.peaks {
            prop_assert_eq!(peak.bytes, live(peak.plateau.start));
            prop_assert_eq!(peak.bytes, live(peak.plateau.end - 1));
        }
        let first = (0..50).find(|&time| live(time) == bound.bytes).unwrap();
        prop_assert!(bound.peaks[0].plateau.contains(first));
    }

    #[test]
    fn never_taller_than_what_planners_do(problem in problems(24)) {
        let outcome = pack(&problem, &Budget::new(Goal::Lowest, 0));
        assert_valid(&problem, &outcome.placement);
        let conflicts = Conflicts::of(&problem, MOST_PAIRS).unwrap();
        let height = outcome.placement.height;
        prop_assert!(outcome.lower_bound <= height);
        prop_assert!(height <= bump(&problem).height);
        prop_assert!(height <= share_then_bump(&problem, &conflicts).height);
        for order in Order::ALL {
            prop_assert!(height <= first_fit(&problem, order).height);
        }
    }

    #[test]
    fn the_same_problem_gets_the_same_bytes(problem in problems(24), nodes in 0u64..2_000) {
        let budget = Budget::new(Goal::Lowest, nodes);
        let again = std::thread::scope(|threads| {
            let all: Vec<_> = (0..3).map(|_| threads.spawn(|| pack(&problem, &Budget::new(Goal::Lowest, nodes)))).collect();
            all.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        let here = pack(&problem, &budget);
        prop_assert!(here.nodes <= nodes);
        prop_assert!(again.iter().all(|outcome| *outcome == here));
    }

    #[test]
    fn more_nodes_are_never_worse(problem in problems(24)) {
        let few = pack(&problem, &Budget::new(Goal::Lowest, 50));
        let many = pack(&problem, &Budget::new(Goal::Lowest, 5_000));
        assert_valid(&problem, &many.placement);
        let guess = pack(&problem, &Budget::new(Goal::Lowest, 0)).placement.height;
        prop_assert!(many.placement.height <= guess && few.placement.height <= guess);
        prop_assert!(many.lower_bound <= few.placement.height && few.lower_bound <= many.placement.height);
    }

    #[test]
    fn soft_constraints_are_satisfied_or_named(problem in problems(10), soft in prop::collection::vec((0u32..10, 0u32..10), 0..5)) {
        let count = problem.buffers().len() as u32;
        let soft = soft.into_iter().map(|(a, b)| (BufferIx(a % count), BufferIx(b % count)));
        let soft: Vec<(BufferIx, BufferIx)> = soft.filter(|(a, b)| a != b).collect();
        let budget = Budget::new(Goal::Fit, 2_000);
        let relaxed = pack_relaxing(&problem, &soft, &budget);
        let alone = pack(&problem, &budget);
        let fits = |outcome: &PackResult| matches!(outcome.verdict, Verdict::Fits { .. });
        prop_assert!(fits(&relaxed.outcome) || !fits(&alone));
        let offsets = &relaxed.outcome.placement.offsets;
        if fits(&relaxed.outcome) {
            prop_assert_eq!(validate(&problem, offsets), Ok(()));
            for (at, &(a, b)) in soft.iter().enumerate() {
                let range = |ix: BufferIx| (offsets[ix.index()], offsets[ix.index()] + problem.buffer(ix).size);
                let shares = range(a).0 < range(b).1 && range(b).0 < range(a).1;
                prop_assert_eq!(shares, relaxed.relaxed.contains(&at));
            }
        }
    }

    #[test]
    fn fixes_fix(problem in problems(10)) {
        for fix in explain::fixes(&problem, &Budget::new(Goal::Fit, 1_000)) {
            prop_assert!(liveness::bound(&problem).bytes > 0 && fix.height <= problem.capacity());
        }
    }

    #[test]
    fn a_problem_is_checked_without_panic(
        sizes in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>(), any::<u64>(), any::<Option<u64>>()), 0..6),
        reserved in prop::collection::vec(any::<(u64, u64)>(), 0..2),
        pairs in prop::collection::vec((0u32..7, 0u32..7), 0..2),
        capacity in any::<u64>(),
        small in any::<bool>(),
    ) {
        let scale = |number: u64| if small { number >> 3 } else { number };
        let buffers = sizes.into_iter().enumerate().map(|(at, (size, start, end, align, fixed))| Buffer {
            id: at.to_string(),
            size: scale(size),
            lifetime: Lifetime::new(start, end),
            align: if small { 1 + align % 64 } else { align },
            fixed: fixed.map(|fixed| if small { fixed >> 32 << 6 } else { fixed }),
        });
        let spec = Spec {
            capacity,
            buffers: buffers.collect(),
            reserved: reserved.into_iter().map(|(a, b)| scale(a)..scale(b)).collect(),
            no_alias: pairs.into_iter().map(|(a, b)| (BufferIx(a), BufferIx(b))).collect(),
        };
        if let Ok(problem) = Problem::new(spec) {
            assert_valid(&problem, &pack(&problem, &Budget::new(Goal::Lowest, 100)).placement);
        }
    }

    #[test]
    fn csv_survives_anything(text in "\\PC{0,80}|(id|lower|upper|size|gaps|offset|end|,){1,9}(\n[0-9a-z,\\- ]{0,20}){0,4}") {
        let _ = csv::read(&text, 100);
    }

    #[test]
    fn csv_reads_what_it_writes(problem in problems(12)) {
        let spec = Spec { capacity: problem.capacity(), buffers: problem.buffers().to_vec(), ..Spec::default() };
        let problem = Problem::new(spec).unwrap();
        prop_assert_eq!(csv::read(&csv::write(&problem, None), problem.capacity()).unwrap(), problem);
    }
}

//! Whatever a launch says: it has a plan, bounds are in order, and what is placed does not overlap.

use proptest::prelude::*;
use tilefit_packing::{Buffer as Tenant, Problem, Spec, validate};
use tilefit_python::finding::Reason;

use super::text::{node, origin};
use crate::plan::{Plan, plan};
use crate::program::{
    Branch, Buffer, BufferId, Dtype, Extent, Gemm, Kind, Launch, Loop, Op, Options, Planning, Reduce, Region, Scope,
    Statement, Threads, WarpPolicy, WrittenPipeline,
};
use crate::target::Target;

const BUFFERS: u32 = 8;

fn extent() -> impl Strategy<Value = Extent> {
    prop_oneof![
        8 => prop::sample::select(vec![1_u64, 2, 16, 24, 32, 64, 100, 128]).prop_map(Extent::Known),
        1 => prop::sample::select(vec![0, u64::MAX, u64::MAX / 2]).prop_map(Extent::Known),
        1 => Just(Extent::Symbolic("n".into())),
        1 => Just(Extent::Unknown(Reason::new("unknown"))),
    ]
}

fn buffer() -> impl Strategy<Value = Buffer> {
    let scopes = [
        Scope::Global,
        Scope::Global,
        Scope::Shared,
        Scope::Shared,
        Scope::Shared,
        Scope::Fragment,
        Scope::StaticShared,
        Scope::Barrier,
        Scope::TensorMemory,
        Scope::Local,
    ];
    let dtypes = [("float16", 16), ("float32", 32), ("int8", 8), ("int4", 4), ("float8_e4m3fn", 8)];
    (
        prop::sample::select(scopes.to_vec()),
        prop::sample::select(dtypes.to_vec()),
        prop::collection::vec(extent(), 0..4),
        any::<bool>(),
    )
        .prop_map(|(scope, (name, bits), shape, is_swizzled)| Buffer {
            name: "buffer".into(),
            scope,
            dtype: Dtype { name: name.into(), bits },
            shape,
            is_swizzled,
            address: None,
            is_used: true,
            at: origin(node(), 0),
        })
}

fn region() -> impl Strategy<Value = Region> {
    let extents = prop::option::of(prop::collection::vec(extent(), 0..4));
    (0..BUFFERS, extents, any::<Option<bool>>()).prop_map(|(buffer, extents, is_inside)| Region {
        buffer: BufferId(buffer),
        extents,
        is_inside,
    })
}

fn kind() -> impl Strategy<Value = Kind> {
    let number = || prop::sample::select(vec![0_u64, 8, 16, 64, 128, u64::MAX]);
    let gemm =
        (any::<[bool; 2]>(), number(), number(), number(), 0..3_usize).prop_map(|(transposes, m, n, k, policy)| {
            let policy = [WarpPolicy::Square, WarpPolicy::FullRow, WarpPolicy::FullColumn][policy];
            Kind::Gemm(Gemm { is_tcgen05: false, transposes, m, n, k, policy })
        });
    prop_oneof![
        6 => Just(Kind::Copy),
        1 => Just(Kind::AsyncCopy),
        1 => Just(Kind::TmaCopy),
        1 => Just(Kind::Fill),
        1 => Just(Kind::CumulativeSum),
        2 => any::<bool>().prop_map(|is_copy| Kind::Parallel { is_copy }),
        1 => any::<bool>().prop_map(|is_copy| Kind::Store { is_copy }),
        3 => gemm,
        1 => (0..3_usize).prop_map(|dim| Kind::Reduce(Reduce { dim, clears: true })),
        1 => Just(Kind::Other("bind".into())),
        1 => Just(Kind::Other("tl.deallocate_tmem".into())),
    ]
}

fn statement() -> impl Strategy<Value = Statement> {
    let regions = || prop::collection::vec(region(), 0..3);
    let op = (kind(), regions(), regions());
    let op = op.prop_map(|(kind, reads, writes)| {
        Statement::Op(Op { kind, reads, writes, threads: Threads::All, at: origin(node(), 1) })
    });
    op.prop_recursive(4, 24, 5, |inner| {
        let body = || prop::collection::vec(inner.clone(), 0..5);
        let stages = prop::sample::select(vec![0_u64, 0, 1, 2, 3, 1_000_000, u64::MAX]);
        let numbers = || prop::collection::vec(prop::sample::select(vec![0_u64, 1, 2, u64::MAX]), 0..5);
        let written = prop::option::weighted(0.2, (numbers(), numbers()));
        let repeat =
            (extent(), stages, written, any::<bool>(), body()).prop_map(|(extent, stages, written, unrolled, body)| {
                Statement::Loop(Loop {
                    least: 0,
                    extent,
                    stages,
                    written: written.map(|(order, stage)| WrittenPipeline { order, stage }),
                    is_explicitly_unrolled: unrolled,
                    body,
                    at: origin(node(), 2),
                })
            });
        let branch = (prop::collection::vec(region(), 0..2), body(), body());
        let branch = branch.prop_map(|(reads, then, otherwise)| {
            Statement::Branch(Branch { reads, in_rounds: Vec::new(), then, otherwise, at: origin(node(), 3) })
        });
        prop_oneof![2 => repeat, 1 => branch]
    })
}

fn launch() -> impl Strategy<Value = Launch> {
    let threads = prop::sample::select(vec![None, Some(0), Some(32), Some(128), Some(384), Some(u64::MAX)]);
    let buffers = prop::collection::vec(buffer(), BUFFERS as usize);
    let options = any::<[bool; 4]>().prop_map(|[specialised, tma, aggressive, reuse]| Options {
        is_warp_specialization_off: specialised,
        is_tma_off: tma,
        is_merge_aggressive: aggressive,
        has_roles: false,
        is_reuse_off: reuse,
        memory_planning: Planning::Off,
        is_for_pto: false,
    });
    (threads, buffers, prop::collection::vec(statement(), 0..8), options).prop_map(
        |(threads, buffers, body, options)| Launch {
            function: "kernel".into(),
            threads,
            buffers,
            body,
            options,
            unknown: Vec::new(),
        },
    )
}

/// Offsets keep apart what lives at once, unless numbers are too large to be stated.
fn overlaps(plan: &Plan) -> bool {
    let placed = || plan.placed.iter().enumerate();
    let buffers = placed().map(|(i, placed)| {
        let live = placed.live;
        let bytes = placed.bytes.unwrap_or(0);
        Tenant::new(i.to_string(), bytes, live.start as u64, live.end as u64).aligned(placed.alignment)
    });
    let offsets: Vec<u64> = placed().map(|(_, placed)| placed.offset.unwrap_or(0)).collect();
    let capacity = plan.total.high.unwrap_or(u64::MAX);
    let problem = Problem::new(Spec { capacity, buffers: buffers.collect(), ..Spec::default() });
    problem.is_ok_and(|problem| validate(&problem, &offsets).is_err())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_launch_has_a_plan(launch in launch()) {
        for target in [
            Target::Nvidia { capability: 80 },
            Target::Nvidia { capability: 90 },
            Target::Nvidia { capability: 100 },
            Target::Nvidia { capability: 120 },
            Target::Amd { gfx: 942 },
            Target::Amd { gfx: 950 },
        ] {
            let plan = plan(&launch, target);
            prop_assert!(plan.total.high.is_none_or(|high| plan.total.low <= high));
            prop_assert_eq!(plan.reasons.is_empty(), plan.placed.iter().all(|placed| placed.offset.is_some()) && plan.reasons.is_empty());
            if plan.reasons.is_empty() {
                prop_assert!(plan.total.exactly().is_some());
                prop_assert!(!overlaps(&plan));
            }
        }
    }
}

//! Kernels drawn at random: whatever the IR, plans are made without a panic and pass their check.

use proptest::prelude::*;
use tilefit_python::diagnostics::Code;
use tilefit_python::element::Dtype;
use tilefit_python::finding::Status;

use super::build::Build;
use crate::ir::{Kernel, Operand, Scalar, VarId};
use crate::memory::{Plan, plan};
use crate::target::{Planner, Space, Target};

/// One step of a random kernel. Numbers choose among the tiles there are.
#[derive(Debug, Clone)]
enum RandomStmt {
    Load(u64),
    Add(usize, usize),
    Recip(usize),
    Widen(usize),
    Slice(usize, i64),
    Store(usize),
    Loop(usize, Vec<RandomStmt>),
    Branch(Vec<RandomStmt>, Vec<RandomStmt>),
}

fn steps(depth: u32) -> impl Strategy<Value = Vec<RandomStmt>> {
    let leaf = prop_oneof![
        3 => (1..12u64).prop_map(|rows| RandomStmt::Load(rows * 8)),
        4 => (any::<usize>(), any::<usize>()).prop_map(|(a, b)| RandomStmt::Add(a, b)),
        1 => any::<usize>().prop_map(RandomStmt::Recip),
        1 => any::<usize>().prop_map(RandomStmt::Widen),
        1 => (any::<usize>(), 0..8i64).prop_map(|(tile, row)| RandomStmt::Slice(tile, row)),
        2 => any::<usize>().prop_map(RandomStmt::Store),
    ];
    let leaf = leaf.boxed();
    let step = leaf.clone().prop_recursive(depth, 40, 6, move |inner| {
        prop_oneof![
            3 => leaf.clone(),
            1 => (any::<usize>(), prop::collection::vec(inner.clone(), 1..5)).prop_map(|(tile, body)| RandomStmt::Loop(tile, body)),
            1 => (prop::collection::vec(inner.clone(), 1..4), prop::collection::vec(inner, 1..4))
                .prop_map(|(then, otherwise)| RandomStmt::Branch(then, otherwise)),
        ]
    });
    prop::collection::vec(step, 1..16)
}

fn kernel(steps: &[RandomStmt]) -> Kernel {
    let mut k = Build::new();
    let x = k.param("x");
    let first = k.call("t", "tile.load", &[x], (Space::Vec, [8, 64], Dtype::Fp16));
    let mut tiles = vec![first];
    write(&mut k, x, &mut tiles, steps);
    k.kernel()
}

fn write(k: &mut Build, x: VarId, tiles: &mut Vec<VarId>, steps: &[RandomStmt]) {
    for step in steps {
        let pick = |choice: &usize, tiles: &[VarId]| tiles[choice % tiles.len()];
        match step {
            RandomStmt::Load(rows) => {
                tiles.push(k.call("t", "tile.load", &[x], (Space::Vec, [*rows, 64], Dtype::Fp32)))
            }
            RandomStmt::Add(a, b) => {
                let (a, b) = (pick(a, tiles), pick(b, tiles));
                tiles.push(k.call("t", "tile.add", &[a, b], k.tile_of(a)));
            }
            RandomStmt::Recip(tile) => {
                let tile = pick(tile, tiles);
                tiles.push(k.call("t", "tile.recip", &[tile], k.tile_of(tile)));
            }
            RandomStmt::Widen(tile) => {
                let tile = pick(tile, tiles);
                let (space, shape, _) = k.tile_of(tile);
                tiles.push(k.call("t", "tile.cast", &[tile], (space, shape, Dtype::Fp32)));
            }
            RandomStmt::Slice(tile, row) => {
                let tile = pick(tile, tiles);
                let (space, [rows, columns], dtype) = k.tile_of(tile);
                let rows = rows.min(8);
                let shape = Operand::List(vec![Scalar::Int(rows as i64), Scalar::Int(columns as i64)]);
                let offset = Operand::List(vec![Scalar::Int(*row), Scalar::Int(0)]);
                let args = vec![Operand::Var(tile), shape, offset];
                tiles.push(k.call_with("t", "tile.slice", args, (space, [rows, columns], dtype)));
            }
            RandomStmt::Store(tile) => k.store(pick(tile, tiles), x),
            RandomStmt::Loop(init, body) => {
                let init = pick(init, tiles);
                let (iter, result) = k.begin_for("c", init);
                let outside = tiles.len();
                tiles.push(iter);
                write(k, x, tiles, body);
                let like = k.tile_of(init);
                let next = tiles.iter().rev().copied().find(|tile| k.tile_of(*tile) == like).unwrap_or(iter);
                k.end_for(&[next]);
                tiles.truncate(outside);
                tiles.push(result);
            }
            RandomStmt::Branch(then, otherwise) => {
                let like = k.tile_of(tiles[0]);
                let outside = tiles.len();
                let mut side = |k: &mut Build, steps: &[RandomStmt]| {
                    write(k, x, tiles, steps);
                    let value = tiles.iter().rev().copied().find(|tile| k.tile_of(*tile) == like);
                    let value = value.unwrap_or(tiles[0]);
                    tiles.truncate(outside);
                    value
                };
                k.begin_if();
                let first = side(k, then);
                k.begin_else(&[first]);
                let second = side(k, otherwise);
                let result = k.end_if("y", &[second], like);
                tiles.push(result);
            }
        }
    }
}

fn is_sound(plan: &Plan) -> Result<(), TestCaseError> {
    let internal = plan.findings.iter().find(|finding| finding.code == Code::Internal);
    prop_assert_eq!(internal.map(|finding| &finding.message), None);
    prop_assert_ne!(plan.status, Status::NotModelled);
    for tile in &plan.tiles {
        prop_assert!(tile.address.is_some() || plan.status == Status::Partial, "{} has no address", tile.name);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_plan_of_a_random_kernel_passes_its_check(steps in steps(3)) {
        let kernel = kernel(&steps);
        for target in Target::ALL {
            for planner in Planner::ALL {
                is_sound(&plan(&kernel, target, planner))?;
            }
        }
    }
}

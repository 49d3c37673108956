use std::collections::BTreeSet;

use tilefit_pypto::ops::OPS;
use tilefit_syntax::Document;
use tilefit_syntax::ast::{self, Ast, Expr, Stmt};

use super::operations::ROWS;
use super::*;
use crate::differential::judge::{Configuration, Ours};

#[test]
fn a_seed_makes_the_same_kernels_everywhere() {
    let first: Vec<String> = (0..20).map(|index| kernel(7, index)).collect();
    let again: Vec<String> = (0..20).map(|index| kernel(7, index)).collect();
    assert_eq!(first, again);
    assert_ne!(first, (0..20).map(|index| kernel(8, index)).collect::<Vec<_>>());
}

#[test]
fn every_kernel_parses_and_is_planned_without_a_panic() {
    for index in 0..60 {
        let text = kernel(1, index);
        let document = Document::new(&text);
        let broken = |ast: Ast| {
            ast.exprs().any(|(_, expr)| matches!(expr, Expr::Error))
                || ast.stmts().any(|(_, stmt)| matches!(stmt, Stmt::Error))
        };
        let is_broken = document.blocks().iter().any(|block| broken(ast::parse(&block.source).0));
        assert!(!is_broken, "kernel {index} does not parse:\n{text}");
        let mut ours = Ours::of("kernel.py", &text);
        for configuration in Configuration::ALL {
            let (kernels, _) = ours.plans(configuration);
            let failed = kernels.iter().flat_map(|kernel| &kernel.diagnostics).find(|one| one.code == "internal");
            assert!(failed.is_none(), "kernel {index} on {configuration}: {failed:?}\n{text}");
        }
    }
}

/// Rows of the catalogue beside those of [`ROWS`], and where they are called or why they are not.
const ELSEWHERE: &[(&str, &[&str])] = &[
    (
        "products.rs",
        &[
            "tile.matmul",
            "tile.matmul_acc",
            "tile.matmul_bias",
            "tile.gemv",
            "tile.gemv_acc",
            "tile.gemv_bias",
            "tile.batch_matmul",
            "tensor.matmul",
            "tensor.matmul_acc",
        ],
    ),
    (
        "cores.rs",
        &[
            "tile.tpop_from_aic",
            "system.tfree_to_aic",
            "system.reserve_buffer",
            "system.aiv_initialize_pipe",
            "system.bar_v",
            "system.bar_m",
            "system.bar_all",
            "tile.tpop_from_aiv",
            "tile.tpush_to_aic",
            "tile.tpush_to_aiv",
            "system.tfree_to_aiv",
            "system.import_peer_buffer",
            "system.aic_initialize_pipe",
        ],
    ),
    (
        "forms.rs",
        &[
            "tile.matmul_mx",
            "tile.matmul_mx_acc",
            "tile.matmul_mx_bias",
            "tile.gather_row",
            "tensor.create_l1",
            "tile.get_block_idx",
            "tile.get_block_num",
            "tile.get_subblock_idx",
            "array.create",
            "array.get_element",
            "array.update_element",
            "prefetch.make_context",
            "prefetch.async_prefetch",
            "prefetch.session",
            "prefetch.wait",
            "system.sync_src",
            "system.sync_dst",
            "system.syncall",
            "system.set_ffts",
            "system.sync_set",
            "system.sync_wait",
            "pld.system.get_comm_ctx",
            "pld.system.rank",
            "pld.system.nranks",
            "pld.system.notify",
            "pld.system.wait",
            "pld.tile.remote_load",
            "pld.tile.remote_store",
        ],
    ),
    ("printed IR only, or made by the compiler only", &["tile.alloc", "tile.tget_scale_addr"]),
    (
        "the compiler fails on it: its accumulator is moved to a memory that it has no move to",
        &["tile.batch_matmul_acc"],
    ),
    ("made by the compiler only", &["tensor.view"]),
    ("not made yet: tiles that go between the cores within pl.split_aiv", &["tile.aic_gather", "tile.aiv_shard"]),
    (
        "not made yet: whole tensors of other devices",
        &["pld.tensor.barrier", "pld.tensor.put", "pld.tensor.get", "pld.tile.get", "pld.tile.put"],
    ),
];

#[test]
fn every_operation_of_the_catalogue_is_called_or_says_why_not() {
    let called: BTreeSet<&str> = ROWS.iter().flat_map(|row| row.means).copied().collect();
    let elsewhere: BTreeSet<&str> = ELSEWHERE.iter().flat_map(|(_, names)| *names).copied().collect();
    let missing: Vec<&str> =
        OPS.iter().map(|op| op.name).filter(|name| !called.contains(name) && !elsewhere.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let twice: Vec<&&str> = called.intersection(&elsewhere).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

//! Forms that public kernels use and the compiler accepts. Each was once marked as an error.

use tilefit_analysis::AnalysisHost;
use tilefit_analysis::diagnostics::Severity;
use tilefit_syntax::Document;

#[track_caller]
fn check(statements: &str) {
    let body: String = statements.lines().map(|line| format!("        {line}\n")).collect();
    let text = format!(
        "import pypto.language as pl\nimport pypto.language.distributed as pld\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k(self, a: pl.Tensor[[1024, 1024], pl.BF16], n: pl.Scalar[pl.INT64], bias: pl.Tensor[[1, 544], pl.FP32], out: pl.Out[pl.Tensor[[1024, 1024], pl.FP32]]) -> pl.Tensor[[1024, 1024], pl.FP32]:\n{body}        return out\n"
    );
    let mut host = AnalysisHost::new();
    let file = host.file_id("kernel.py");
    host.set_document(file, Document::new(&text));
    let diagnostics = host.snapshot().diagnostics(file).expect("nothing is edited");
    let errors: Vec<_> = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn integers_are_conditions() {
    check("if n:\n    x = pl.load(a, [0, 0], [64, 64])\n    y = pl.exp(x)");
}

#[test]
fn a_cast_of_a_product_may_be_folded_into_its_way_out() {
    check(
        "l = pl.load(a, [0, 0], [176, 32], target_memory=pl.Mem.Mat)\nr = pl.load(a, [0, 0], [32, 544], target_memory=pl.Mem.Mat)\nc = pl.matmul(l, r)\nb = pl.cast(c, pl.BF16)\ne = pl.load(a, [0, 0], [544, 16], target_memory=pl.Mem.Mat)\nd = pl.matmul(b, e)\nout = pl.store(d, [0, 0], out)",
    );
}

#[test]
fn a_cast_of_a_product_with_a_bias_takes_no_memory_of_its_own() {
    check(
        "l = pl.load(a, [0, 0], [176, 160], target_memory=pl.Mem.Mat)\nr = pl.load(a, [0, 0], [160, 544], target_memory=pl.Mem.Mat)\nm = pl.load(bias, [0, 0], [1, 544], target_memory=pl.Mem.Mat)\nc = pl.tile.matmul_bias(l, r, m)\nb = pl.cast(c, pl.BF16)\ne = pl.load(a, [0, 0], [544, 16], target_memory=pl.Mem.Mat)\nd = pl.matmul(b, e)\nout = pl.store(d, [0, 0], out)",
    );
}

#[test]
fn what_neither_core_needs_takes_no_memory_of_a_kernel_for_both() {
    check(
        "big = pl.load(out, [0, 0], [64, 512])\nother = pl.load(out, [64, 0], [64, 512])\nunused = pl.add(big, other)\nt = pl.load(out, [0, 0], [16, 256])\nk = pl.tile.create([16, 256], dtype=pl.INT32)\nout = pl.mscatter(t, k, out)\nl = pl.load(a, [0, 0], [64, 48], target_memory=pl.Mem.Mat)\nr = pl.load(a, [0, 0], [48, 64], target_memory=pl.Mem.Mat)\np = pl.matmul(pl.move(l, target_memory=pl.Mem.Left), pl.move(r, target_memory=pl.Mem.Right))\nout = pl.store(p, [0, 0], out)",
    );
}

#[test]
fn operations_on_scalars_are_not_judged() {
    check("m = pl.mul(n, 2)\nx = pl.load(a, [m, 0], [64, 64])");
}

#[test]
fn distributed_operations_may_leave_arguments_out() {
    check("x = pl.load(a, [0, 0], [64, 64])\ny = pld.tile.remote_load(a, n, [0, 0], [64, 64])");
}

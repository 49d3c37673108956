//! Forms that public kernels use and the compiler accepts. Each was once marked as an error.

use tilefit_analysis::Fixture;
use tilefit_python::diagnostics::Severity;

#[track_caller]
fn check(statements: &str) {
    let body: String = statements.lines().map(|line| format!("        {line}\n")).collect();
    let text = format!(
        "
import pypto.language as pl
import pypto.language.distributed as pld

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[1024, 1024], pl.BF16], n: pl.Scalar[pl.INT64], bias: pl.Tensor[[1, 544], pl.FP32], out: pl.Out[pl.Tensor[[1024, 1024], pl.FP32]]) -> pl.Tensor[[1024, 1024], pl.FP32]:
{body}        return out
"
    );
    let diagnostics = Fixture::new(&text).diagnostics();
    let errors: Vec<_> = diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn integers_are_conditions() {
    check(
        "
if n:
    x = pl.load(a, [0, 0], [64, 64])
    y = pl.exp(x)",
    );
}

#[test]
fn a_cast_of_a_product_may_be_folded_into_its_way_out() {
    check(
        "
l = pl.load(a, [0, 0], [176, 32], target_memory=pl.Mem.Mat)
r = pl.load(a, [0, 0], [32, 544], target_memory=pl.Mem.Mat)
c = pl.matmul(l, r)
b = pl.cast(c, pl.BF16)
e = pl.load(a, [0, 0], [544, 16], target_memory=pl.Mem.Mat)
d = pl.matmul(b, e)
out = pl.store(d, [0, 0], out)",
    );
}

#[test]
fn a_cast_of_a_product_with_a_bias_takes_no_memory_of_its_own() {
    check(
        "
l = pl.load(a, [0, 0], [176, 160], target_memory=pl.Mem.Mat)
r = pl.load(a, [0, 0], [160, 544], target_memory=pl.Mem.Mat)
m = pl.load(bias, [0, 0], [1, 544], target_memory=pl.Mem.Mat)
c = pl.tile.matmul_bias(l, r, m)
b = pl.cast(c, pl.BF16)
e = pl.load(a, [0, 0], [544, 16], target_memory=pl.Mem.Mat)
d = pl.matmul(b, e)
out = pl.store(d, [0, 0], out)",
    );
}

#[test]
fn what_neither_core_needs_takes_no_memory_of_a_kernel_for_both() {
    check(
        "
big = pl.load(out, [0, 0], [64, 512])
other = pl.load(out, [64, 0], [64, 512])
unused = pl.add(big, other)
t = pl.load(out, [0, 0], [16, 256])
k = pl.tile.create([16, 256], dtype=pl.INT32)
out = pl.mscatter(t, k, out)
l = pl.load(a, [0, 0], [64, 48], target_memory=pl.Mem.Mat)
r = pl.load(a, [0, 0], [48, 64], target_memory=pl.Mem.Mat)
p = pl.matmul(pl.move(l, target_memory=pl.Mem.Left), pl.move(r, target_memory=pl.Mem.Right))
out = pl.store(p, [0, 0], out)",
    );
}

#[test]
fn operations_on_scalars_are_not_judged() {
    check(
        "
m = pl.mul(n, 2)
x = pl.load(a, [m, 0], [64, 64])",
    );
}

#[test]
fn distributed_operations_may_leave_arguments_out() {
    check(
        "
x = pl.load(a, [0, 0], [64, 64])
y = pld.tile.remote_load(a, n, [0, 0], [64, 64])",
    );
}

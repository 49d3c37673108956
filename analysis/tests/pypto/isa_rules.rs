//! What the instruction set refuses, as the analysis says it.

use std::fmt::Write;

use expect_test::{Expect, expect};

use tilefit_analysis::Fixture;
use tilefit_analysis::project::Config;
use tilefit_pypto::target::Target;
use tilefit_python::diagnostics::{Code, Severity};

/// What is said about a kernel body, by its line.
fn check(target: Target, body: &str, expect: Expect) {
    let body: String = body.lines().map(|line| format!("        {}\n", line.trim())).collect();
    let text = format!(
        "@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k(self, a: pl.Tensor[[512, 512], pl.FP32], \
         b: pl.Tensor[[512, 512], pl.FP16], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]):\n{body}        return out\n"
    );
    let severity = [(Code::NarrowTransfer, Some(Severity::Hint))].into();
    let mut said = String::new();
    for diagnostic in Fixture::new(&text).with(Config { target, severity, ..Config::default() }).diagnostics() {
        let line = text[..diagnostic.range.start].matches('\n').count() - 3;
        writeln!(said, "{line} {}: {}", diagnostic.code, diagnostic.message).expect("memory");
    }
    expect.assert_eq(&said);
}

#[test]
fn rows_and_columns_take_multiples_of_32_bytes() {
    check(
        Target::Ascend910b,
        "t = pl.tile.create([16, 5], dtype=pl.FP32)
        x = pl.exp(t)
        c = pl.tile.create([12, 1], dtype=pl.FP32)
        d = pl.exp(c)
        e = pl.tile.create([8, 1], dtype=pl.FP32)
        f = pl.exp(e)
        g = pl.exp(pl.tile.create([16, 128], dtype=pl.FP32))
        out = pl.store(g, [0, 0], out)",
        expect![[r#"
            1 tile-layout: `t` has rows of 20 bytes (5 FP32); the instruction library takes multiples of 32 bytes. The compiler accepts it, but the build of the generated code fails; make it [16, 8], with valid_shape=[16, 5] if only that part is data
            2 tile-layout: `x` has rows of 20 bytes (5 FP32); the instruction library takes multiples of 32 bytes. The compiler accepts it, but the build of the generated code fails; make it [16, 8], with valid_shape=[16, 5] if only that part is data
            3 tile-layout: `c` has columns of 48 bytes (12 FP32); the instruction library takes multiples of 32 bytes. The compiler accepts it, but the build of the generated code fails; make it [16, 1], with valid_shape=[12, 1] if only that part is data
            4 tile-layout: `d` has columns of 48 bytes (12 FP32); the instruction library takes multiples of 32 bytes. The compiler accepts it, but the build of the generated code fails; make it [16, 1], with valid_shape=[12, 1] if only that part is data
        "#]],
    );
}

#[test]
fn tiles_that_no_instruction_touches_are_not_looked_at() {
    check(
        Target::Ascend910b,
        "t = pl.tile.create([16, 5], dtype=pl.FP32)
        x = pl.load(a, [0, 0], [16, 128])
        s = pl.slice(x, [16, 5], [0, 0])
        y = pl.exp(s)
        out = pl.store(x, [0, 0], out)",
        expect![[r#"
            4 tile-layout: `y` has rows of 20 bytes (5 FP32); the instruction library takes multiples of 32 bytes. The compiler accepts it, but the build of the generated code fails; make it [16, 8], with valid_shape=[16, 5] if only that part is data
        "#]],
    );
}

#[test]
fn products_take_multiples_of_16() {
    check(
        Target::Ascend910b,
        "x = pl.load(b, [0, 0], [24, 256], target_memory=pl.Mem.Mat)
        y = pl.load(b, [0, 0], [256, 256], target_memory=pl.Mem.Mat)
        z = pl.matmul(x, y)
        out = pl.store(z, [0, 0], out)",
        expect![[r#"
            1 tile-layout: `x` has 24 x 256 elements, but FP16 is stored in Mat in boxes of 16 x 16; the instruction library takes whole boxes. The compiler accepts it, but the build of the generated code fails; make it [32, 256], with valid_shape=[24, 256] if only that part is data
        "#]],
    );
}

#[test]
fn narrow_transfers_depend_on_the_target_and_the_window() {
    let body = "x = pl.load(a, [0, 0], [16, 128], valid_shape=[16, 64])
        y = pl.load(a, [0, 0], [16, 24])
        n = pl.load(a, [0, 0], [16, 128])
        out = pl.store(n, [0, 0], out)
        out = pl.store(y, [0, 0], out)";
    check(
        Target::Ascend910b,
        body,
        expect![[r#"
            2 narrow-transfer: this load moves rows of 96 bytes (24 FP32); on ascend910b, transfers reach full speed at 512 bytes or more: use at least 128 columns
            5 narrow-transfer: this store moves rows of 96 bytes (24 FP32); on ascend910b, transfers reach full speed at 512 bytes or more: use at least 128 columns
        "#]],
    );
    check(
        Target::Ascend950,
        body,
        expect![[r#"
            2 narrow-transfer: this load moves rows of 96 bytes (24 FP32); on ascend950, transfers reach full speed at 128 bytes or more: use at least 32 columns
            5 narrow-transfer: this store moves rows of 96 bytes (24 FP32); on ascend950, transfers reach full speed at 128 bytes or more: use at least 32 columns
        "#]],
    );
}

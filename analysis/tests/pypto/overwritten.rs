//! When the first value of a loop counts as overwritten.

use expect_test::{Expect, expect};

use tilefit_analysis::Fixture;
use tilefit_python::diagnostics::Code;

#[track_caller]
fn check(body: &str, expected: Expect) {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!(
        "import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[256, 64], pl.FP32], n: pl.Scalar[pl.INDEX], out: pl.Out[pl.Tensor[[256, 64], pl.FP32]]):
    x = pl.load(a, [0, 0], [64, 64])
{body}    return out
"
    );
    let fixture = Fixture::new(&text);
    let mut report = String::new();
    for diagnostic in fixture.diagnostics() {
        assert!(diagnostic.severity != tilefit_python::diagnostics::Severity::Error, "{diagnostic:?}");
        if diagnostic.code == Code::InitOverwritten {
            report.push_str(&format!("{}\n  {}\n", fixture.at(diagnostic.range), diagnostic.message));
            for related in diagnostic.related {
                let place = fixture.at(related.range).lines().next().unwrap_or_default();
                report.push_str(&format!("  {place}: {}\n", related.message));
            }
        }
    }
    expected.assert_eq(&report);
}

#[track_caller]
fn silent(body: &str) {
    check(body, expect![""]);
}

/// A loop that carries `x`.
const LOOP: &str = "for i, (c,) in pl.range(n, init_values=(x,)):
    y = pl.add(c, c)
    r = pl.yield_(y)
out = pl.store(r, [0, 0], out)
";

#[test]
fn what_is_read_behind_the_loop() {
    check(
        &format!("{LOOP}out = pl.store(x, [64, 0], out)"),
        expect![[r#"
            pl.store(x, [64, 0], out)
              `x` is read after the loop, which has overwritten it: the compiler keeps `c` in the same bytes (at Vec 0x0..0x4000); start the loop with a copy, `init_values=(pl.move(x, target_memory=pl.Mem.Vec),)`
              x: `x` is written here
              for i, (c,) in pl.range(n, init_values=(x,)):: the loop starts with it as `c`
        "#]],
    );
    check(
        &format!("{LOOP}v = pl.slice(x, [16, 64], [0, 0])\nif n > 4:\n    out = pl.store(v, [64, 0], out)"),
        expect![[r#"
            pl.store(v, [64, 0], out)
              `x`, as `v`, is read after the loop, which has overwritten it: the compiler keeps `c` in the same bytes (at Vec 0x0..0x4000); start the loop with a copy, `init_values=(pl.move(x, target_memory=pl.Mem.Vec),)`
              x: `x` is written here
              for i, (c,) in pl.range(n, init_values=(x,)):: the loop starts with it as `c`
        "#]],
    );
    // Read before it only, or not at all.
    silent(&format!("out = pl.store(x, [64, 0], out)\n{LOOP}"));
    silent(&format!("{LOOP}v = pl.slice(x, [16, 64], [0, 0])"));
    // The loop begins with a copy.
    silent(&format!(
        "{}out = pl.store(x, [64, 0], out)",
        LOOP.replace("(x,)", "(pl.move(x, target_memory=pl.Mem.Vec),)")
    ));
}

#[test]
fn what_is_read_in_the_loop() {
    let reads =
        |head: &str| format!("{head}\n    y = pl.add(c, x)\n    r = pl.yield_(y)\nout = pl.store(r, [0, 0], out)");
    check(
        &reads("for i, (c,) in pl.range(2, init_values=(x,)):"),
        expect![[r#"
            pl.add(c, x)
              `x` is read in each iteration, but the first one overwrites it: the compiler keeps `c` in the same bytes (at Vec 0x0..0x4000); start the loop with a copy, `init_values=(pl.move(x, target_memory=pl.Mem.Vec),)`
              x: `x` is written here
              for i, (c,) in pl.range(2, init_values=(x,)):: the loop starts with it as `c`
        "#]],
    );
    // There is no second iteration.
    silent(&reads("for i, (c,) in pl.range(1, init_values=(x,)):"));
    silent(&reads("for i, (c,) in pl.range(0, init_values=(x,)):"));
    // In the first iteration only.
    silent(
        "for i, (c,) in pl.range(4, init_values=(x,)):
    if i == 0:
        out = pl.store(x, [64, 0], out)
    y = pl.add(c, c)
    r = pl.yield_(y)
out = pl.store(r, [0, 0], out)",
    );
}

#[test]
fn what_a_loop_around_begins_with_again() {
    let inner: String = LOOP.lines().map(|line| format!("    {line}\n")).collect();
    check(
        &format!("for k in pl.range(2):\n{inner}"),
        expect![[r#"
            pl.add(c, c)
              `x`, as `c`, is read again by the enclosing loop, after it was overwritten: the compiler keeps `c` in the same bytes (at Vec 0x0..0x4000); start the loop with a copy, `init_values=(pl.move(x, target_memory=pl.Mem.Vec),)`
              x: `x` is written here
              for i, (c,) in pl.range(n, init_values=(x,)):: the loop starts with it as `c`
        "#]],
    );
    silent(&format!("for k in pl.range(1):\n{inner}"));
    silent(&format!("for k in pl.range(2):\n    x = pl.load(a, [0, 0], [64, 64])\n{inner}"));
    let once: String = inner.lines().map(|line| format!("    {line}\n")).collect();
    silent(&format!("for k in pl.range(2):\n    if k == 0:\n{once}"));
}

#[test]
fn what_is_not_certain() {
    let within: String = LOOP.lines().map(|line| format!("    {line}\n")).collect();
    let store = "out = pl.store(x, [64, 0], out)";
    check(
        &format!("if n > 1:\n{within}{store}"),
        expect![[r#"
            pl.store(x, [64, 0], out)
              `x` is read after the loop, which has overwritten it: the compiler keeps `c` in the same bytes (at Vec 0x0..0x4000); start the loop with a copy, `init_values=(pl.move(x, target_memory=pl.Mem.Vec),)`
              x: `x` is written here
              for i, (c,) in pl.range(n, init_values=(x,)):: the loop starts with it as `c`
        "#]],
    );
    silent(&format!("if n > 1:\n{within}else:\n    {store}"));
    silent(&format!("if n > 1:\n{within}if n < 2:\n    {store}"));
    // What the loop hands on may be what it began with.
    silent(&format!("{}{store}", LOOP.replace("    y = pl.add(c, c)\n", "    y = c\n")));
    silent(&format!("{}{store}", LOOP.replace("add(c, c)", "maximum(c, c)")));
}

#[test]
fn memory_that_holds_nothing() {
    let twice = LOOP.replace("(x,)", "(t,)").repeat(2);
    silent(&format!("t = pl.create_tile([64, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)\n{twice}"));
    // Scratch is not read.
    silent(&format!("{LOOP}s = pl.row_sum(r, x)\nout = pl.store(s, [64, 0], out)"));
}

//! Kernels that would cost too much: what is said of them, and what can interrupt them.

use std::sync::mpsc;
use std::thread;

use expect_test::{Expect, expect};
use tilefit_analysis::Fixture;

fn kernel(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("        {line}\n")).collect();
    format!(
        "\
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, a: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        x = pl.load(a, [0, 0], [16, 16])
{body}        out = pl.store(x, [0, 0], out)
        return out
"
    )
}

/// `body` in so many loops.
fn looped(depth: usize, range: &str, body: &str) -> String {
    let heads: String = (0..depth).map(|i| format!("{}for i{i} in {range}:\n", "    ".repeat(i))).collect();
    heads + &body.lines().map(|line| format!("{}{line}\n", "    ".repeat(depth))).collect::<String>()
}

fn said(text: &str, settings: &str) -> String {
    let diagnostics = Fixture::new(text).with_settings(settings).diagnostics();
    diagnostics.iter().map(|it| format!("{}: {}\n", it.code, it.message)).collect()
}

fn generated(text: &str, settings: &str) -> String {
    let codes = Fixture::new(text).with_settings(settings).generated_codes();
    codes.into_iter().map(|code| code.text).collect()
}

#[track_caller]
fn check(text: &str, settings: &str, expect: Expect) {
    expect.assert_eq(&said(text, settings));
}

/// Forever, were it not interrupted.
const ENDLESS: &str = "limits = { steps = 1000000000000000 }";

#[test]
fn a_loop_that_becomes_too_many_statements_is_kept() {
    let body = "for i in pl.unroll(64):\n    for j in pl.unroll(64):\n        x = pl.add(x, x)\n        x = pl.exp(x)\n        x = pl.neg(x)";
    check(
        &kernel(body),
        "",
        expect![[r#"
            not-modelled: not modelled: this loop: the kernel would have 4224 statements, too many to be analysed (the limit is 4096, setting `limits.statements`)
        "#]],
    );
}

#[test]
fn a_stage_that_costs_too_much_ends() {
    let text = kernel(&looped(12, "pl.range(0, 4, 1)", "x = pl.add(x, x)"));
    check(
        &text,
        "limits = { steps = 100 }",
        expect![[r#"
            not-modelled: not modelled: too large to be analysed: a stage takes too many steps (the limit is 100, setting `limits.steps`)
        "#]],
    );
    check(&text, "limits = { steps = 20000 }", expect![[""]]);
    expect![[r#"
        // no C++: too large to be analysed: a stage takes too many steps (the limit is 20000, setting `limits.steps`)
    "#]]
    .assert_eq(&generated(&text, "limits = { steps = 20000 }"));
    assert!(generated(&text, "limits = { steps = 10000000 }").contains("TADD("));
}

#[test]
fn the_other_kernels_of_the_file_are_analysed() {
    let deep = kernel(&looped(40, "pl.range(0, 4, 1)", "x = pl.add(x, x)"));
    let plain =
        kernel("x = pl.exp(x)").split_once("class P").expect("one class").1.replace(":\n    @pl", "2:\n    @pl");
    let text = format!("{deep}\n@pl.program\nclass P{plain}");
    let codes = generated(&text, "");
    assert!(codes.contains("// no C++: too large") && codes.contains("TEXP("), "{codes}");
}

#[test]
fn flags_in_loops_in_loops_are_followed() {
    let set = "pl.system.sync_src(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=3)\n";
    let wait = "pl.system.sync_dst(set_pipe=pl.PipeType.MTE2, wait_pipe=pl.PipeType.V, event_id=3)\n";
    let paired = kernel(&looped(60, "pl.range(0, 4, 1)", &format!("{set}{wait}x = pl.add(x, x)")));
    let twice = kernel(&looped(60, "pl.range(0, 4, 1)", &format!("{set}{set}{wait}x = pl.add(x, x)")));
    let of_flags =
        |text: &str| said(text, "").lines().filter(|line| line.starts_with("unpaired")).collect::<Vec<_>>().join("\n");
    expect![[""]].assert_eq(&of_flags(&paired));
    expect!["unpaired-flag: sets MTE2 → V, EVENT_ID3 again, before anything has waited for it"]
        .assert_eq(&of_flags(&twice));
}

#[test]
fn a_large_dictionary_is_not_evaluated() {
    let with = |count: usize| {
        let entries: String = (0..count).map(|i| format!("{i}: {i}, ")).collect();
        let text = kernel("x = pl.load(a, [0, 0], [D[16], 16])");
        text.replace("@pl.program", &format!("D = {{{entries}}}\n\n@pl.program"))
    };
    check(
        &with(2_000),
        "",
        expect![[r#"
        not-modelled: not modelled: a dictionary of more than 1024 entries
    "#]],
    );
    check(
        &with(20_000),
        "",
        expect![[r#"
        not-modelled: not modelled: tilefit does not evaluate a text that is too long to be read
    "#]],
    );
}

#[test]
fn an_edit_does_not_wait_for_a_stage() {
    let text = kernel(&looped(40, "pl.range(0, 4, 1)", "x = pl.add(x, x)"));
    let mut fixture = Fixture::new(&text).with_settings(ENDLESS);
    let (snapshot, file) = (fixture.host.snapshot(), fixture.file);
    let (begun, beginning) = mpsc::channel();
    let running = thread::spawn(move || {
        begun.send(()).expect("the test waits");
        snapshot.generated_codes(file).is_err()
    });
    beginning.recv().expect("it begins");
    // Waits until the snapshot is dropped.
    fixture.retype("x = 1\n");
    // It may not have begun, and then has seen the new text at once.
    running.join().expect("no panic");
}

#[test]
fn a_query_that_nobody_waits_for_ends() {
    let text = kernel(&looped(40, "pl.range(0, 4, 1)", "x = pl.add(x, x)"));
    let fixture = Fixture::new(&text).with_settings(ENDLESS);
    let (analysis, file) = (fixture.host.snapshot(), fixture.file);
    let canceller = analysis.canceller();
    let running = thread::spawn(move || analysis.generated_codes(file));
    // Before the query begins there is nothing to cancel.
    while !running.is_finished() {
        canceller.cancel();
        thread::yield_now();
    }
    assert!(running.join().expect("no panic").is_err());
}

/// Values that hold one another, again and again: small, and without end for who goes through them.
#[test]
fn what_is_shared_is_gone_through_as_often_as_it_is_held_and_no_more() {
    let doubled = "    x = (x, x)\n".repeat(60);
    let triton = "import triton\nimport triton.language as tl\n\n@triton.jit\n";
    let gluon = "import triton\nfrom triton.experimental import gluon\nfrom triton.experimental.gluon import language as gl\n\n@gluon.jit\n";
    let tlx = "import triton\nimport triton.language as tl\nimport triton.language.extra.tlx as tlx\n\n@triton.jit\n";
    let texts = [
        format!(
            "{triton}def k(p, t, B: tl.constexpr):\n    x = (p, (p, t))\n{doubled}    y = x[0][0][0]\n    tl.store(p + tl.arange(0, B), y)\n\nk[(1,)](1, 2, B=64)\n"
        ),
        format!(
            "{triton}def k(p, n):\n    x = (p, n)\n    for i in range(n):\n{}    tl.store(p, x[0][0])\n",
            doubled.replace("    x", "        x")
        ),
        format!(
            "{triton}def k(p, n):\n    x = (p,)\n    if n > 1:\n{}    else:\n        x = (p, p)\n    f(x)\n",
            doubled.replace("    x", "        x")
        ),
        format!("{triton}def k(p):\n    x = p\n{}    tl.store(p, x)\n", "    x = x.a\n".repeat(5000)),
        format!("{triton}def k(p):\n    x = 'a'\n{}    tl.store(p, x)\n", "    x = f'{x}{x}'\n".repeat(60)),
        format!("{triton}def k(p):\n    x = '{{}}{{}}'\n{}    tl.store(p, x)\n", "    x = x.format(x, x)\n".repeat(60)),
        kernel(&format!("x = (x, x)\n{}y = x", "x = (x, x)\n".repeat(60))),
        kernel(&format!("y = [x]\nfor i in pl.range(4):\n{}", "    y = [y, i, y]\n".repeat(60))),
        format!(
            "{gluon}def k(p, n: gl.constexpr):\n    x = [gl.allocate_shared_memory(gl.float16, [64, 64], gl.SwizzledSharedLayout(1, 1, 1, order=[1, 0]))]\n{}    x[0][0].load()\n",
            doubled.replace("(x, x)", "{1: x, 2: [x, x]}")
        ),
        format!(
            "{tlx}def k(p, n: tl.constexpr):\n    x = tlx.local_alloc((64, 64), tl.float16, 2)\n{doubled}    tlx.local_store(x[0][0], p)\n"
        ),
        format!(
            "{triton}def k(p, B: tl.constexpr):\n    tl.store(p + tl.arange(0, B), 1)\n\ndef f(x):\n    x = (1, 2)\n{doubled}    k[(1,)](x, B=x[0][0])\n"
        ),
        format!(
            "{triton}def k(p, B: tl.constexpr):\n    tl.store(p + tl.arange(0, B), 1)\n\nx0 = {{1: 1}}\n{}k[(1,)](1, B=x59[1][1])\n",
            (1..60).map(|i| format!("x{i} = {{1: x{0}, 2: [x{0}]}}\n", i - 1)).collect::<String>()
        ),
        format!(
            "{triton}def k(p, B: tl.constexpr):\n    tl.store(p + tl.arange(0, B), 1)\n\ndef f(c):\n    x = c\n{}    k[(1,)](x, B=x)\n",
            "    x = triton.Config({'a': x, 'b': x})\n    y = x == x\n".repeat(60)
        ),
    ];
    for text in texts {
        let fixture = Fixture::new(&text).with_settings("limits = { steps = 300000 }");
        let diagnostics = fixture.diagnostics();
        let is_too_large = |it: &&tilefit_analysis::ide::Diagnostic| it.message.contains("too large to be analysed");
        assert_eq!(diagnostics.iter().find(is_too_large).map(|it| &it.message), None, "{text}");
        fixture.plans();
        fixture.inlay_hints(fixture.whole());
        fixture.code_actions(fixture.whole());
    }
}

/// While a `pl.yield_` is typed, the loop carries a tile that nothing writes. That is said, and it is not taken for a fault of the plan.
#[test]
fn a_loop_that_yields_nothing_is_planned_in_part() {
    let text = "\
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        total = pl.load(x, [0, 0], [16, 64])
        for i in pl.pipeline(0, 4, stage=4):
            for j, (part,) in pl.range(0, n, init_values=(total,)):
                for k, (sum,) in pl.pipeline(0, 3, stage=4, init_values=(part,)):
                    row = pl.load(x, [k * 16, 0], [16, 64])
                    out = pl.store(row, [k * 16, 0], out)
                    more = pl.yield_f\"{(pl.maximum(sum, part))
                end = pl.yield_(pl.maximum(part, part))
            total = pl.abs(total)
        out = pl.store(total, [0, 0], out)
        return out
";
    for planner in ["sequential", "packed", "dsa-rp"] {
        let said = Fixture::new(text).with_settings(&format!("planner = \"{planner}\"")).diagnostics();
        let said: Vec<String> = said.into_iter().map(|it| it.message).collect();
        assert!(!said.iter().any(|message| message.contains("report")), "{planner}: {said:?}");
    }
}

//! Kernels that would cost too much: what is said of them, and what can interrupt them.

use std::sync::mpsc;
use std::thread;

use expect_test::{Expect, expect};
use tilefit_analysis::project::Config;
use tilefit_analysis::{Analysis, AnalysisHost, FileId};
use tilefit_syntax::Document;

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

fn host(text: &str, settings: &str) -> (AnalysisHost, FileId) {
    let mut host = AnalysisHost::new();
    let mut config = Config::default();
    assert_eq!(config.apply_tilefit_toml(settings), []);
    host.set_config(config);
    let file = host.file_id("/kernel.py");
    host.set_document(file, Document::new(text));
    (host, file)
}

fn analysis(text: &str, settings: &str) -> (Analysis, FileId) {
    let (host, file) = host(text, settings);
    (host.snapshot(), file)
}

fn said(text: &str, settings: &str) -> String {
    let (analysis, file) = analysis(text, settings);
    let diagnostics = analysis.diagnostics(file).expect("nothing cancels");
    diagnostics.iter().map(|it| format!("{}: {}\n", it.code, it.message)).collect()
}

fn generated(text: &str, settings: &str) -> String {
    let (analysis, file) = analysis(text, settings);
    let codes = analysis.generated_codes(file).expect("nothing cancels");
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
    let entries: String = (0..20_000).map(|i| format!("{i}: {i}, ")).collect();
    let text = kernel("x = pl.load(a, [0, 0], [D[16], 16])")
        .replace("@pl.program", &format!("D = {{{entries}}}\n\n@pl.program"));
    check(
        &text,
        "",
        expect![[r#"
        not-modelled: not modelled: a dictionary of more than 1024 entries
    "#]],
    );
}

#[test]
fn an_edit_does_not_wait_for_a_stage() {
    let text = kernel(&looped(40, "pl.range(0, 4, 1)", "x = pl.add(x, x)"));
    let (mut host, file) = host(&text, ENDLESS);
    let snapshot = host.snapshot();
    let (begun, beginning) = mpsc::channel();
    let running = thread::spawn(move || {
        begun.send(()).expect("the test waits");
        snapshot.generated_codes(file).is_err()
    });
    beginning.recv().expect("it begins");
    // Waits until the snapshot is dropped.
    host.set_document(file, Document::new("x = 1\n"));
    // It may not have begun, and then has seen the new text at once.
    running.join().expect("no panic");
}

#[test]
fn a_query_that_nobody_waits_for_ends() {
    let text = kernel(&looped(40, "pl.range(0, 4, 1)", "x = pl.add(x, x)"));
    let (analysis, file) = analysis(&text, ENDLESS);
    let canceller = analysis.canceller();
    let running = thread::spawn(move || analysis.generated_codes(file));
    // Before the query begins there is nothing to cancel.
    while !running.is_finished() {
        canceller.cancel();
        thread::yield_now();
    }
    assert!(running.join().expect("no panic").is_err());
}

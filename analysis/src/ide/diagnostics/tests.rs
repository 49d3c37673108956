use std::fmt::Write;

use expect_test::{Expect, expect};
use tilefit_syntax::TextRange;

use crate::ide::diagnostic::Elsewhere;

use crate::Fixture;

const HEADER: &str = "\
import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[512, 128], pl.FP32], out: pl.Out[pl.Tensor[[512, 128], pl.FP32]]):
";

/// What is said of a text under some settings: what stands at each place, and the message.
fn said(text: &str, settings: &str) -> String {
    let fixture = Fixture::new(text).with_settings(settings);
    let mut shown = String::new();
    for it in fixture.diagnostics() {
        let _ = writeln!(shown, "{} {}: {}", it.code, fixture.at(it.range), it.message);
        for related in &it.related {
            let _ = writeln!(shown, "  {}: {}", fixture.at(related.range), related.message);
        }
    }
    shown
}

/// The same of the lines of a kernel.
#[track_caller]
fn check(lines: &str, expect: Expect) {
    let lines: String = lines.lines().map(|line| format!("    {line}\n")).collect();
    expect.assert_eq(&said(&format!("{HEADER}{lines}"), ""));
}

#[test]
fn a_misspelt_operation_has_no_echo() {
    check(
        "x = pl.load(a, [0, 0], [64, 128])\ny = pl.exq(x)\nz = pl.add(y, x)\nw = pl.neg(z)\nout = pl.store(w, [0, 0], out)\nreturn out",
        expect![[r#"
            unknown-name exq: `pl` has no `exq`; did you mean `exp`?
        "#]],
    );
}

#[test]
fn a_misspelt_element_type_has_no_echo() {
    check(
        "x = pl.load(a, [0, 0], [64, 128])\ny = pl.cast(x, target_type=pl.FP61)\nz = pl.add(y, y)\nreturn out",
        expect![[r#"
            unknown-dtype pl.FP61: there is no element type `pl.FP61`; did you mean `pl.FP16`?
        "#]],
    );
    let text = "import pypto.language as pl\n\n@pl.function(type=pl.FunctionType.InCore)\ndef k(a: pl.Tensor[[64, 128], pl.FP23]):\n    x = pl.load(a, [0, 0], [64, 128])\n    y = pl.exp(x)\n";
    expect![[r#"
        unknown-dtype pl.FP23: there is no element type `pl.FP23`; did you mean `pl.FP32`?
    "#]]
    .assert_eq(&said(text, ""));
}

#[test]
fn what_does_not_parse_is_a_warning_without_echo() {
    check(
        "x = pl.load(a, [0, 0], [64, 128])\ny = pl.exp(x\nz = pl.add(y, x)\nout = pl.store(z, [0, 0], out)\nreturn out",
        expect![[r#"
            syntax-error (x: `(` is never closed; the kernel is analysed without this statement
        "#]],
    );
    check(
        "x = pl.load(a, [0, 0], [64, 128])\nfor i in pl.range(4)\n    x = pl.exp(x)\nreturn out",
        expect![[r#"
            syntax-error ): `:` is missing at the end of this line; the kernel is analysed without this statement
        "#]],
    );
}

/// Whoever turns a code off still learns that the kernel is not known.
#[test]
fn what_follows_from_what_is_not_said_is_said() {
    let text = format!("{HEADER}    x = pl.load(a, [0, 0], [64, 128])\n    y = pl.exq(x)\n");
    expect![[r#"
        not-modelled pl.exq: not modelled: `pl` has no `exq`
        not-modelled pl.exq(x): not modelled: `pl.exq` on tensors
    "#]]
    .assert_eq(&said(&text, "[severity]\nunknown-name = \"off\"\n"));
}

#[test]
fn the_stages_of_a_pipeline_are_said_once_where_they_are_asked_for() {
    // 7 iterations are left over by the copies of 4.
    check(
        "w = pl.load(a, [0, 0], [128, 128])\nfor i in pl.pipeline(0, 7, 1, stage=4):\n    x = pl.load(a, [i * 32, 0], [32, 128])\n    y = pl.exp(x)\n    z = pl.add(x, y)\n    out = pl.store(z, [i * 32, 0], out)\nout = pl.store(w, [0, 0], out)\nreturn out",
        expect![[r#"
            pipeline-depth 4: Vec has buffers for only 3 of the 4 stages, so stages that are 3 apart wait for each other. A stage takes `x` (16 KiB), `y` (16 KiB), `z` (16 KiB), and 64 KiB of the 184 KiB are taken by `w` (64 KiB). Make some of these tiles smaller, or write `stage=3`
              w: takes 64 KiB of Vec
        "#]],
    );
}

/// The compiler makes the tiles of Left and Right as large as they fit.
#[test]
fn stages_of_the_compilers_own_are_not_said() {
    let text = "\
import pypto.language as pl

@pl.jit
def main(x: pl.Tensor[[64, 1024], pl.BF16], w: pl.Tensor[[1024, 256], pl.BF16], o: pl.Out[pl.Tensor[[64, 256], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        acc = pl.create_tensor([64, 256], dtype=pl.FP32)
        for k in pl.pipeline(0, 4, stage=2):
            t = x[:, k * 256 : k * 256 + 256]
            u = w[k * 256 : k * 256 + 256, :]
            if k == 0:
                acc = pl.matmul(t, u, out_dtype=pl.FP32)
            else:
                acc = pl.matmul_acc(acc, t, u)
        o = pl.assemble(o, acc, [0, 0])
    return o
";
    expect![[r#""#]].assert_eq(&said(text, ""));
}

const GATE: &str = "import pypto.language as pl

@pl.jit.inline
def gate(x: pl.Tensor[[128, 416], pl.FP32], o: pl.Tensor[[128, 416], pl.FP32]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"pre_route\"):
        o[:, :] = \\
            pl.full([128, 416], dtype=pl.FP32, value=0.0)
    return o
";

/// What is said of the first of some files: where it is written, and what is said.
fn said_of_first(files: &str) -> String {
    let fixture = Fixture::new(files);
    let analysis = fixture.host.snapshot();
    let place = |range: TextRange, elsewhere: Option<Elsewhere>| {
        let Elsewhere { file, range } = elsewhere.unwrap_or(Elsewhere { file: fixture.file, range });
        let document = analysis.document(file);
        let text = &document.rope().to_string()[range.start..range.end];
        format!(
            "{}:{} {}",
            analysis.path(file),
            document.line(range.start),
            text.split('\n').next().unwrap_or_default()
        )
    };
    let mut shown = String::new();
    for it in fixture.diagnostics() {
        let _ = writeln!(shown, "{} {}: {}", it.code, place(it.range, it.elsewhere), it.message);
        for related in &it.related {
            let _ = writeln!(shown, "  {}: {}", place(related.range, related.elsewhere), related.message);
        }
    }
    shown
}

#[test]
fn what_a_function_of_another_file_does_is_said_there_once() {
    let layer = "# file: /lib/layer.py\nimport pypto.language as pl\nfrom gate import gate\n\n@pl.jit.inline\ndef layer(x: pl.Tensor[[128, 416], pl.FP32], o: pl.Tensor[[128, 416], pl.FP32]):\n    gate(x, o)\n    return o\n";
    let entry = "# file: /lib/entry.py\nimport pypto.language as pl\nfrom layer import layer\n\n@pl.jit\ndef entry(x: pl.Tensor[[128, 416], pl.FP32], o: pl.Out[pl.Tensor[[128, 416], pl.FP32]]):\n    layer(x, o)\n    layer(o, o)\n    return o\n";
    expect![[r#"
        capacity-exceeded /lib/gate.py:7 pl.full([128, 416], dtype=pl.FP32, value=0.0): scope `pre_route`: Vec overflow: `o:full` [128, 416] alone takes 208 KiB, 184 KiB available (24 KiB over). Split it into parts of at most 184 KiB. (compiler: "Vec buffer usage (212992 bytes) exceeds platform limit (188416 bytes)")
          /lib/gate.py:7 pl.full([128, 416], dtype=pl.FP32, value=0.0): `o:full` takes 208 KiB of Vec at the peak
          /lib/entry.py:6 layer(x, o): `layer` is called here
          /lib/layer.py:6 gate(x, o): `gate` is called here
          /lib/entry.py:7 layer(o, o): `layer` is called here
    "#]].assert_eq(&said_of_first(&[entry, layer, "# file: /lib/gate.py\n", GATE].concat()));
}

#[test]
fn what_the_compiler_adds_is_called_after_the_statement_and_the_plan_is_over_by_one_number() {
    let text = "# file: entry.py\nimport pypto.language as pl\n\n@pl.jit\ndef entry(x: pl.Tensor[[128, 416], pl.FP32], o: pl.Out[pl.Tensor[[128, 416], pl.FP32]]):\n    with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"norm\"):\n        squares = pl.mul(pl.add(x[:, :], 1.0), pl.add(x[:, :], 2.0))\n        o[:, :] = squares\n    return o\n";
    expect![[r#"
        capacity-exceeded entry.py:6 x[:, :]: Vec overflow: 416 KiB live at once, 184 KiB available (232 KiB over). Save at least 232 KiB there: make tiles smaller, for example `squares:adds` (208 KiB), or use them for the last time earlier. (compiler: "Vec buffer usage (425984 bytes) exceeds platform limit (188416 bytes)")
          entry.py:6 pl.add(x[:, :], 1.0): `squares:adds` takes 208 KiB of Vec at the peak
          entry.py:6 x[:, :]: `squares:load` takes 208 KiB of Vec at the peak
    "#]].assert_eq(&said_of_first(text));
}

//! The reference pages of `docs/reference/` are made by running tilelens; `UPDATE_EXPECT=1` writes them anew.

use std::fmt::Write;

use expect_test::expect_file;
use tilelens_analysis::AnalysisHost;
use tilelens_analysis::ide::KernelPlan;
use tilelens_analysis::ops;
use tilelens_syntax::Document;

/// A construct, and statements that show it. They stand in a kernel with tensors `a` and `b` of 64 × 64, a scalar `n`, an
/// output `out`, and a loaded tile `x`; their result is `y`.
const CONSTRUCTS: &[(&str, &str)] = &[
    ("assignment", "y = pl.exp(x)"),
    ("annotated assignment", "y: pl.Tile[[64, 64], pl.FP32] = pl.exp(x)"),
    ("nested calls", "y = pl.exp(pl.neg(x))"),
    ("rebinding a name", "y = pl.exp(x)\ny = pl.neg(y)"),
    ("a constant of the module in a shape", "y = pl.load(a, [0, 0], [ROWS, 64])"),
    ("arithmetic on constants", "y = pl.load(a, [0, 0], [ROWS // 2 * 2, 64])"),
    ("a shape as one name", "y = pl.load(a, [0, 0], SHAPE)"),
    ("scalar expressions in offsets", "y = pl.load(a, [n * 2 + 1, 0], [64, 64])"),
    ("`for … in pl.range` that rebinds", "y = x\nfor i in pl.range(0, 4):\n    y = pl.add(y, x)"),
    (
        "`for … in pl.range(init_values=)`",
        "for i, (acc,) in pl.range(0, 4, 1, init_values=(x,)):\n    s = pl.add(acc, acc)\n    y = pl.yield_(s)",
    ),
    ("`pl.parallel`", "y = pl.exp(x)\nfor i in pl.parallel(0, 4):\n    t = pl.exp(x)"),
    ("`pl.unroll`", "y = x\nfor i in pl.unroll(2):\n    y = pl.add(y, x)"),
    (
        "`pl.pipeline(stage=)`",
        "y = pl.exp(x)\nfor i in pl.pipeline(0, 4, 1, stage=2):\n    t = pl.load(a, [i, 0], [16, 64])\n    u = pl.exp(t)",
    ),
    ("`while`", "y = x\nk = n\nwhile k < 4:\n    k = k + 1"),
    ("`if` / `else` that rebinds", "if n > 0:\n    y = pl.exp(x)\nelse:\n    y = pl.neg(x)"),
    ("`if` without `else`", "y = pl.exp(x)\nif n > 0:\n    y = pl.neg(y)"),
    (
        "`pl.yield_` in branches",
        "if n > 0:\n    t = pl.exp(x)\n    y = pl.yield_(t)\nelse:\n    u = pl.neg(x)\n    y = pl.yield_(u)",
    ),
    (
        "`break` and `continue`",
        "y = pl.exp(x)\nfor i in pl.range(0, 4):\n    if n > 2:\n        break\n    t = pl.exp(x)",
    ),
    ("subscript of a tile", "y = x[0:32, 0:64]"),
    ("`pl.slice`", "y = pl.slice(x, [32, 64], [0, 0])"),
    ("`pl.reshape`", "y = pl.reshape(x, [32, 128])"),
    ("a declared allocation", "y: pl.Tile[[64, 64], pl.FP32, BUFFER, pl.Mem.Vec] = pl.exp(x)"),
    (
        "slots of a declared allocation",
        "y = pl.exp(x)\nfor i in pl.range(0, 4):\n    t: pl.Tile[[16, 64], pl.FP32, SLOTS[i % 2], pl.Mem.Vec] = pl.load(a, [i, 0], [16, 64])",
    ),
    ("matrix product from Mat", "l = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\ny = pl.matmul(l, l)"),
    (
        "vector work on a product",
        "l = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)\np = pl.matmul(l, l)\nv = pl.move(p, target_memory=pl.Mem.Vec)\ny = pl.exp(v)",
    ),
    ("an operation that tilelens does not know", "y = pl.no_such_operation(x)"),
    ("augmented assignment", "y = x\ny += x"),
    ("operators on tiles", "y = x + x"),
    ("conditional expression", "y = x if n > 0 else x"),
];

fn plan_of(statements: &str) -> Vec<KernelPlan> {
    let body: String = statements.lines().map(|line| format!("        {line}\n")).collect();
    let text = format!(
        "import pypto.language as pl\n\nROWS = 64\nSHAPE = [64, 64]\nBUFFER = pl.MemRef()\nSLOTS = pl.MemRef(slots=2)\n\n@pl.program\nclass P:\n    @pl.function(type=pl.FunctionType.InCore)\n    def k(self, a: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:\n        x = pl.load(a, [0, 0], [64, 64])\n{body}        out = pl.store(y, [0, 0], out)\n        return out\n"
    );
    let mut host = AnalysisHost::new();
    let file = host.file_id("construct.py");
    host.set_document(file, Document::new(&text));
    host.snapshot().plans(file).expect("nothing is edited")
}

/// What tilelens makes of a construct, in a word and a reason.
fn modelled(plans: &[KernelPlan]) -> (&'static str, String) {
    let rejected = plans.iter().flat_map(|plan| &plan.diagnostics).find(|diagnostic| diagnostic.severity == "error");
    if let Some(rejected) = rejected {
        return ("refused, as by the compiler", rejected.message.clone());
    }
    let reason = plans.iter().flat_map(|plan| &plan.reasons).next().cloned().unwrap_or_default();
    match plans.iter().all(|plan| plan.status == "exact") {
        true => ("exact", reason),
        false => ("partly", reason),
    }
}

#[test]
fn the_language_page_is_what_tilelens_does() {
    let mut page = "# The language, as tilelens reads it\n\nMade by running tilelens on each example (`tests/tests/reference.rs`). *exact*: the addresses are the compiler's. *partly*: the rest of\nthe kernel is analysed, and a hint says what is not modelled.\n\n| construct | example | modelled | what is said |\n|---|---|---|---|\n".to_owned();
    for (construct, statements) in CONSTRUCTS {
        let (word, reason) = modelled(&plan_of(statements));
        let example = statements.replace('\n', "` <br> `").replace('|', "\\|");
        let _ = writeln!(page, "| {construct} | `{example}` | {word} | {} |", reason.replace('|', "\\|"));
    }
    expect_file!["../../docs/reference/language.md"].assert_eq(&page);
}

#[test]
fn the_operations_page_is_the_table() {
    let mut page = "# Operations\n\nThe operation table of tilelens (`analysis/src/ops/`), as a page. Made by `tests/tests/reference.rs`.\n\n| operation | written as | operands | instruction | what the compiler demands |\n|---|---|---|---|---|\n".to_owned();
    for op in ops::OPS.iter() {
        let names: Vec<_> =
            op.names.iter().map(|(name, _)| format!("`pl.{}`", name.trim_start_matches("pl."))).collect();
        let cells = [
            format!("`{}`", op.name),
            names.join(" "),
            op.args.join(", "),
            op.pto.to_owned(),
            op.constraints.to_owned(),
        ];
        let _ = writeln!(page, "| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "));
    }
    expect_file!["../../docs/reference/operations.md"].assert_eq(&page);
}

//! Notebooks as files, and other places where kernels are written, or only look like it.

use super::*;

const NOTEBOOK: &[u8] = include_bytes!("../../../docs/examples/notebook.ipynb");

/// A notebook of these cells of code.
fn notebook(cells: &[&str]) -> Vec<u8> {
    let cells: Vec<_> = cells
        .iter()
        .map(|text| json!({ "cell_type": "code", "source": text.split_inclusive('\n').collect::<Vec<_>>() }))
        .collect();
    json!({ "nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells }).to_string().into_bytes()
}

#[test]
fn findings_are_named_by_cell() {
    let root = directory("notebook", &[("tour.ipynb", NOTEBOOK)]);
    check(
        &root,
        &["check", "tour.ipynb"],
        &expect![[r#"
        error[capacity-exceeded]: Vec overflow: 256 KiB live at once, 184 KiB available
                                  (72 KiB over). Any one of these fixes it: remove
                                  `value` or `weight`; make the last use of `value` come
                                  before `weight` is written. (compiler: "Vec buffer
                                  usage (262144 bytes) exceeds platform limit (188416
                                  bytes)")
          ╭▸ tour.ipynb:cell 4:8:5
          │
        7 │     value = pl.load(x, [0, 0], [ROWS, COLS])
          │     ───── `value` takes 128 KiB of Vec at the peak
        8 │     weight = pl.load(weights, [0, 0], [ROWS, COLS])
          │     ━━━━━━
          │     │
          ╰╴    `weight` takes 128 KiB of Vec at the peak

        tour.ipynb:cell 4:2: gate (ascend910b, sequential)
          Vec        ████████████████████   256 KiB of 184 KiB    140 %, 72 KiB over

        Checked 1 kernel in 1 file: 1 error.
        exit 1
    "#]],
    );
    check(
        &root,
        &["plan", "tour.ipynb:gate"],
        &expect![[r#"
        tour.ipynb:cell 4:2: gate (ascend910b, sequential)
          tile    space  address  bytes   shape       dtype  buffer     lines
          value   Vec    0x0      131072  [128, 256]  FP32   mem_vec_3  7-9
          weight  Vec    0x20000  131072  [128, 256]  FP32   mem_vec_4  8-9
          scaled  Vec    0x0      131072  [128, 256]  FP32   mem_vec_3  9-10
          Vec        ████████████████████   256 KiB of 184 KiB    140 %, 72 KiB over
          error: line 8: Vec overflow: 256 KiB live at once, 184 KiB available (72 KiB over). Any 

        planned for PyPTO e2d0f78ae (August 2026)
        exit 0
    "#]],
    );
    check(
        &root,
        &["check", "--format", "github", "--quiet", "."],
        &expect![[r#"
            ::error file=tour.ipynb,line=48,title=capacity-exceeded::cell 4, line 8: Vec overflow: 256
            exit 1
        "#]],
    );
    let report = |format: &str| -> Value {
        serde_json::from_str(&tilefit(&root, &["check", "--format", format, "."]).stdout).expect("JSON")
    };
    let json = report("json");
    let place = &json["diagnostics"][0]["place"];
    assert_eq!((&place["file"], &place["cell"], &place["line"]), (&json!("tour.ipynb"), &json!(4), &json!(8)));
    assert_eq!((&json["kernels"][0]["cell"], &json["kernels"][0]["line"]), (&json!(4), &json!(2)));
    let result = &report("sarif")["runs"][0]["results"][0];
    let location = &result["locations"][0];
    let written = String::from_utf8_lossy(NOTEBOOK);
    let line = written.lines().position(|line| line.contains("weight = pl.load")).expect("the line") + 1;
    let region = json!({ "startLine": line, "endLine": line });
    assert_eq!(location["physicalLocation"], json!({ "artifactLocation": { "uri": "tour.ipynb" }, "region": region }));
    assert_eq!(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], line - 1);
    assert_eq!(
        (&location["properties"]["cell"], &location["properties"]["region"]["startLine"]),
        (&json!(4), &json!(8))
    );
    assert!(result["message"]["text"].as_str().is_some_and(|text| text.starts_with("cell 4, line 8: Vec overflow")));
}

/// What shows a place shows the file, so that a line of a cell is one of the file, or none.
#[test]
fn a_notebook_in_one_line_has_no_lines_to_show() {
    let compact: Value = serde_json::from_slice(NOTEBOOK).expect("JSON");
    let root = directory("notebook-compact", &[("tour.ipynb", compact.to_string().as_bytes())]);
    let run = |format: &str| tilefit(&root, &["check", "--quiet", "--format", format, "."]).stdout;
    let commands = run("github");
    assert!(commands.starts_with("::error file=tour.ipynb,title=capacity-exceeded::cell 4, line 8: "), "{commands}");
    let report: Value = serde_json::from_str(&run("sarif")).expect("JSON");
    let location = &report["runs"][0]["results"][0]["locations"][0];
    assert_eq!(location["physicalLocation"], json!({ "artifactLocation": { "uri": "tour.ipynb" } }));
    assert_eq!(location["properties"]["region"]["startLine"], 8);
}

#[test]
fn every_command_that_shows_kernels_reads_notebooks() {
    let root = directory("notebook-commands", &[("tour.ipynb", NOTEBOOK)]);
    for (arguments, shown) in [
        (["plan", "--format", "json", "tour.ipynb"].as_slice(), "\"cell\":4,\"line\":2"),
        (&["plan", "--format", "python", "tour.ipynb"], "AIV gate"),
        (&["map", "tour.ipynb"], "weight"),
        (&["codegen", "tour.ipynb"], "runGate"),
    ] {
        let run = tilefit(&root, arguments);
        assert!(run.code == Some(0) && run.stdout.contains(shown), "{arguments:?}: {}{}", run.stdout, run.stderr);
    }
    let tuned = include_str!("../../../docs/examples/tuned_matmul.py");
    let root = directory(
        "notebook-configs",
        &[("tuned.ipynb", &notebook(&["!nvidia-smi", tuned])), ("tuned.py", tuned.as_bytes())],
    );
    let configs = |file: &str| tilefit(&root, &["configs", file]).stdout;
    assert_eq!(configs("tuned.ipynb"), configs("tuned.py").replace("tuned.py:", "tuned.ipynb:cell 2:"));
}

#[test]
fn a_change_of_a_notebook_is_compared() {
    let root = directory("notebook-diff", &[("tour.ipynb", NOTEBOOK)]);
    let git = |arguments: &[&str]| {
        let set = ["-c", "user.name=x", "-c", "user.email=x@x", "-c", "init.defaultBranch=main"];
        let done = Command::new("git").args(set).args(arguments).current_dir(&root).output().expect("git runs");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "x"]);
    let text = String::from_utf8(NOTEBOOK.to_vec()).expect("text").replace("ROWS, COLS = 128", "ROWS, COLS = 64");
    fs::write(root.join("tour.ipynb"), text).expect("writable");
    let run = tilefit(&root, &["diff", "main"]);
    assert!(run.stdout.starts_with("tour.ipynb:cell 4:2: gate\n"), "{}{}", run.stdout, run.stderr);
    assert!(run.stdout.contains("256 KiB → 128 KiB of 184 KiB"), "{}", run.stdout);
    let json: Value =
        serde_json::from_str(&tilefit(&root, &["diff", "--format", "json", "main"]).stdout).expect("JSON");
    assert_eq!((&json["kernels"][0]["before"]["cell"], &json["kernels"][0]["after"]["cell"]), (&json!(4), &json!(4)));
}

#[test]
fn settings_leave_notebooks_out_and_what_is_none_is_told() {
    let root = directory(
        "notebook-selection",
        &[
            ("tilefit.toml", b"exclude = [\"old/\"]\n"),
            ("old/tour.ipynb", NOTEBOOK),
            (".ipynb_checkpoints/tour.ipynb", NOTEBOOK),
            ("new/tour.ipynb", NOTEBOOK),
            ("broken.ipynb", b"{\n  \"nbformat\": 4,\n"),
            ("julia.ipynb", br#"{ "nbformat": 4, "metadata": { "language_info": { "name": "julia" } }, "cells": [] }"#),
        ],
    );
    check(
        &root,
        &["check", "--statistics", "."],
        &expect![[r#"
          1  error  capacity-exceeded  the tiles do not fit in a memory space
        Checked 1 kernel in 3 files: 1 failure, 1 error.
        tilefit: ./broken.ipynb: not a Jupyter notebook: EOF while parsing a value at line 3 colum
        exit 2
    "#]],
    );
    check(
        &root,
        &["plan", "broken.ipynb"],
        &expect![[r#"
        tilefit: broken.ipynb: not a Jupyter notebook: EOF while parsing a value at line 3 column 
        exit 2
    "#]],
    );
    assert_eq!(tilefit(&root, &["check", "--fix", "new"]).code, Some(1));
    assert_eq!(fs::read(root.join("new/tour.ipynb")).expect("readable"), NOTEBOOK);
}

#[test]
fn magics_disturb_nothing() {
    const KERNEL: &str = "@pl.function(type=pl.FunctionType.InCore)\ndef k(a: pl.Tensor[[512, ROWS], pl.FP32]):\n    x = pl.load(a, [0, 0], [512, ROWS])\n";
    let cells = [
        "%load_ext autoreload\n!pip install pypto \\\n  --quiet\n%time import pypto.language as pl",
        "%%bash\necho '\"\"\"'",
        "%%time\nROWS = 512",
        "pl.load?",
        "# half of a cell\nprint('''",
        KERNEL,
    ];
    let root = directory("notebook-magics", &[("magics.ipynb", &notebook(&cells))]);
    let json: Value = serde_json::from_str(&tilefit(&root, &["check", "--format", "json", "."]).stdout).expect("JSON");
    let found = &json["diagnostics"];
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    assert_eq!(
        (&found[0]["code"], &found[0]["place"]["cell"], &found[0]["place"]["line"]),
        (&json!("capacity-exceeded"), &json!(6), &json!(3))
    );
}

/// As plugins of Vim, and other editors without notebooks, keep them: Python with marks for cells.
#[test]
fn a_percent_file_is_python() {
    let text = |magic: &str| {
        format!(
            "# %% [markdown]\n# # Tour\n\n# %%\n{magic}\nimport pypto.language as pl\nROWS = 512\n\n# %%\n@pl.function(type=pl.FunctionType.InCore)\ndef k(a: pl.Tensor[[512, ROWS], pl.FP32]):\n    x = pl.load(a, [0, 0], [512, ROWS])\n"
        )
    };
    for magic in ["# %matplotlib inline", "%matplotlib inline", "!pip list", "# !pip list", "%%time", "pl.load?"] {
        let root = directory("percent", &[("tour.py", text(magic).as_bytes())]);
        let run = tilefit(&root, &["check", "--format", "json", "."]);
        let json: Value = serde_json::from_str(&run.stdout).expect("JSON");
        let found: Vec<_> = json["diagnostics"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|it| (&it["code"], &it["place"]["line"]))
            .collect();
        assert_eq!(found, [(&json!("capacity-exceeded"), &json!(12))], "{magic}: {}{}", run.stdout, run.stderr);
    }
}

#[test]
fn kernels_in_strings_are_left_alone() {
    let test = "
import textwrap

KERNEL = '''
import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[512, 512], pl.FP32]):
    x = pl.load(a, [0, 0], [512, 512])
'''

def test_overflow(tmp_path):
    \"\"\"
    @pl.function(type=pl.FunctionType.InCore)
    def inner(a: pl.Tensor[[512, 512], pl.FP32]):
        x = pl.load(a, [0, 0], [512, 512])
    \"\"\"
    source = textwrap.dedent(f'''
        # tilefit: BLOCK=4
        @triton.jit
        def j(x, BLOCK: tl.constexpr):
            tl.load(x + tl.arange(0, BLOCK))
    ''')
    (tmp_path / 'k.py').write_text(KERNEL + source)
";
    for import in ["", "import pypto.language as pl\n", "import triton\nimport triton.language as tl\n"] {
        let root = directory("strings", &[("test_k.py", (import.to_owned() + test).as_bytes())]);
        let json: Value =
            serde_json::from_str(&tilefit(&root, &["check", "--format", "json", "."]).stdout).expect("JSON");
        assert_eq!((&json["kernels"], &json["diagnostics"]), (&json!([]), &json!([])), "{import}");
    }
}

/// A declaration has no body, and so says nothing of what its kernel takes.
#[test]
fn stubs_have_no_kernels() {
    let stub = b"
import triton
import triton.language as tl
import pypto.language as pl

@triton.jit
def add(x_ptr, n: int, BLOCK: tl.constexpr) -> None: ...

@pl.function(type=pl.FunctionType.InCore)
def k(a: pl.Tensor[[512, 512], pl.FP32]) -> pl.Tensor[[512, 512], pl.FP32]: ...
";
    let root = directory("stubs", &[("k.pyi", stub)]);
    let json: Value =
        serde_json::from_str(&tilefit(&root, &["check", "--format", "json", "k.pyi"]).stdout).expect("JSON");
    assert_eq!((&json["kernels"], &json["diagnostics"]), (&json!([]), &json!([])));
}

/// Comments for formatters, type checkers and linters, wherever those are written.
#[test]
fn comments_for_other_tools_change_no_plan() {
    const PLAIN: &str = "import pypto.language as pl

@pl.function(type=pl.FunctionType.InCore)
def k(
    a: pl.Tensor[[64, 512], pl.FP32],
    out: pl.Out[pl.Tensor[[64, 512], pl.FP32]],
):
    t = pl.load(a, [0, 0], [64, 512])
    for i in pl.range(0, 4):
        v = pl.load(a, [0, 0], [64, 64])
        out = pl.store(v, [0, 0], out)
    out = pl.store(t, [0, 0], out)
    return out
";
    let plan = |text: &str| {
        let root = directory("comments", &[("k.py", text.as_bytes())]);
        let mut json: Value =
            serde_json::from_str(&tilefit(&root, &["plan", "--format", "json", "k.py"]).stdout).expect("JSON");
        json["kernels"].take()
    };
    let expected = plan(PLAIN);
    assert_eq!(expected[0]["status"], "exact", "{expected}");
    for comment in [
        "# fmt: skip",
        "# fmt: off",
        "# fmt: on",
        "# type: ignore[misc]",
        "# type: int",
        "# noqa: E501",
        "# pyright: ignore",
        "# pragma: no cover",
        "# %%",
        "# yapf: disable",
    ] {
        let on_each_line: String = PLAIN
            .lines()
            .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("{line}  {comment}\n") })
            .collect();
        assert_eq!(plan(&on_each_line), expected, "{comment}");
        // In place of the blank line, and as the comment of a signature.
        let alone = PLAIN.replace("\n\n", &format!("\n{comment}\n"));
        assert_eq!(plan(&alone), expected, "{comment}");
    }
    let signature = PLAIN
        .replace("    t =", "    # type: (...) -> pl.Tensor\n    t =")
        .replace("import pypto.language as pl\n\n", "import pypto.language as pl\n");
    assert_eq!(plan(&signature)[0]["tiles"].as_array().map(Vec::len), expected[0]["tiles"].as_array().map(Vec::len));
    assert_eq!(plan(&signature)[0]["spaces"], expected[0]["spaces"]);
}

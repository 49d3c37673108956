//! Scopes on tensors as production code writes them: shapes out of a configuration, helpers in other files.

use tilelens_analysis::AnalysisHost;
use tilelens_analysis::ide::KernelPlan;
use tilelens_analysis::project::Config;
use tilelens_syntax::Document;

/// The plans of the last file.
fn plans(files: &[(&str, &str)]) -> Vec<KernelPlan> {
    let mut host = AnalysisHost::new();
    host.set_config(Config::default());
    let mut last = None;
    for (path, text) in files {
        let file = host.file_id(path);
        host.set_document(file, Document::new(text));
        last = Some(file);
    }
    host.snapshot().plans(last.unwrap()).unwrap_or_default()
}

/// A line for each kernel: its status, and its tiles with their bytes.
fn show(plans: &[KernelPlan]) -> String {
    let mut text = String::new();
    for plan in plans {
        let tiles: Vec<String> = plan.tiles.iter().map(|tile| format!("{} {}", tile.name, tile.bytes)).collect();
        text.push_str(&format!("{} {} {:?} [{}]\n", plan.name, plan.status, plan.reasons, tiles.join(", ")));
    }
    text
}

const CONFIG: (&str, &str) = (
    "/w/config.py",
    "from dataclasses import dataclass

@dataclass(frozen=True)
class Model:
    rows: int
    heads: int
    cols: int = 64

    @property
    def head_cols(self) -> int:
        return self.cols // self.heads

    def describe(self):
        return 'a model'

SMALL = Model(rows=32, heads=2)
",
);

const HELPER: (&str, &str) = (
    "/w/norm.py",
    "import pypto.language as pl
from config import SMALL as M

ROWS = M.rows

@pl.jit.inline
def scaled(x: pl.Tensor, factor, y: pl.Tensor):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint='scaled'):
        w = x[0:ROWS, 0:M.head_cols]
        y[0:ROWS, 0:M.head_cols] = pl.mul(w, factor)
    return y
",
);

#[test]
fn a_configuration_of_a_data_class_gives_shapes() {
    let kernel = "import pypto.language as pl
from config import SMALL as M

@pl.jit
def main(x: pl.Tensor[[M.rows, M.cols], pl.FP32], o: pl.Out[pl.Tensor[[M.rows, M.head_cols], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        o[0:M.rows, 0:M.head_cols] = pl.exp(x[0:M.rows, 0:M.head_cols])
    return o
";
    expect_test::expect![[r#"
        main_incore_0 exact [] [t__tmp_v0 4096, t__tmp_v1 4096]
    "#]]
    .assert_eq(&show(&plans(&[CONFIG, ("/w/main.py", kernel)])));
}

#[test]
fn a_helper_of_another_file_sees_its_own_module() {
    let kernel = "import pypto.language as pl
from norm import scaled

ROWS = 'of this file'

@pl.jit
def main(x: pl.Tensor[[32, 64], pl.FP32], o: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    o = scaled(x, y=o, factor=2.0)
    return o
";
    expect_test::expect![[r#"
        scaled exact [] [w 4096, t__tmp_v0 4096]
    "#]]
    .assert_eq(&show(&plans(&[CONFIG, HELPER, ("/w/main.py", kernel)])));
}

#[test]
fn a_value_that_a_file_overrides_is_the_new_one_there() {
    let kernel = "import dataclasses
import config
config.SMALL = dataclasses.replace(config.SMALL, rows=16)
import pypto.language as pl
from config import SMALL as M

@pl.jit
def main(x: pl.Tensor[[M.rows, M.cols], pl.FP32], o: pl.Out[pl.Tensor[[M.rows, M.cols], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        e = pl.exp(x)
        o[0:M.rows, 0:M.cols] = e
    return o
";
    expect_test::expect![[r#"
        main_incore_0 exact [] [x 4096, e 4096]
    "#]]
    .assert_eq(&show(&plans(&[CONFIG, ("/w/main.py", kernel)])));
}

const BARE: &str = "import pypto.language as pl
import torch

@pl.jit
def main(x: pl.Tensor, o: pl.Out[pl.Tensor]):
    with pl.at(level=pl.Level.CORE_GROUP):
        o[0:32, 0:64] = pl.exp(x)
    return o
";

#[test]
fn shapes_come_from_calls_where_annotations_have_none() {
    let call = "
ROWS = 32

def test_main():
    x = torch.randn(ROWS, 64, dtype=torch.bfloat16)
    o = torch.zeros_like(x)
    main(x, o)
";
    expect_test::expect![[r#"
        main_incore_0 exact [] [x 4096, t__tmp_v0 4096]
    "#]]
    .assert_eq(&show(&plans(&[("/w/main.py", &format!("{BARE}{call}"))])));
    // Calls that differ say nothing.
    let both =
        format!("{BARE}{call}{}", call.replace("test_main", "test_more").replace("64", "32").replace("ROWS = 32", ""));
    expect_test::expect![[r#"
        main_incore_0 partial ["a window of `o`, whose shape is not known; annotate it, or write `# tilelens: o=[rows, columns] bf16` above the function"] []
    "#]]
    .assert_eq(&show(&plans(&[("/w/main.py", &both)])));
}

#[test]
fn a_scenario_comment_gives_shapes() {
    let text = BARE.replace("@pl.jit", "# tilelens: x=[32, 64] fp32, o=[32, 64] fp32\n@pl.jit");
    expect_test::expect![[r#"
        main_incore_0 exact [] [x 8192, t__tmp_v0 8192]
    "#]]
    .assert_eq(&show(&plans(&[("/w/main.py", &text)])));
}

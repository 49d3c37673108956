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

const NORM: &str = "import pypto.language as pl

@pl.jit
def norm(x: pl.Tensor[[16, 64], pl.FP32], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint='norm'):
        total = pl.row_sum(pl.mul(x, x))
        o[0:16, 0:64] = pl.row_expand_mul(x, pl.rsqrt(total))
    return o
";

#[test]
fn the_editor_shows_what_the_compiler_makes_of_a_scope() {
    let mut host = AnalysisHost::new();
    let file = host.file_id("/w/norm.py");
    host.set_document(file, Document::new(NORM));
    let analysis = host.snapshot();
    let offset = NORM.find("total").unwrap();
    let hover = analysis.hover(file, offset).unwrap().unwrap().markdown;
    let (_, made) = hover.split_once("Made by the compiler").unwrap();
    expect_test::expect![[r#"
         for this statement:

        - `tmp_tile` [16, 128] FP32: Vec 0x2000 8 KiB; scratch of the reduction; that of a sum, product, minimum or maximum is at least 128 columns wide
    "#]]
    .assert_eq(made);
    let whole = tilelens_syntax::TextRange::new(0, NORM.len());
    let hints: Vec<String> = analysis.inlay_hints(file, whole).unwrap().into_iter().map(|hint| hint.label).collect();
    expect_test::expect![[r#"
        Vec 0x4000 64 B
        → Vec 0x2000 4 KiB"#]]
    .assert_eq(&hints.join("\n"));
    let program = analysis.allocated_ir_at(file, offset).unwrap().unwrap().text;
    expect_test::expect![[r#"
        AIV norm
            mem_vec_2 = tile.alloc(Vec, 4096)
            mem_vec_3 = tile.alloc(Vec, 4096)
            mem_vec_4 = tile.alloc(Vec, 8192)
            mem_vec_5 = tile.alloc(Vec, 64)
            x.2: Tile[[16, 64], FP32, MemRef(mem_vec_2, 0, 4096), Vec] = tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=Vec)
            t__tmp_v0: Tile[[16, 64], FP32, MemRef(mem_vec_3, 4096, 4096), Vec] = tile.mul(x.2, x.2)
            tmp_tile: Tile[[16, 128], FP32, MemRef(mem_vec_4, 8192, 8192), Vec] = tile.create([16, 128], dtype=FP32, target_memory=Vec)
            total: Tile[[16, 1], FP32, MemRef(mem_vec_5, 16384, 64), Vec] = tile.row_sum(t__tmp_v0, tmp_tile)
            t__rm_a0_tmp_v0: Tile[[1, 16], FP32, MemRef(mem_vec_5, 16384, 64), Vec] = tile.reshape(total, [1, 16])
            t__row_major_tmp_v1: Tile[[1, 16], FP32, MemRef(mem_vec_3, 4096, 64), Vec] = tile.rsqrt(t__rm_a0_tmp_v0)
            t__tmp_v1: Tile[[16, 1], FP32, MemRef(mem_vec_3, 4096, 64), Vec] = tile.reshape(t__row_major_tmp_v1, [16, 1])
            t__tmp_v2: Tile[[16, 64], FP32, MemRef(mem_vec_4, 8192, 4096), Vec] = tile.row_expand_mul(x.2, t__tmp_v1)
            o.2: Tensor[[16, 64], FP32] = tile.store(t__tmp_v2, [0, 0], o)
            return o.2
    "#]]
    .assert_eq(&program);
}

/// The kernels of the page on scopes are exact, so that its maps are true.
#[test]
fn the_kernels_of_the_page_are_exact() {
    let page = include_str!("../../docs/guide/scopes.md");
    let kernels: Vec<&str> = page.split("```python\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(kernels.len(), 3);
    for kernel in kernels {
        let plans = plans(&[("/w/main.py", kernel)]);
        assert!(!plans.is_empty() && plans.iter().all(|plan| plan.status == "exact"), "{}", show(&plans));
    }
}

#[test]
fn many_kernels_at_one_place_share_a_lens() {
    let text = "import pypto.language as pl

@pl.function(type=pl.FunctionType.Orchestration)
def main(x: pl.Tensor[[64, 512], pl.FP32], o: pl.Out[pl.Tensor[[64, 512], pl.FP32]]):
    for i in pl.unroll(6):
        with pl.at(level=pl.Level.CORE_GROUP):
            t = pl.load(x, [0, 0], [64, 64 * (i + 1)])
            o = pl.store(t, [0, 0], o)
    return o
";
    let mut host = AnalysisHost::new();
    let file = host.file_id("/w/k.py");
    host.set_document(file, Document::new(text));
    assert_eq!(host.snapshot().plans(file).unwrap_or_default().len(), 6);
    let lenses = host.snapshot().code_lenses(file).unwrap_or_default();
    let titles: Vec<_> = lenses.iter().map(|lens| lens.title.as_str()).collect();
    expect_test::expect![[r#"
        [
            "6 kernels, the fullest: Vec █████░░░ 53 %",
            "show generated C++",
        ]
    "#]]
    .assert_debug_eq(&titles);
}

//! Scopes on tensors as production code writes them: shapes out of a configuration, helpers in other files.

use tilefit_analysis::Fixture;
use tilefit_analysis::ide::{Effect, KernelPlan};

/// A line for each kernel: its status, and its tiles with their bytes.
fn show(plans: &[KernelPlan]) -> String {
    let mut text = String::new();
    for plan in plans {
        let tiles: Vec<String> = plan.tiles.iter().map(|tile| format!("{} {}", tile.name, tile.bytes)).collect();
        text.push_str(&format!("{} {} {:?} [{}]\n", plan.name, plan.status, plan.reasons, tiles.join(", ")));
    }
    text
}

const CONFIG: &str = "# file: /w/config.py
from dataclasses import dataclass

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
";

const HELPER: &str = "# file: /w/norm.py
import pypto.language as pl
from config import SMALL as M

ROWS = M.rows
COLS = M.head_cols

@pl.jit.inline
def scaled(x: pl.Tensor, factor, y: pl.Tensor):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint='scaled'):
        w = x[0:ROWS, 0:COLS]
        y[0:ROWS, 0:COLS] = pl.mul(w, factor)
    return y
";

#[test]
fn a_configuration_of_a_data_class_gives_shapes() {
    let kernel = "import pypto.language as pl
from config import SMALL as M

ROWS, COLS = M.rows, M.head_cols

@pl.jit
def main(x: pl.Tensor[[M.rows, M.cols], pl.FP32], o: pl.Out[pl.Tensor[[M.rows, M.head_cols], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        o[0:ROWS, 0:COLS] = pl.exp(x[0:ROWS, 0:COLS])
    return o
";
    expect_test::expect![[r#"
        main_incore_0 exact [] [t__tmp_v0 4096, t__tmp_v1 4096]
    "#]]
    .assert_eq(&show(&Fixture::new(&[kernel, CONFIG].concat()).plans()));
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
    .assert_eq(&show(&Fixture::new(&[kernel, CONFIG, HELPER].concat()).plans()));
}

#[test]
fn a_value_that_a_file_overrides_is_the_new_one_there() {
    let kernel = "import dataclasses
import config
config.SMALL = dataclasses.replace(config.SMALL, rows=16)
import pypto.language as pl
from config import SMALL as M

ROWS, COLS = M.rows, M.cols

@pl.jit
def main(x: pl.Tensor[[M.rows, M.cols], pl.FP32], o: pl.Out[pl.Tensor[[M.rows, M.cols], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        e = pl.exp(x)
        o[0:ROWS, 0:COLS] = e
    return o
";
    expect_test::expect![[r#"
        main_incore_0 exact [] [x 4096, e 4096]
    "#]]
    .assert_eq(&show(&Fixture::new(&[kernel, CONFIG].concat()).plans()));
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
    .assert_eq(&show(&Fixture::new(&format!("{BARE}{call}")).plans()));
    // Where calls differ it is the first one.
    let both =
        format!("{BARE}{call}{}", call.replace("test_main", "test_more").replace("64", "32").replace("ROWS = 32", ""));
    expect_test::expect![[r#"
        main_incore_0 exact [] [x 4096, t__tmp_v0 4096]
    "#]]
    .assert_eq(&show(&Fixture::new(&both).plans()));
}

#[test]
fn a_scenario_comment_gives_shapes() {
    let text = BARE.replace("@pl.jit", "# tilefit: x=[32, 64] fp32, o=[32, 64] fp32\n@pl.jit");
    expect_test::expect![[r#"
        main_incore_0 exact [] [x 8192, t__tmp_v0 8192]
    "#]]
    .assert_eq(&show(&Fixture::new(&text).plans()));
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
    let fixture = Fixture::new(NORM);
    let offset = fixture.find("total");
    let hover = fixture.hover(offset).unwrap().markdown;
    let (_, made) = hover.split_once("Made by the compiler").unwrap();
    expect_test::expect![[r#"
         for this statement:

        - `total:scratch` [16, 128] FP32: Vec 0x2000 8 KiB; scratch of the reduction; that of a sum, product, minimum or maximum is at least 128 columns wide
    "#]]
    .assert_eq(made);
    let hints: Vec<String> = fixture.inlay_hints(fixture.whole()).into_iter().map(|hint| hint.label).collect();
    expect_test::expect![[r#"
        Vec 0x4000 64 B
        → Vec 0x2000 4 KiB"#]]
    .assert_eq(&hints.join("\n"));
    // A parameter that is read whole is a tile.
    let hover = fixture.hover(fixture.find("x, x")).unwrap().markdown;
    assert!(hover.contains("| address | `0x0` – `0x1000` |"), "{hover}");
    let program = fixture.allocated_ir_at(offset).unwrap().text;
    expect_test::expect![[r#"
        AIV norm
            mem_vec_2 = tile.alloc(Vec, 4096)
            mem_vec_3 = tile.alloc(Vec, 4096)
            mem_vec_4 = tile.alloc(Vec, 8192)
            mem_vec_5 = tile.alloc(Vec, 64)
            x.2: Tile[[16, 64], FP32, MemRef(mem_vec_2, 0x0, 4096), Vec] = tile.load(x, [0, 0], [16, 64], [16, 64], target_memory=Vec)
            t__tmp_v0: Tile[[16, 64], FP32, MemRef(mem_vec_3, 0x1000, 4096), Vec] = tile.mul(x.2, x.2)
            tmp_tile: Tile[[16, 128], FP32, MemRef(mem_vec_4, 0x2000, 8192), Vec] = tile.create([16, 128], dtype=FP32, target_memory=Vec)
            total: Tile[[16, 1], FP32, MemRef(mem_vec_5, 0x4000, 64), Vec] = tile.row_sum(t__tmp_v0, tmp_tile)
            t__rm_a0_tmp_v0: Tile[[1, 16], FP32, MemRef(mem_vec_5, 0x4000, 64), Vec] = tile.reshape(total, [1, 16])
            t__row_major_tmp_v1: Tile[[1, 16], FP32, MemRef(mem_vec_3, 0x1000, 64), Vec] = tile.rsqrt(t__rm_a0_tmp_v0)
            t__tmp_v1: Tile[[16, 1], FP32, MemRef(mem_vec_3, 0x1000, 64), Vec] = tile.reshape(t__row_major_tmp_v1, [16, 1])
            t__tmp_v2: Tile[[16, 64], FP32, MemRef(mem_vec_4, 0x2000, 4096), Vec] = tile.row_expand_mul(x.2, t__tmp_v1)
            o.2: Tensor[[16, 64], FP32] = tile.store(t__tmp_v2, [0, 0], o)
            return o
    "#]]
    .assert_eq(&program);
}

/// The kernels of the page on scopes are exact, so that its maps are true.
#[test]
fn the_kernels_of_the_page_are_exact() {
    let page = include_str!("../../docs/guide/scopes.md");
    let blocks = page.split("```python ").skip(1).filter_map(|rest| rest.split("```").next()?.split_once('\n'));
    let kernels: Vec<&str> = blocks.map(|(_name, kernel)| kernel).collect();
    assert_eq!(kernels.len(), 3);
    for kernel in kernels {
        let plans = Fixture::new(kernel).plans();
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
    let fixture = Fixture::new(text);
    assert_eq!(fixture.plans().len(), 6);
    let texts = fixture.code_lenses().into_iter().map(|lens| fixture.code_lens(lens));
    let titles: Vec<_> = texts.map(|text| text.map_or_else(String::new, |text| text.title)).collect();
    expect_test::expect![[r#"
        [
            "6 kernels, the fullest: Vec ████░░░░ 53 % · rejected",
            "show generated C++",
        ]
    "#]]
    .assert_debug_eq(&titles);
}

/// What the hover says of the first `x: ` in a text.
fn origin_of_x(text: &str, settings: &str) -> Option<String> {
    let fixture = Fixture::new(text).with_settings(settings);
    let hover = fixture.hover(fixture.find("x: "))?;
    Some(
        hover
            .markdown
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with("```"))
            .collect::<Vec<_>>()
            .join(" "),
    )
}

#[test]
fn the_hover_says_where_a_shape_comes_from() {
    let call = format!("{BARE}\nif __name__ == '__main__':\n    main(torch.randn(32, 64), torch.zeros(32, 64))\n");
    let settings = "[shapes.main]\nx = \"[16, 64] bf16\"\no = \"[32, 64] bf16\"\n";
    let comment = call.replace("@pl.jit", "# tilefit: x=[8, 64] fp16\n@pl.jit");
    assert_eq!(origin_of_x(BARE, ""), None);
    let said = [origin_of_x(&call, ""), origin_of_x(&call, settings), origin_of_x(&comment, settings)];
    expect_test::expect![[r#"
        x: pl.Tensor[[32, 64], pl.FP32] The shape is that of the call in this file.
        x: pl.Tensor[[16, 64], pl.BF16] The shape is that of the setting `shapes.main.x`.
        x: pl.Tensor[[8, 64], pl.FP16] The shape is that of the scenario comment."#]]
    .assert_eq(&said.map(Option::unwrap).join("\n"));
}

#[test]
fn shapes_come_from_the_configuration() {
    let fixture = Fixture::new(BARE);
    assert_eq!(fixture.plans()[0].status, "partial");
    let fixture = fixture.with_settings("[shapes.main]\nx = \"[32, 64] bf16\"\no = \"[32, 64] bf16\"\n");
    assert_eq!(show(&fixture.plans()), "main_incore_0 exact [] [x 4096, t__tmp_v0 4096]\n");
}

/// Applies the quick fix that says a shape until none is offered any more, and returns the lines that it added.
fn say_shapes(text: &str) -> (String, Vec<KernelPlan>) {
    let mut fixture = Fixture::new(text);
    let mut comments = String::new();
    loop {
        let actions = fixture.code_actions(fixture.whole());
        let says = actions.into_iter().find_map(|action| match action.effect {
            Effect::Fix(fix) if action.title.starts_with("Write the shape") => Some(fix),
            _ => None,
        });
        let Some(fix) = says else { return (comments, fixture.plans()) };
        let [(range, comment)] = fix.edits.as_slice() else { panic!("one edit") };
        let line = fixture.text[range.start..].lines().next().unwrap();
        comments += &format!("{} above {line}\n", comment.trim_end());
        // As an author would fill it in.
        let comment = comment.replace("rows", "32").replace("columns", "64");
        fixture.retype(&fixture.edited(&[(*range, comment)]));
        assert!(comments.lines().count() < 5, "{comments}");
    }
}

#[test]
fn a_quick_fix_says_shapes_in_comments() {
    let (comments, plans) = say_shapes(BARE);
    expect_test::expect![[r#"
        # tilefit: o=[rows, columns] bf16 above @pl.jit
        # tilefit: x=[rows, columns] bf16 above # tilefit: o=[32, 64] bf16
        main_incore_0 exact [] [x 4096, t__tmp_v0 4096]
    "#]]
    .assert_eq(&format!("{comments}{}", show(&plans)));
}

#[test]
fn shapes_of_a_called_function_are_said_above_its_caller() {
    let text = "import pypto.language as pl

@pl.jit.inline
def double(x: pl.Tensor, o: pl.Tensor):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint='double'):
        o[0:32, 0:64] = pl.add(x, x)
    return o

@pl.jit
def main(a: pl.Tensor, b: pl.Out[pl.Tensor]):
    return double(a, b)
";
    let (comments, plans) = say_shapes(text);
    expect_test::expect![[r#"
        # tilefit: b=[rows, columns] bf16 above @pl.jit
        # tilefit: a=[rows, columns] bf16 above # tilefit: b=[32, 64] bf16
        double exact [] [a 4096, t__tmp_v0 4096]
    "#]]
    .assert_eq(&format!("{comments}{}", show(&plans)));
}

/// The paragraphs and list items of a hover on `at` that say what the compiler makes.
fn made(body: &str, at: &str) -> String {
    let text = format!(
        "import pypto.language as pl

@pl.jit
def main(x: pl.Tensor[[16, 512], pl.BF16], w: pl.Tensor[[512, 256], pl.BF16], o: pl.Out[pl.Tensor[[16, 256], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
{body}    return o
"
    );
    let fixture = Fixture::new(&text);
    let hover = fixture.hover(fixture.find(at)).unwrap().markdown;
    hover
        .lines()
        .filter(|line| line.starts_with("The product [") || line.starts_with("- "))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn a_hover_says_how_a_product_is_divided_and_why() {
    let named = made("        y = pl.matmul(x, w)\n        o[0:16, 0:256] = y\n", "y = ");
    expect_test::expect![[r#"
        The product [16, 512] × [512, 256] is computed in blocks of m = 16, n = 256, k = 64; the accumulator stays in Acc while the other operands are streamed. That is the cheapest by the compiler's cost model: 3499 cycles (3196 for loads in parallel with 680 for multiplications, 303 to drain Acc). Unblocked it would need 256 KiB of Right; a block may use 32 KiB.
        - `y:load` [16, 512] BF16: Mat 0x0 16 KiB; loaded to Mat for this product
        - `y:load` [512, 256] BF16: Mat 0x4000 256 KiB; loaded to Mat for this product
        - `y:sum` [16, 256] FP32: Acc 0x0 16 KiB; the accumulator of the blocks
        - `y:left` [16, 64] BF16: Left 2 copies: 0x0, 0x800, 2 KiB each; a block of the left operand, taken from Mat
        - `y:right` [64, 256] BF16: Right 2 copies: 0x0, 0x8000, 32 KiB each; a block of the right operand, taken from Mat"#]].assert_eq(&named);
    // Without a name the operation tells.
    let stored = made("        o[0:16, 0:256] = pl.matmul(x, w)\n", "matmul(").replace("`o:", "`y:");
    assert_eq!(named, stored);
    let small = made("        o[0:16, 0:64] = pl.matmul(x[:, 0:64], w[0:64, 0:64])\n", "matmul(");
    expect_test::expect![[r#"
        The product [16, 64] × [64, 64] is computed at once: its operands fit Left and Right, its result fits Acc. That is the cheapest by the compiler's cost model: 347 cycles (112 for loads in parallel with 37 for multiplications, 235 to drain Acc).
        - `o:left` [16, 64] BF16: Left 0x0 2 KiB; the left operand, where the cube reads it
        - `o:right` [64, 64] BF16: Right 0x0 8 KiB; the right operand, where the cube reads it
        - `o:matmul` [16, 64] FP32: Acc 0x0 4 KiB; the value of a nested call"#]].assert_eq(&small);
}

#[test]
fn the_program_of_tiles_leads_back_to_the_text() {
    let fixture = Fixture::new(NORM);
    let program = fixture.allocated_ir_at(fixture.find("total")).unwrap();
    let lines: Vec<&str> = program.text.lines().collect();
    let source = |line: u32| {
        let (_, range) = program.map.iter().find(|(mapped, _)| *mapped == line).unwrap();
        fixture.at(*range).lines().next().unwrap().to_owned()
    };
    let led: Vec<String> = program
        .map
        .iter()
        .map(|&(line, _)| {
            let operation = lines[line as usize].split("= ").last().unwrap().trim().split('(').next().unwrap();
            format!("{operation:20} {}", source(line))
        })
        .collect();
    expect_test::expect![[r#"
        tile.load            x
        tile.mul             pl.mul(x, x)
        tile.create          total
        tile.row_sum         total
        tile.reshape         pl.rsqrt(total)
        tile.rsqrt           pl.rsqrt(total)
        tile.reshape         pl.rsqrt(total)
        tile.row_expand_mul  pl.row_expand_mul(x, pl.rsqrt(total))
        tile.store           o
        return o             with pl.at(level=pl.Level.CORE_GROUP, name_hint='norm'):"#]]
    .assert_eq(&led.join("\n"));
    assert_eq!(program.map.last().map(|(line, _)| *line as usize), Some(lines.len() - 1));
}

#[test]
fn the_programs_of_both_cores_stand_below_each_other() {
    let text = "import pypto.language as pl

@pl.jit
def main(x: pl.Tensor[[64, 64], pl.BF16], w: pl.Tensor[[64, 64], pl.BF16], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint='mixed'):
        for i in pl.range(2):
            o[0:64, 0:64] = pl.exp(pl.matmul(x, w))
    return o
";
    let fixture = Fixture::new(text);
    let program = fixture.allocated_ir_at(fixture.find("o[0:64")).unwrap();
    let lines: Vec<&str> = program.text.lines().collect();
    assert!(lines[0].starts_with("AIC mixed_aic") && program.text.contains("\n\nAIV mixed_aiv\n"), "{}", program.text);
    // Each line of a statement has a source, in both.
    let is_statement = |line: &&&str| line.starts_with("    ") && !line.contains("= tile.alloc(");
    assert_eq!(program.map.len(), lines.iter().filter(is_statement).count(), "{}", program.text);
    for (line, range) in &program.map {
        let text = fixture.at(*range);
        assert!(!lines[*line as usize].trim().starts_with("for ") || text.starts_with("for "), "{line}: {text}");
    }
}

/// The plans of one file with what they rest on, beside [`show`].
fn check_alone(text: &str, expect: expect_test::Expect) {
    let plans = Fixture::new(text).plans();
    let mut shown = show(&plans);
    for assumed in plans.first().map(|plan| plan.assumes.clone()).unwrap_or_default() {
        shown.push_str(&format!("assumes: {assumed}\n"));
    }
    expect.assert_eq(&shown);
}

const KERNELS: &str = r#"
import pypto.language as pl
import torch

@pl.jit.incore
def twice(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    tile = pl.load(x, [0, 0], [64, 32])
    y = pl.store(pl.add(tile, tile), [0, 0], y)
    return y

@pl.jit
def four_times(x: pl.Tensor, y: pl.Out[pl.Tensor]):
    between = pl.create_tensor([64, 32], dtype=pl.FP16)
    between = twice(x, between)
    y = twice(between, y)
    return y
"#;

#[test]
fn shapes_come_from_what_the_host_passes() {
    let called = |host: &str| format!("{KERNELS}\n{host}");
    check_alone(
        &called(
            "if __name__ == \"__main__\":\n    x = torch.randn(64, 32).half()\n    four_times(x, torch.zeros_like(x))\n",
        ),
        expect_test::expect![[r#"
            twice exact [] [tile 4096, t__tmp_v0 4096]
            assumes: `x` is [64, 32] FP16, as in the call in `four_times`
            assumes: `y` is [64, 32] FP16, as in the call in `four_times`
        "#]],
    );
    // Cases in a loop, functions in a table, tensors that a helper makes.
    check_alone(
        &called(
            r#"
MODES = {"four": four_times}

def inputs(rows, dtype=torch.float16):
    x = torch.ones((rows, 32), dtype=dtype)
    return x, torch.empty_like(x)

def main():
    args = parser.parse_args()
    for name, kernel in MODES.items():
        x, y = inputs(64)
        kernel(x, y, config=args.config)
"#,
        ),
        expect_test::expect![[r#"
            twice exact [] [tile 4096, t__tmp_v0 4096]
            assumes: `x` is [64, 32] FP16, as in the call in `four_times`
            assumes: `y` is [64, 32] FP16, as in the call in `four_times`
        "#]],
    );
}

#[test]
fn what_a_condition_may_change_is_not_known_behind_it() {
    let alone = KERNELS.split("@pl.jit\n").next().unwrap_or_default();
    check_alone(
        &format!(
            r#"{alone}
def main(flag):
    x = torch.ones((64, 32), dtype=torch.float16)
    if flag:
        x = x.t()
    twice(x, torch.zeros(64, 32, dtype=torch.float16))
"#
        ),
        expect_test::expect![[r#"
            twice partial ["the element type of the tensor is unknown"] []
            assumes: `y` is [64, 32] FP16, as in the call in `main`
        "#]],
    );
}

#[test]
fn calls_that_differ_say_so() {
    check_alone(
        &format!(
            "{KERNELS}\ndef main():\n    for rows in (64, 128):\n        x = torch.zeros(rows, 32, dtype=torch.float16)\n        twice(x, x)\n"
        ),
        expect_test::expect![[r#"
            twice exact [] [tile 4096, t__tmp_v0 4096]
            assumes: `x` is [64, 32] FP16, as in the call in `four_times`, the first of 2 that differ
            assumes: `y` is [64, 32] FP16, as in the call in `four_times`, the first of 2 that differ
        "#]],
    );
}

#[test]
fn a_factory_is_called_with_numbers() {
    check_alone(
        r#"
import pypto.language as pl

def build(rows: int, cols: int = 32):
    """Calls of build() inside of it do not count."""

    @pl.program
    class Program:
        @pl.function(type=pl.FunctionType.InCore)
        def kernel(self, x: pl.Tensor[[rows, cols], pl.FP32], y: pl.Out[pl.Tensor[[rows, cols], pl.FP32]]):
            tile = pl.load(x, [0, 0], [rows, cols])
            y = pl.store(pl.exp(tile), [0, 0], y)
            return y

    return Program

if __name__ == "__main__":
    rows = 4 * 16
    program = build(rows=rows)
"#,
        expect_test::expect![[r#"
            build.Program.kernel exact [] [tile 8192, t__tmp_v0 8192]
            assumes: `rows` is 64, as in the call in this file
        "#]],
    );
}

#[test]
fn a_configuration_is_that_of_a_start_without_arguments() {
    check_alone(
        r#"
import os
import sys
from dataclasses import dataclass, replace

import pypto.language as pl

@dataclass(frozen=True)
class Model:
    name: str
    rows: int

    @property
    def cols(self) -> int:
        return self.rows // 2

MODELS = {model.name: model for model in (Model("small", 32), Model("large", 64))}
CHOICES = ("small", "large")

def chosen():
    name = os.environ.get("MODEL", "large")
    for index, token in enumerate(sys.argv):
        if token.startswith("--model="):
            name = token.split("=", 1)[1]
    return name.strip().lower()

TABLE = {name: replace(MODELS[name], rows=2 * MODELS[name].rows) for name in CHOICES}
M = TABLE[chosen()]
ROWS, COLS = M.rows, M.cols

@pl.jit
def kernel(x: pl.Tensor[[ROWS, COLS], pl.FP32], y: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        y[0:ROWS, 0:COLS] = pl.exp(x)
    return y
"#,
        expect_test::expect![[r#"
            kernel_incore_0 exact [] [x 32768, t__tmp_v0 32768]
            assumes: the script runs without arguments
            assumes: `MODEL` is not set in the environment
        "#]],
    );
}

#[test]
fn products_of_batches_are_products_of_their_pages() {
    check_alone(
        r#"
import pypto.language as pl

@pl.jit
def kernel(
    x: pl.Tensor[[32, 128], pl.BF16],
    w: pl.Tensor[[3, 64, 128], pl.BF16],
    y: pl.Out[pl.Tensor[[3, 32, 64], pl.FP32]],
    z: pl.Out[pl.Tensor[[32, 64], pl.FP32]],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="stored"):
        y[0:3, 0:32, 0:64] = pl.matmul(x, w, b_trans=True, out_dtype=pl.FP32)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="accumulated"):
        acc = pl.create_tensor([1, 32, 64], dtype=pl.FP32)
        for k in pl.pipeline(0, 128, 64, stage=2):
            part = x[0:32, k : k + 64]
            page = w[1:2, 0:64, k : k + 64]
            if k == 0:
                acc = pl.matmul(part, page, b_trans=True, out_dtype=pl.FP32)
            else:
                acc = pl.matmul_acc(acc, part, page, b_trans=True)
        z[0:32, 0:64] = pl.reshape(acc, [32, 64])
    return y, z
"#,
        expect_test::expect![[r#"
            stored exact [] [x_mat 8192, w_mat 49152, w_mat_t 49152, lhs_slice_0_textract 8192, rhs_slice_0_textract 16384, matmul_0 8192, lhs_slice_0_textract 8192, rhs_slice_1_textract 16384, matmul_1 8192, lhs_slice_0_textract 8192, rhs_slice_2_textract 16384, matmul_2 8192]
            accumulated exact [] [acc 8192, acc 8192, part 4096, part 4096, page 8192, lhs_slice_0_textract 4096, page_t 8192, rhs_slice_0_textract 8192, acc 8192, lhs_slice_0_textract 4096, page_t 8192, rhs_slice_0_textract 8192, acc 8192, acc 8192, page 8192, lhs_slice_0_textract 4096, page_t 8192, rhs_slice_0_textract 8192, acc 8192, lhs_slice_0_textract 4096, page_t 8192, rhs_slice_0_textract 8192, acc 8192, acc 8192, acc 8192, t__tmp_v0 8192]
        "#]],
    );
}

#[test]
fn transfers_between_devices_go_through_staging_tiles() {
    check_alone(
        r#"
import pypto.language as pl
import pypto.language.distributed as pld

@pl.jit
def kernel(
    x: pl.Tensor[[64, 256], pl.FP16],
    window: pld.DistributedTensor[[64, 256], pl.FP16],
    signal: pld.DistributedTensor[[8, 1], pl.INT32],
):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="push"):
        me = pld.rank(pld.get_comm_ctx(window))
        for row in pl.range(0, 64, 16):
            pld.tensor.put(dst=window, peer=me + 1, src=x, dst_offsets=[row, 0], src_offsets=[row, 0], shape=[16, 256])
        pld.system.notify(target=signal, peer=me + 1, offsets=[me, 0], value=1, op=pld.NotifyOp.AtomicAdd)
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="pull"):
        pld.system.wait(signal=signal, offsets=[0, 0], expected=1, cmp=pld.WaitCmp.Ge)
        pld.tensor.get(dst=x, peer=0, src=window, chunk_rows=8, chunk_cols=128, pipeline=True)
    return x
"#,
        expect_test::expect![[r#"
            push exact [] [tput_stage 8192]
            pull exact [] [tget_stage_ping 2048, tget_stage_pong 2048]
        "#]],
    );
}

/// What the loop multiplies is a name in Vec of an accumulator that is used again.
#[test]
fn a_name_of_an_accumulator_says_another_memory() {
    let text = "import pypto.language as pl

@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[128, 384], pl.FP32], w: pl.Tensor[[48, 256], pl.FP32], o: pl.Out[pl.Tensor[[128, 256], pl.FP32]]):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint='scope'):
            a = x[0:16, 0:48]
            p = pl.matmul(a, w, out_dtype=pl.FP32)
            b = x[0:64, 0:64]
            c = x[64:128, 0:32]
            q = pl.matmul(b, c, out_dtype=pl.FP32)
            o[0:64, 0:32] = q
            for i in pl.range(2):
                p = pl.mul(p, -1.0)
        return o
";
    let plans = Fixture::new(text).plans();
    assert!(plans.iter().all(|plan| plan.diagnostics.iter().all(|said| said.severity != "error")), "{}", show(&plans));
}

#[test]
fn what_the_compiler_mistakes_is_not_modelled() {
    let text = "import pypto.language as pl

SLOTS = pl.MemRef(slots=4)

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def slots(self, a: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        for i in pl.range(4):
            first: pl.Tile[[16, 64], pl.FP32, SLOTS[i % 4], pl.Mem.Vec] = pl.load(a, [i * 16, 0], [16, 64])
            for k, (carried,) in pl.range(8, init_values=(first,)):
                more = pl.add(carried, 1.0)
                last = pl.yield_(more)
            o = pl.store(last, [i * 16, 0], o)
        return o

    @pl.function
    def whiles(self, a: pl.Tensor[[16, 64], pl.FP32], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"nested\"):
            x = a[0:16, 0:64]
            j = pl.const(0, pl.INT64)
            while j < n:
                k = pl.const(0, pl.INT64)
                while k < n:
                    x = pl.exp(x)
                    k = k + 1
                j = j + 1
            o[0:16, 0:64] = x
        return o

    @pl.function
    def casts(self, a: pl.Tensor[[16, 64], pl.FP32], n: pl.Scalar[pl.INT32], m: pl.Scalar[pl.INDEX], o: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> pl.Tensor[[16, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint=\"compared\"):
            x = a[0:16, 0:64]
            if n == m:
                o[0:16, 0:64] = x
            elif n > m:
                o[0:16, 0:64] = pl.exp(x)
        return o
";
    let plans = Fixture::new(text).plans();
    let said: String = plans.iter().map(|plan| format!("{} {} {:?}\n", plan.name, plan.status, plan.reasons)).collect();
    expect_test::expect![[r#"
        P.slots partial ["`carried`, which a loop carries from a computed slot"]
        P.nested partial ["`x` is carried through a `while` loop, which the compiler's memory planning ignores"]
        P.compared partial ["a condition on `n` and `m`, which have different types, inside another condition on them"]
    "#]]
    .assert_eq(&said);
}

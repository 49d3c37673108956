//! Where concrete values come from, in which order, and what several scenarios come to.

use std::fmt::Write;

use expect_test::{Expect, expect};

use super::open;

/// The values of the parameters with their origins, then the table of the scenarios.
#[track_caller]
fn check(text: &str, settings: &str, expected: Expect) {
    let fixture = open(text, settings);
    let mut out = String::new();
    let signature = fixture.find("def kernel(");
    let (params, _) = fixture.text[signature..].split_once("):").expect("its end");
    for param in params["def kernel(".len()..].split(", ") {
        let at = signature + params.find(param).expect("the parameter");
        if let Some(hover) = fixture.hover(at) {
            let _ = writeln!(out, "{}", hover.markdown);
        }
    }
    let plans = fixture.plans();
    for scenario in plans.iter().filter(|plan| plan.name == "kernel").flat_map(|plan| &plan.scenarios) {
        let selected = if scenario.selected { "* " } else { "" };
        let (values, takes, verdict) = (&scenario.values, &scenario.takes, scenario.verdict);
        let _ = writeln!(out, "{selected}{values:?} smem {} tmem {} {verdict}", takes["smem"], takes["tmem"]);
    }
    expected.assert_eq(&out);
}

const KERNEL: &str = "
@triton.autotune(configs=[triton.Config({\"M\": m, \"STAGES\": s}) for m in [64, 128] for s in [2, 8]], key=[], prune_configs_by={})
@triton.jit
def kernel(desc, M: tl.constexpr, STAGES: tl.constexpr, D: tl.constexpr, K: tl.constexpr = 64):
    tl.static_assert(STAGES < 16)
    a = tlx.local_alloc((M, K), tlx.dtype_of(desc), STAGES)
    b = tlx.local_alloc((D, K), tlx.dtype_of(desc), STAGES)
    with tlx.async_tasks():
        with tlx.async_task(\"default\"):
            tlx.local_store(a[0], tlx.local_load(a[1]))
            tlx.local_store(b[0], tlx.local_load(b[1]))

def launch(x, y):
    kernel[(1,)](x, D=128)
";

#[test]
fn values_without_a_word_from_the_author() {
    check(
        KERNEL,
        "",
        expect![[r#"
            `desc` is unknown: `desc` has no value here; add a comment `# tilefit: desc=bf16` above the kernel
            `M = 64`, from autotune configuration 1 of 4
            `STAGES = 2`, from autotune configuration 1 of 4
            `D = 128`, from the launch in `launch`
            `K = 64`, from the default of the parameter
            * {"M": "64", "STAGES": "2"} smem 24576 tmem 0 fits
            {"M": "64", "STAGES": "8"} smem 98304 tmem 0 depends
            {"M": "128", "STAGES": "2"} smem 32768 tmem 0 depends
            {"M": "128", "STAGES": "8"} smem 131072 tmem 0 depends
        "#]],
    );
}

#[test]
fn a_setting_comes_before_the_configurations() {
    check(
        KERNEL,
        "[tlx.scenarios.kernel]\nM = 128\ndesc = \"bf16\"\n",
        expect![[r#"
            `desc = tl.bfloat16`, from the setting `tlx.scenarios`
            `M = 128`, from the setting `tlx.scenarios`
            `STAGES = 2`, from autotune configuration 3 of 4
            `D = 128`, from the launch in `launch`
            `K = 64`, from the default of the parameter
            {"STAGES": "8"} smem 262144 tmem 0 exceeds
            * {"STAGES": "2"} smem 65536 tmem 0 fits
        "#]],
    );
    check(
        KERNEL,
        "[tlx.scenarios.kernel]\nD = [128, 256]\ndesc = [\"bf16\", \"fp32\"]\nSTAGES = 2\nM = 64\n",
        expect![[r#"
            `desc = tl.bfloat16`, from the setting `tlx.scenarios`
            `M = 64`, from the setting `tlx.scenarios`
            `STAGES = 2`, from the setting `tlx.scenarios`
            `D = 128`, from the setting `tlx.scenarios`
            `K = 64`, from the default of the parameter
            * {"D": "128", "desc": "tl.bfloat16"} smem 49152 tmem 0 fits
            {"D": "128", "desc": "tl.float32"} smem 98304 tmem 0 fits
            {"D": "256", "desc": "tl.bfloat16"} smem 81920 tmem 0 fits
            {"D": "256", "desc": "tl.float32"} smem 163840 tmem 0 fits
        "#]],
    );
    check(
        KERNEL,
        "[[tlx.scenarios.\"*\"]]\ndesc = \"bf16\"\nM = 32\narch = \"sm_90\"\n[[tlx.scenarios.\"*\"]]\ndesc = \"fp32\"\n",
        expect![[r#"
            `desc = tl.bfloat16`, from the setting `tlx.scenarios`
            `M = 32`, from the setting `tlx.scenarios`
            `STAGES` is unknown: `STAGES` has no value here; add a comment `# tilefit: STAGES=128` above the kernel
            `D = 128`, from the launch in `launch`
            `K = 64`, from the default of the parameter
            {"M": "128", "STAGES": "8", "desc": "tl.float32"} smem 524288 tmem 0 exceeds
            {"M": "64", "STAGES": "8", "desc": "tl.float32"} smem 393216 tmem 0 exceeds
            * {"M": "32", "STAGES": "?", "arch": "sm_90", "desc": "tl.bfloat16"} smem 0 tmem 0 unknown
            {"M": "64", "STAGES": "2", "desc": "tl.float32"} smem 98304 tmem 0 fits
            {"M": "128", "STAGES": "2", "desc": "tl.float32"} smem 131072 tmem 0 fits
        "#]],
    );
}

#[test]
fn a_comment_comes_before_a_setting() {
    let text = KERNEL.replace("@triton.jit\n", "# tilefit: desc=fp16 STAGES=8\n@triton.jit\n");
    check(
        &text,
        "[tlx.scenarios.kernel]\nM = 128\ndesc = \"bf16\"\n",
        expect![[r#"
            `desc = tl.float16`, from the scenario comment
            `M = 128`, from the setting `tlx.scenarios`
            `STAGES = 8`, from the scenario comment
            `D = 128`, from the launch in `launch`
            `K = 64`, from the default of the parameter
        "#]],
    );
}

#[test]
fn only_the_selected_scenario_has_errors() {
    let fixture = open(KERNEL, "[tlx.scenarios.kernel]\ndesc = \"bf16\"\n");
    assert_eq!(fixture.diagnostics(), []);
    let hover = fixture.hover(fixture.find("kernel(desc")).expect("the kernel has one");
    expect![[r#"
        `kernel` on sm_100: SMEM 49152/232448

        | live at the peak | bytes | at |
        |---|---|---|
        | b | 32768 | 0 |
        | a | 16384 | 32768 |
        * assumed: the device is sm_100 (none is named)

        3 of 4 configurations fit.

        | | M | STAGES | SMEM | |
        |---|---|---|---|---|
        | 4 | 128 | 8 | 262144 | exceeds |
        | **1** | 64 | 2 | 49152 | fits |
        | 2 | 64 | 8 | 196608 | fits |
        | 3 | 128 | 2 | 65536 | fits |

        The decorator that tunes the kernel may drop some before they are compiled.

        The plan and its errors are of the one in bold. A comment `# tilefit: NAME=value` selects another.
    "#]]
    .assert_eq(&hover.markdown);
    let lenses = fixture.code_lenses();
    let text = fixture.code_lens(lenses[0].clone()).expect("it is there");
    expect!["4 configurations · 48–256 KiB of 227 KiB · 3 fit · assumes sm_100"].assert_eq(&text.title);
}

#[test]
fn nothing_is_counted_where_no_size_is_known() {
    let fixture = open(&KERNEL.replace("D=128", "D=y"), "");
    let hover = fixture.hover(fixture.find("kernel(desc")).expect("the kernel has one");
    let said = hover.markdown.lines().find(|line| line.contains("configuration")).expect("a line of the table");
    expect!["The memory of no configuration is known."].assert_eq(said);
}

#[test]
fn mistakes_in_settings_are_named() {
    let mut config = tilefit_analysis::project::Config::default();
    for settings in
        ["[tlx]\nscenarios = 3\n", "[tlx.scenarios.kernel]\narch = \"sm_1\"\n", "[tlx.scenarios]\nkernel = 3\n"]
    {
        let problems = config.apply_tilefit_toml(settings);
        assert!(problems.iter().any(|problem| problem.message.starts_with("`tlx.scenarios` takes")), "{problems:?}");
    }
}

#[test]
fn constants_say_where_they_are_from() {
    let fixture = open(
        "
BLOCK = tl.constexpr(64)

@triton.jit
def kernel(M: tl.constexpr = 128):
    WIDTH: tl.constexpr = 2 * BLOCK + M
    a = tlx.local_alloc((M, BLOCK), tl.float16, WIDTH // 64)
    view = a[0]
",
        "",
    );
    let mut out = String::new();
    for name in ["BLOCK),", "WIDTH // 64", "M, BLOCK", "WIDTH:"] {
        let hover = fixture.hover(fixture.find(name)).expect("a value");
        let _ = writeln!(out, "{}", hover.markdown);
    }
    expect![[r#"
        `BLOCK = 64`, from the code around the kernel
        `WIDTH = 256`, from the assignment in the kernel
        `M = 128`, from the default of the parameter
        `WIDTH = 256`, from the assignment in the kernel
    "#]]
    .assert_eq(&out);
}

#[test]
fn a_test_says_what_it_launches() {
    check(
        "
import pytest
import torch
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def kernel(desc, x, M: tl.constexpr, STAGES: tl.constexpr):
    a = tlx.local_alloc((M, 64), tlx.dtype_of(desc), STAGES)
    b = tlx.local_alloc((M, 64), tlx.dtype_of(x), STAGES)
    with tlx.async_tasks():
        with tlx.async_task(\"default\"):
            tlx.local_store(a[0], tlx.local_load(a[1]))
            tlx.local_store(b[0], tlx.local_load(b[1]))

def launch(x, y, **options):
    m = x.shape[-1]
    keywords = {\"M\": m, **options}
    kernel[(1,)](TensorDescriptor.from_tensor(x, [m, 64]), y, num_warps=8, **keywords)

@pytest.mark.parametrize(\"stages, dtype\", [(2, torch.float16), (4, torch.float8_e5m2)])
def test_launch(stages, dtype, device):
    if stages > 8:
        pytest.skip(\"too many\")
    x = torch.empty((64, 128), dtype=dtype, device=device)
    launch(x, torch.zeros_like(x).to(torch.float32), STAGES=stages)
",
        "",
        expect![[r#"
            `desc = tl.float16`, from the launch in `test_launch`
            `x = tl.float32`, from the launch in `test_launch`
            `M = 128`, from the launch in `test_launch`
            `STAGES = 2`, from the launch in `test_launch`
            * {"STAGES": "2", "desc": "tl.float16"} smem 98304 tmem 0 fits
            {"STAGES": "4", "desc": "tl.float8e5"} smem 163840 tmem 0 fits
        "#]],
    );
}

/// The lens of `kernel`.
fn lens(text: &str) -> String {
    let fixture = open(text, "");
    let lenses = fixture.code_lenses();
    fixture.code_lens(lenses[0].clone()).expect("it is there").title
}

#[test]
fn all_configurations_are_counted() {
    let kernel = |configurations: &str| {
        format!(
            "
@triton.autotune(configs={configurations}, key=[])
@triton.jit
def kernel(M: tl.constexpr, STAGES: tl.constexpr, GROUP: tl.constexpr):
    pid = tl.program_id(0) // GROUP
    a = tlx.local_alloc((M, 64), tl.float16, STAGES)
    with tlx.async_tasks():
        with tlx.async_task(\"default\"):
            tlx.local_store(a[pid % STAGES], tlx.local_load(a[0]))
"
        )
    };
    let configurations = "[triton.Config({\"M\": 128, \"STAGES\": s, \"GROUP\": g}, num_warps=w) \
                          for w in [4, 8] for g in range(9) for s in [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17][:16]]";
    expect!["288 configurations · 32–272 KiB of 227 KiB · 234 fit · assumes sm_100"]
        .assert_eq(&lens(&kernel(configurations)));
    let many = "[triton.Config({\"M\": 128, \"STAGES\": 2, \"GROUP\": g}) for g in range(3000)]";
    expect!["the first 1024 configurations · 32 KiB of 227 KiB · all fit · room for 6 blocks/SM · assumes sm_100"]
        .assert_eq(&lens(&kernel(many)));
    let unknown = "[triton.Config({\"M\": m, \"STAGES\": depth()}) for m in [64, 128]]";
    expect!["to see its memory, give STAGES a value"].assert_eq(&lens(&kernel(unknown)));
}

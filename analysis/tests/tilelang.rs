//! Kernels of TileLang in an editor: what a lens, a hint, a hover and a map say of them, and plans from the text against the compiler's.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use serde_json::Value;
use tilefit_analysis::Fixture;
use tilefit_analysis::ide::Effect;
use tilefit_syntax::TextRange;

const PRODUCT: &str = r#"import tilelang
import tilelang.language as T


@tilelang.jit
def product(M, N, K, rows=128, depth=3, dtype="float16"):
    @T.prim_func
    def main(A: T.Tensor((M, K), dtype), B: T.Tensor((K, N), dtype), C: T.Tensor((M, N), dtype)):
        with T.Kernel(N // 128, M // rows, threads=128) as (bx, by):
            a = T.alloc_shared((rows, 32), dtype)
            b = T.alloc_shared((32, 128), dtype)
            c = T.alloc_fragment((rows, 128), "float32")
            T.clear(c)
            for k in T.Pipelined(K // 32, num_stages=depth):
                T.copy(A[by * rows, k * 32], a)
                T.copy(B[k * 32, bx * 128], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * rows, bx * 128])

    return main
"#;

/// What stands above and in a kernel, and what is wrong with it.
fn said(fixture: &Fixture) -> String {
    let lenses = fixture.code_lenses().into_iter().filter_map(|lens| fixture.code_lens(lens)).map(|lens| lens.title);
    let hints = fixture
        .inlay_hints(fixture.whole())
        .into_iter()
        .map(|hint| format!("{}: {}", line(fixture, hint.offset), hint.label));
    let wrong = fixture.diagnostics().into_iter().map(|it| {
        format!("{}: {}[{}] {}", line(fixture, it.range.start), it.severity.name(), it.code.name(), it.message)
    });
    lenses.chain(hints).chain(wrong).fold(String::new(), |all, one| all + &one + "\n")
}

fn line(fixture: &Fixture, offset: usize) -> usize {
    fixture.at(TextRange::new(0, offset)).matches('\n').count() + 1
}

#[track_caller]
fn check(text: &str, settings: &str, expected: Expect) {
    expected.assert_eq(&said(&Fixture::new(text).with_settings(settings)));
}

const HOPPER: &str = "target = \"sm_90\"";

#[test]
fn a_call_gives_a_factory_its_values() {
    check(
        &format!("{PRODUCT}\n\nkernel = product(1024, 1024, 1024)\n"),
        HOPPER,
        expect![[r#"
        48 KiB of 227 KiB (sm_90) · room for 4 blocks/SM
        10: smem 0x0 3 × 8 KiB
        11: smem 0x6000 3 × 8 KiB
    "#]],
    );
}

#[test]
fn without_a_call_what_is_missing_does_not_matter_to_memory() {
    check(
        PRODUCT,
        HOPPER,
        expect![[r#"
            48 KiB of 227 KiB (sm_90) · room for 4 blocks/SM · assumes large K, M, N
            10: smem 0x0 3 × 8 KiB
            11: smem 0x6000 3 × 8 KiB
        "#]],
    );
}

/// Who gives a parameter something that is not known does not mean its default.
#[test]
fn an_argument_that_is_not_known_is_not_the_default() {
    let call = "\n\nkernel = product(1024, 1024, 1024, rows=chosen())\n";
    check(
        &format!("from elsewhere import chosen\n{PRODUCT}{call}"),
        HOPPER,
        expect![[r#"
            ≥ 8 KiB of 227 KiB (sm_90)
            12: smem 3 × 8 KiB
            7: hint[not-modelled] not modelled: `T.gemm`: `rows` is given a value that is not known; add a comment `# tilefit: rows=128` above the kernel
        "#]],
    );
    let call = "\n\nkernel = product(1024, 1024, 1024, **chosen())\n";
    check(
        &format!("from elsewhere import chosen\n{PRODUCT}{call}"),
        HOPPER,
        expect![[r#"
            memory not known: the type of a buffer: `dtype` is given a value that is not known
            7: hint[not-modelled] not modelled: the type of a buffer: `dtype` is given a value that is not known
        "#]],
    );
}

/// How many columns a tile of 64 rows takes is not known, one of 128 rows takes its own.
#[test]
fn columns_of_narrow_tiles_are_bounded() {
    let kernel = |rows: u64| {
        format!(
            "import tilelang\nimport tilelang.language as T\n\n\n@tilelang.jit\ndef summed(N=64):\n    @T.prim_func\n    \
             def main(A: T.Tensor(({rows}, N), \"float16\"), C: T.Tensor(({rows}, {rows}), \"float32\")):\n        \
             with T.Kernel(1, threads=128):\n            a = T.alloc_shared(({rows}, N), \"float16\")\n            \
             total = T.alloc_tmem([{rows}, {rows}], \"float32\")\n            done = T.alloc_barrier(1)\n            \
             T.copy(A, a)\n            T.tcgen05_gemm(a, a, total, transpose_B=True, mbar=done)\n            \
             T.mbarrier_wait_parity(done, 0)\n\n    return main\n"
        )
    };
    check(
        &kernel(128),
        "target = \"sm_100\"",
        expect![[r#"
            16 KiB of 227 KiB (sm_100) · 128 of 512 columns · room for 13 blocks/SM
            10: smem 0x0 16 KiB
            11: tmem 0x0 128 cols
        "#]],
    );
    check(
        &kernel(64),
        "target = \"sm_100\"",
        expect![[r#"
        8 KiB of 227 KiB (sm_100) · 32–64 of 512 columns
        10: smem 0x0 8 KiB
    "#]],
    );
}

/// TileLang's own repository is a workspace, too.
#[test]
fn the_library_is_known_by_its_path_where_its_text_is_there() {
    let tuned = PRODUCT
        .replace("import tilelang\n", "import tilelang\nfrom tilelang.autotuner import *\n")
        .replace("@tilelang.jit", "@autotune(configs=[dict(rows=64)])\n@tilelang.jit");
    let library = "# file: /w/tilelang/__init__.py\n# file: /w/tilelang/language/__init__.py\ndef copy(a, b):\n    pass\n\
                   # file: /w/tilelang/autotuner/__init__.py\ndef autotune(configs):\n    pass\n";
    let fixture = Fixture::new(&format!("# file: /w/k.py\n{tuned}\n\nkernel = product(1024, 1024, 1024)\n{library}"));
    expect![[r#"
        36 KiB of 227 KiB (sm_90) · room for 6 blocks/SM
        6: 36 KiB
        12: smem 0x6000 3 × 4 KiB
        13: smem 0x0 3 × 8 KiB
    "#]]
    .assert_eq(&said(&fixture.with_settings(HOPPER)));
}

#[test]
fn a_comment_speaks_first() {
    let text = PRODUCT
        .replace("@tilelang.jit", "# tilefit: M=512 N=512 K=512 depth=2 dtype=\"float32\" target=sm_80\n@tilelang.jit");
    check(
        &format!("{text}\n\nkernel = product(1024, 1024, 1024)\n"),
        HOPPER,
        expect![[r#"
        32 KiB of 163 KiB (sm_80) · room for 4 blocks/SM
        11: smem 0x0 2 × 8 KiB
        12: smem 0x4000 2 × 8 KiB
    "#]],
    );
}

#[test]
fn configurations_are_dictionaries() {
    let text = PRODUCT.replace(
        "@tilelang.jit",
        "@tilelang.autotune(configs=[dict(rows=r, depth=d) for r in (64, 128) for d in (2, 20)])\n@tilelang.jit",
    );
    check(
        &format!("{text}\n\nkernel = product(1024, 1024, 1024)\n"),
        HOPPER,
        expect![[r#"
        4 configurations · 24–320 KiB of 227 KiB (sm_90) · 2 fit
        5: 24–320 KiB ⚠ 2 of 4 do not fit
        11: smem 0x4000 2 × 4 KiB
        12: smem 0x0 2 × 8 KiB
    "#]],
    );
}

/// TileLang does not tune a kernel that is given all that would be tuned.
#[test]
fn a_call_with_all_that_is_tuned_is_not_tuned() {
    let text = PRODUCT.replace("@tilelang.jit", "@tilelang.autotune(configs=[dict(rows=64, depth=2)])\n@tilelang.jit");
    check(
        &format!("{text}\n\nkernel = product(1024, 1024, 1024, rows=128, depth=4)\n"),
        HOPPER,
        expect![[r#"
        2 configurations · 24–64 KiB of 227 KiB (sm_90) · all fit · room for ≥ 3 blocks/SM
        5: 24 KiB
        11: smem 0x0 4 × 8 KiB
        12: smem 0x8000 4 × 8 KiB
    "#]],
    );
}

#[test]
fn what_does_not_fit_is_an_error_at_the_kernel() {
    check(
        &format!("{PRODUCT}\n\nkernel = product(1024, 1024, 1024, depth=20)\n"),
        HOPPER,
        expect![[r#"
        320 KiB of 227 KiB (sm_90) ⚠ 93 KiB over
        10: smem 0x0 20 × 8 KiB
        11: smem 0x28000 20 × 8 KiB
        6: error[capacity-exceeded] the kernel needs 327680 bytes of shared memory, 95232 too many; sm_90 has 232448 per block: out of resource: shared memory, Required: 327680, Hardware limit: 232448. Reducing block sizes or `num_stages` may help.
    "#]],
    );
}

#[test]
fn mistakes_stand_where_they_are_made() {
    let text = PRODUCT.replace("T.alloc_fragment", "T.alloc_fragmant").replace("num_stages=depth", "num_stage=depth");
    check(
        &text,
        HOPPER,
        expect![[r#"
            memory not known: a call that is not followed: `T.alloc_fragmant` does not exist
            10: smem 8 KiB
            11: smem 8 KiB
            12: error[rejected] TileLang has no `T.alloc_fragmant`; did you mean `alloc_fragment`?
            14: error[rejected] `T.Pipelined` takes no `num_stage`; did you mean `num_stages`?
        "#]],
    );
    check(
        &PRODUCT.replace("T.gemm(a, b, c)", "T.gemm(a, b, c, transpose_B=True)"),
        HOPPER,
        expect![[r#"
            48 KiB of 227 KiB (sm_90) · room for 4 blocks/SM · assumes large K, M, N
            10: smem 0x0 3 × 8 KiB
            11: smem 0x6000 3 × 8 KiB
            17: error[invalid-operand] `K` of the product is 32 in the left operand and 128 in the right one: check `transpose_A`, `transpose_B` and the shapes
        "#]],
    );
}

/// Half a statement spoils itself.
#[test]
fn half_typed_code_keeps_the_rest() {
    check(
        &PRODUCT.replace("            T.clear(c)\n", "            T.clear(\n"),
        HOPPER,
        expect![[r#"
            memory not known: a statement that does not parse
            10: smem 3 × 8 KiB
            11: smem 3 × 8 KiB
            6: hint[not-modelled] not modelled: a statement that does not parse
        "#]],
    );
}

#[test]
fn values_come_from_other_files() {
    let text = format!(
        "{PRODUCT}# file: /w/sizes.py\nROWS = 64\n# file: /w/test_product.py\nfrom k import product\nfrom sizes import ROWS\n\n\n\
         def test_product():\n    product(512, 512, 512, rows=ROWS)\n"
    );
    let fixture = Fixture::new(&format!("# file: /w/k.py\n{text}")).with_settings(HOPPER);
    expect![[r#"
        36 KiB of 227 KiB (sm_90) · room for 6 blocks/SM
        10: smem 0x6000 3 × 4 KiB
        11: smem 0x0 3 × 8 KiB
    "#]]
    .assert_eq(&said(&fixture));
}

#[test]
fn a_star_brings_functions_and_constants() {
    let text = r#"# file: /w/k.py
import tilelang
import tilelang.language as T
from sizes import *


@tilelang.jit
def make(N=512):
    @T.prim_func
    def main(A: T.Tensor((N, N), "float16")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((rows(N), WIDTH), "float16")
            fill(A, a)

    return main


# file: /w/sizes.py
from more import *


def rows(n):
    return n // 8


# file: /w/more.py
import tilelang.language as T

WIDTH = 64


@T.macro
def fill(A, a):
    T.copy(A[0, 0], a)
"#;
    check(
        text,
        HOPPER,
        expect![[r#"
        8 KiB of 227 KiB (sm_90)
        11: smem 0x0 8 KiB
    "#]],
    );
}

#[test]
fn annotations_say_what_can_be_given() {
    let text = r#"import tilelang
import tilelang.language as T
from elsewhere import Config, chosen


@tilelang.jit
def make(wide: bool, dtype: T.dtype, config: Config, op):
    @T.prim_func
    def main(A: T.Tensor((256, 64), "float16")):
        with T.Kernel(1, threads=128):
            if wide:
                a = T.alloc_shared((64, 64), dtype)
                T.copy(A[0, 0], a)
            b = T.alloc_shared((64, config.width), "float16")
            T.copy(A[0, 0], b)
            op(b)

    return main


kernel = make(chosen(), chosen(), chosen(), chosen())
"#;
    check(
        text,
        HOPPER,
        expect![[r#"
        memory not known: a call that is not followed: `op` is given a value that is not known
        7: hint[not-modelled] not modelled: the type of a buffer: `dtype` is given a value that is not known; add a comment `# tilefit: dtype=bf16` above the kernel
    "#]],
    );
}

#[test]
fn a_factory_is_given_functions_of_the_language() {
    let text = r#"import tilelang
import tilelang.language as T


@tilelang.jit
def make(product, policy):
    @T.prim_func
    def main(A: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")):
        with T.Kernel(1, threads=128):
            a = T.alloc_shared((64, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.copy(A, a)
            product(a, a, c, policy=policy)
            T.copy(c, C)

    return main


kernel = make(T.gemm, T.GemmWarpPolicy.FullRow)
"#;
    check(
        text,
        HOPPER,
        expect![[r#"
            8 KiB of 227 KiB (sm_90)
            10: smem 0x0 8 KiB
        "#]],
    );
}

#[test]
fn a_buffer_has_a_hover_and_the_kernel_a_map() {
    let fixture = Fixture::new(&format!("{PRODUCT}\n\nkernel = product(1024, 1024, 1024)\n")).with_settings(HOPPER);
    let hover = fixture.hover(fixture.find("a = T.alloc_shared")).expect("a buffer");
    expect![[r#"
        ```python
        a: [128, 32] T.float16
        ```

        | | |
        |---|---|
        | size | 24576 bytes |
        | bytes | 0–24576 |
        | live | lines 15–17 |
        | of the kernel | SMEM 49152/232448 |
    "#]]
    .assert_eq(&hover.markdown);
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/tilelang")
}

/// Kernels whose answers were recorded by hand; those that a program wrote are compared in the crate of the language.
const FILES: [&str; 11] = [
    "attention_prefill",
    "blackwell_tmem",
    "convolution",
    "dequant_lowbit",
    "hopper_manual",
    "matmul_eager",
    "matmul_lazy",
    "matmul_split",
    "phases",
    "reductions",
    "symbolic_sizes",
];

/// From the text and a call of the factory to the compiler's total, every buffer and every address; or to bounds around that total.
#[test]
fn plans_from_the_text_are_those_of_the_compiler() {
    let (mut same, mut bounded, mut wrong) = (0, 0, String::new());
    for stem in FILES {
        let read =
            |extension| std::fs::read_to_string(recorded().join(stem).with_extension(extension)).expect("recorded");
        let (text, record): (String, Value) = (read("py"), serde_json::from_str(&read("json")).expect("JSON"));
        for case in record["cases"].as_array().expect("cases") {
            for answer in case["answers"].as_array().expect("answers") {
                let total_of = |kernel: &Value| kernel["launch_dynamic"].as_u64().or(kernel["dynamic"].as_u64());
                let kernels = answer["kernels"].as_array().map_or(&[][..], Vec::as_slice);
                let Some(largest) = kernels.iter().max_by_key(|kernel| total_of(kernel)) else { continue };
                let Some(total) = total_of(largest).filter(|_| answer["pass_configs"].is_null()) else { continue };
                let target = answer["target"].as_str().unwrap_or_default().trim_end_matches('a');
                let (bounds, ours) = planned(&text, case, target);
                let theirs = placed_by(largest);
                match bounds {
                    Some((low, high)) if low == high && low == total && ours == theirs => same += 1,
                    Some((low, high)) if low < high && (low..=high).contains(&total) => bounded += 1,
                    bounds => {
                        let title = format!("{stem} {} {} {target}", case["function"], case["args"]);
                        writeln!(wrong, "{title}\n{bounds:?}\n{ours}then {total}\n{theirs}").expect("text");
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    expect!["156 alike, 2 within bounds"].assert_eq(&format!("{same} alike, {bounded} within bounds"));
}

fn placed_by(kernel: &Value) -> String {
    let buffers = kernel["buffers"].as_array().map_or(&[][..], Vec::as_slice);
    let line =
        |it: &Value| format!("{} {} at {}\n", it["name"].as_str().unwrap_or_default(), it["bytes"], it["offset"]);
    let mut lines: Vec<String> = buffers.iter().map(line).collect();
    lines.sort();
    lines.concat()
}

/// The least and the most that a kernel takes, and its buffers.
fn planned(text: &str, case: &Value, target: &str) -> (Option<(u64, u64)>, String) {
    let function = case["function"].as_str().unwrap_or_default();
    let arguments = case["args"].as_object().into_iter().flatten().map(|(name, value)| match value {
        Value::String(of_language) if of_language.starts_with("T.") => format!("{name}={of_language}"),
        Value::Bool(truth) => format!("{name}={}", if *truth { "True" } else { "False" }),
        value => format!("{name}={value}"),
    });
    let arguments: Vec<String> = arguments.collect();
    // What is not given would be tuned.
    let lines = text.lines().filter(|line| !line.starts_with("@tilelang.autotune"));
    let text = lines.fold(String::new(), |all, line| all + line + "\n");
    let text = format!("{text}\n\nkernel = {function}({})\n", arguments.join(", "));
    let fixture = Fixture::new(&text).with_settings(&format!("target = \"{target}\""));
    let plans = fixture.plans();
    let Some(plan) = plans.iter().find(|plan| plan.name == function) else { return Default::default() };
    let smem = &plan.spaces["smem"];
    let bounds = smem.bounds.and_then(|bounds| Some((bounds.low, bounds.high?)));
    let tiles = plan.tiles.iter().filter(|tile| tile.space == Some("smem"));
    let mut lines: Vec<String> = tiles
        .map(|tile| {
            let name = if tile.kind == "scratch" { "workspace" } else { &tile.name };
            let at = tile.address.map_or("?".to_owned(), |address| address.to_string());
            format!("{name} {} at {at}\n", tile.bytes)
        })
        .collect();
    lines.sort();
    (bounds.or_else(|| smem.used.map(|used| (used, used))), lines.concat())
}

/// Prints what is offered at a place, the lines that are other ones then, and what the lens says of them.
#[track_caller]
fn check_fixes(text: &str, at: &str, expected: Expect) {
    let fixture = Fixture::new(text).with_settings(HOPPER);
    let mut out = String::new();
    for action in fixture.code_actions(TextRange::empty(fixture.find(at))) {
        writeln!(out, "{}", action.title).expect("a string");
        let edits = match action.effect {
            Effect::Improve(edits) => edits,
            Effect::Fix(fix) => fix.edits,
            _ => continue,
        };
        let fixed = fixture.edited(&edits);
        for line in fixed.lines().filter(|line| !text.lines().any(|old| old == *line)) {
            writeln!(out, "{line}").expect("a string");
        }
        let fixed = Fixture::new(&fixed).with_settings(HOPPER);
        let lens = fixed.code_lenses().into_iter().find_map(|it| fixed.code_lens(it)).map(|it| it.title);
        writeln!(out, "    {}", lens.unwrap_or_default()).expect("a string");
    }
    if let Some(action) = fixture.largest_fit_action(fixture.find(at)) {
        writeln!(out, "{}", action.title).expect("a string");
    }
    expected.assert_eq(&out);
}

#[test]
fn numbers_of_factories_and_their_calls_can_be_smaller() {
    let large = format!("{PRODUCT}\n\nkernel = product(1024, 1024, 1024)\n").replace("depth=3", "depth=20");
    check_fixes(
        &large,
        "product(M",
        expect![[r#"
        `rows = 32` fits: 200 KiB of shared memory
        def product(M, N, K, rows=32, depth=20, dtype="float16"):
            200 KiB of 227 KiB (sm_90) · room for 1 block/SM
        `depth = 10` fits: 160 KiB of shared memory
        def product(M, N, K, rows=128, depth=10, dtype="float16"):
            160 KiB of 227 KiB (sm_90) · room for 1 block/SM
    "#]],
    );
    let call = format!("{PRODUCT}\n\nkernel = product(1024, 1024, 1024, 256, depth=12)\n");
    check_fixes(
        &call,
        "product(M",
        expect![[r#"
        `rows = 128` fits: 192 KiB of shared memory
        kernel = product(1024, 1024, 1024, 128, depth=12)
            192 KiB of 227 KiB (sm_90) · room for 1 block/SM
        `depth = 9` fits: 216 KiB of shared memory
        kernel = product(1024, 1024, 1024, 256, depth=9)
            216 KiB of 227 KiB (sm_90) · room for 1 block/SM
    "#]],
    );
    let copies = call.replace("num_stages=depth", "num_stages=12");
    check_fixes(
        &copies,
        "product(M",
        expect![[r#"
            `rows = 128` fits: 192 KiB of shared memory
            kernel = product(1024, 1024, 1024, 128, depth=12)
                192 KiB of 227 KiB (sm_90) · room for 1 block/SM
            `num_stages = 9` in line 14 fits: 216 KiB of shared memory
                        for k in T.Pipelined(K // 32, num_stages=9):
                216 KiB of 227 KiB (sm_90) · room for 1 block/SM
        "#]],
    );
}

#[test]
fn the_largest_value_that_fits() {
    let text = format!("{PRODUCT}\n\nkernel = product(1024, 1024, 1024)\n");
    check_fixes(
        &text,
        "128, depth",
        expect![[r#"
        Set `rows` to 1024, the largest value that fits (2048 takes 408 KiB of 227 KiB smem of sm_90)
    "#]],
    );
    check_fixes(
        &text,
        "3, dtype",
        expect![[r#"
        Set `depth` to 14, the largest value that fits (15 takes 240 KiB of 227 KiB smem of sm_90)
    "#]],
    );
    let call = format!("{PRODUCT}\n\nkernel = product(1024, 1024, 1024, rows=256, depth=12)\n");
    check_fixes(
        &call,
        "256, depth",
        expect![[r#"
        Set `rows` to 128, the largest value that fits (256 takes 288 KiB of 227 KiB smem of sm_90)
    "#]],
    );
}

#[test]
fn options_of_a_program_have_their_defaults() {
    let main = r#"

import argparse

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    group = parser.add_argument_group("tiles")
    group.add_argument("--block-rows", "-r", type=int, default=64)
    group.add_argument("-d", dest="depth", type=int, default="4")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("size", type=int, nargs="?", default=1024)
    args = parser.parse_args()
    kernel = product(args.size, args.size, args.size, rows=args.block_rows, depth=2 if args.fast else args.depth)
"#;
    check(
        &format!("{PRODUCT}{main}"),
        HOPPER,
        expect![[r#"
        48 KiB of 227 KiB (sm_90) · room for 4 blocks/SM
        10: smem 0x8000 4 × 4 KiB
        11: smem 0x0 4 × 8 KiB
    "#]],
    );
    let needed = main.replace(r#", nargs="?", default=1024"#, "").replace("rows=args.block_rows", "rows=args.size");
    check(
        &format!("{PRODUCT}{needed}"),
        HOPPER,
        expect![[r#"
        to see its memory, give K and rows values
        11: smem 4 × 8 KiB
        6: hint[not-modelled] not modelled: `T.gemm`: `rows` is given a value that is not known; add a comment `# tilefit: rows=128` above the kernel
    "#]],
    );
    let spread = r#"

import argparse


def options():
    parser = argparse.ArgumentParser()
    for size in ["M", "N", "K"]:
        parser.add_argument(f"--{size}", type=int, default=1024)
    parser.add_argument("--rows", type=int, default=32)
    return parser.parse_args()


def main():
    args = options()
    product(1024, 1024, 1024, args.rows)
"#;
    check(
        &format!("{PRODUCT}{spread}"),
        HOPPER,
        expect![[r#"
        30 KiB of 227 KiB (sm_90) · room for 7 blocks/SM
        10: smem 0x6000 3 × 2 KiB
        11: smem 0x0 3 × 8 KiB
    "#]],
    );
}

#[test]
fn kernels_for_metal_have_no_plan() {
    let small =
        PRODUCT.replace("rows=128", "rows=16").replace("32, 128", "32, 16").replace("(rows, 128)", "(rows, 16)");
    let call = "\n\n@tilelang.testing.requires_metal\ndef test_product():\n    product(64, 64, 64)\n";
    check(
        &format!("{small}{call}"),
        HOPPER,
        expect![[r#"
        memory not known: the kernel is for Metal, whose memory is not modelled
        6: hint[not-modelled] not modelled: the kernel is for Metal, whose memory is not modelled
    "#]],
    );
    check(
        &format!("{small}{}", call.replace("requires_metal", "requires_cuda")),
        HOPPER,
        expect![[r#"
        6 KiB of 227 KiB (sm_90)
        10: smem 0x0 3 × 1 KiB
        11: smem 0xc00 3 × 1 KiB
        17: error[invalid-operand] 4 warps cannot share a product of 16×16: each takes 16 rows and 8 columns, or multiples of them. Change `threads`, or the tile
    "#]],
    );
}

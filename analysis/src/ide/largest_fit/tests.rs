use std::fmt::Write as _;

use expect_test::{Expect, expect};

use super::*;
use crate::Fixture;

fn said(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Fits => "fits".to_owned(),
        Verdict::Exceeds(MemoryUse { memory, used, capacity, .. }) => format!("exceeds {memory}: {used} of {capacity}"),
        Verdict::Refused(why) => format!("refused: {why}"),
        Verdict::Warned(why) => format!("warned: {why}"),
        Verdict::Unknown(why) => format!("unknown: {why}"),
    }
}

/// Prints what is found for the constant at `$0`, and what an editor offers. What is offered is held against the verdict of its text.
#[track_caller]
fn check(marked: &str, expected: Expect) {
    let fixture = Fixture::new(marked);
    let mut shown = String::new();
    match fixture.largest_fit(fixture.cursor(), Patience::CommandLine) {
        Err(why) => writeln!(shown, "{why}").expect("a string"),
        Ok(found) => {
            let LargestFit { constant, present, best, next, values, kernels, memories, .. } = &found;
            let name = constant.name.as_deref().unwrap_or("-");
            let _ =
                writeln!(shown, "{name} = {} in line {} of {values}: {}", constant.value, constant.line, said(present));
            let used = |of: &[MemoryUse]| -> Vec<String> {
                of.iter().map(|it| format!("{} {}", it.memory, it.used)).collect()
            };
            let _ = writeln!(
                shown,
                "of {}: {} -> {}",
                kernels.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", "),
                used(&memories[0]).join(" "),
                used(&memories[1]).join(" ")
            );
            let next = next
                .as_ref()
                .map(|(value, of)| format!("{value} {}", of.as_ref().map_or_else(|| "not tried".to_owned(), said)));
            let _ = writeln!(shown, "best {best:?}, next {}", next.unwrap_or_default());
            for (value, verdict) in &found.tried {
                let errors = Fixture::new(&fixture.edited(&[(constant.range, value.to_string())])).diagnostics();
                // Of several configurations, diagnostics are about one.
                if fixture.text.contains("autotune") {
                    continue;
                }
                let is_too_large = errors.iter().any(|it| it.code == Code::CapacityExceeded);
                assert_eq!(is_too_large, matches!(verdict, Verdict::Exceeds(_)), "{value}: {verdict:?} {errors:?}");
            }
        }
    }
    if let Some(action) = fixture.largest_fit_action(fixture.cursor()) {
        let kind = match action.effect {
            Effect::Fix(fix) => fix.fixes.code.name(),
            _ => "no diagnostic",
        };
        let _ = writeln!(shown, "{} [{kind}]", action.title);
    }
    expected.assert_eq(&shown);
}

fn kernel(head: &str, params: &str, body: &str) -> String {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!(
        "
import pypto.language as pl

{head}
@pl.function(type=pl.FunctionType.InCore)
def k({params}):
{body}    return out
"
    )
}

const LOOP: &str = "for i in pl.range(N // TILE):
    x = pl.load(a, [i * TILE, 0], [TILE, 512])
    y = pl.exp(x)
    out = pl.store(y, [i * TILE, 0], out)";

#[test]
fn the_value_with_room_and_the_one_without() {
    let params = "a: pl.Tensor[[1024, 512], pl.FP32], out: pl.Out[pl.Tensor[[1024, 512], pl.FP32]]";
    check(
        &kernel("N, TILE = 1024, $032\n", params, LOOP),
        expect![[r#"
            TILE = 32 in line 4 of multiples of 32 and halves of 32, those that divide 1024: fits
            of k: Vec 65536 -> Vec 131072
            best Some(64), next 128 exceeds Vec: 262144 of 188416
            Set `TILE` to 64, the largest value that fits (128 takes 256 KiB of 184 KiB Vec of ascend910b) [no diagnostic]
        "#]],
    );
    check(
        &kernel("N, TILE = 1024, 256$0\n", params, LOOP),
        expect![[r#"
            TILE = 256 in line 4 of multiples of 32 and halves of 256, those that divide 1024: exceeds Vec: 524288 of 188416
            of k: Vec 524288 -> Vec 131072
            best Some(64), next 128 exceeds Vec: 262144 of 188416
            Set `TILE` to 64, the largest value that fits (128 takes 256 KiB of 184 KiB Vec of ascend910b) [capacity-exceeded]
        "#]],
    );
    check(
        &kernel("N, TI$0LE = 1024, 64\n", params, LOOP),
        expect![[r#"
            TILE = 64 in line 4 of multiples of 32 and halves of 64, those that divide 1024: fits
            of k: Vec 131072 -> Vec 131072
            best Some(64), next 128 exceeds Vec: 262144 of 188416
        "#]],
    );
    // What the loop runs over does not matter.
    check(
        &kernel("N, TILE = 10$024, 64\n", params, LOOP),
        expect![[r#"
            no kernel is known to use more or less memory with the values tried: 960, 1088, 2048
        "#]],
    );
}

#[test]
fn names_that_depend_on_it() {
    let params = "a: pl.Tensor[[1024, 512], pl.FP32], out: pl.Out[pl.Tensor[[1024, 512], pl.FP32]]";
    let head = "N = 1024\nHALF = 1$06\nTILE = HALF * 2\n";
    check(
        &kernel(head, params, LOOP),
        expect![[r#"
            HALF = 16 in line 5 of multiples of 16 and halves of 16: fits
            of k: Vec 65536 -> Vec 131072
            best Some(32), next 48 exceeds Vec: 196608 of 188416
            Set `HALF` to 32, the largest value that fits (48 takes 192 KiB of 184 KiB Vec of ascend910b) [no diagnostic]
        "#]],
    );
    // What is called with another shape is for the callers to say.
    let own = "a: pl.Tensor[[TILE, 512], pl.FP32], out: pl.Out[pl.Tensor[[TILE, 512], pl.FP32]]";
    let body = "x = pl.load(a, [0, 0], [TILE, 512])\nout = pl.store(pl.exp(x), [0, 0], out)";
    check(
        &kernel("TILE = $032\n", own, body),
        expect![[r#"
        TILE = 32 in line 4 of multiples of 32 and halves of 32: fits
        of k: Vec 65536 -> Vec 131072
        best Some(64), next 96 exceeds Vec: 196608 of 188416
    "#]],
    );
    // A number without a name.
    let body =
        "for i in pl.range(4):\n    x = pl.load(a, [i * 64, 0], [6$04, 512])\n    out = pl.store(x, [i * 64, 0], out)";
    check(
        &kernel("", params, body),
        expect![[r#"
        - = 64 in line 8 of multiples of 32 and halves of 64: fits
        of k: Vec 131072 -> Vec 131072
        best Some(64), next 96 exceeds Vec: 196608 of 188416
    "#]],
    );
}

#[test]
fn nothing_is_said_of_what_is_not_known() {
    let params = "a: pl.Tensor[[1024, 512], pl.FP32], out: pl.Out[pl.Tensor[[1024, 512], pl.FP32]]";
    check(
        &kernel("N, TILE = 1024, $032\n", params, &LOOP.replace("pl.exp(x)", "mystery(x)")),
        expect![[r#"
        TILE = 32 in line 4 of multiples of 32 and halves of 32, those that divide 1024: unknown: calls `mystery`, which is not defined in this file
        of k: Vec 65536 -> 
        best None, next 
    "#]],
    );
    check(
        &kernel("N, TILE = 1024, $032\n", params, &LOOP.replace("pl.exp(x)", "pl.exp(x, x, x)")),
        expect![[r#"
        TILE = 32 in line 4 of multiples of 32 and halves of 32, those that divide 1024: refused: `pl.exp` takes at most 1 positional arguments, but got 3
        of k: Vec 65536 -> 
        best None, next 
    "#]],
    );
    check(
        "import os\n\nA = $064\nprint(A)\n",
        expect![[r#"
        no kernel in this file uses it
    "#]],
    );
    check(
        "import os\n\nA$0 = os.sep\n",
        expect![[r#"
        not an integer constant: put the cursor on the number or on its name
    "#]],
    );
}

/// What fits is known of smaller values only, so none is the largest.
#[test]
fn the_present_value_is_not_known() {
    let params = "a: pl.Tensor[[1024, 512], pl.FP32], out: pl.Out[pl.Tensor[[1024, 512], pl.FP32]]";
    let head = "import os\nN, SIZE = 1024, $096\nTILE = SIZE if SIZE < 96 else os.cpu_count()\n";
    check(
        &kernel(head, params, LOOP),
        expect![[r#"
        SIZE = 96 in line 5 of multiples of 32 and halves of 96: unknown: calls `os.cpu_count`, which tilefit does not evaluate
        of k:  -> Vec 131072
        best Some(64), next 96 unknown: calls `os.cpu_count`, which tilefit does not evaluate
    "#]],
    );
}

const TRITON: &str = "
import triton
import triton.language as tl

@triton.autotune(configs=[
    triton.Config({\"BN\": 128, \"BK\": 32}, num_stages=2, num_warps=8),
    triton.Config({\"BN\": 256, \"BK\": 64}, num_stages=6, num_warps=8),
], key=[\"K\"])
# tilefit: a=fp16 b=fp16 c=fp16 BM=128 divisible=a,b,c,M,N,K arch=sm_90
@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    inner = tl.arange(0, BK)
    left = a + rows[:, None] * K + inner[None, :]
    right = b + inner[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += BK
        right += BK * N
    tl.store(c + rows[:, None] * N + columns[None, :], total.to(tl.float16))
";

#[test]
fn numbers_of_one_configuration() {
    check(
        &TRITON.replace("\"BN\": 128", "\"BN\": $0128"),
        expect![[r#"
            BN = 128 in line 6 of powers of two: fits
            of matmul: smem 32768 -> smem 147456
            best Some(1024), next 2048 exceeds smem: 278528 of 232448
            Set `BN` to 1024, the largest value that fits (2048 takes 272 KiB of 227 KiB smem of sm_90) [no diagnostic]
        "#]],
    );
    check(
        &TRITON.replace("num_stages=2", "num_stages=$02"),
        expect![[r#"
            num_stages = 2 in line 6 of integers: fits
            of matmul: smem 32768 -> smem 229376
            best Some(14), next 15 exceeds smem: 245760 of 232448
            Set `num_stages` to 14, the largest value that fits (15 takes 240 KiB of 227 KiB smem of sm_90) [no diagnostic]
        "#]],
    );
    check(
        &TRITON.replace("num_stages=6", "num_stages=$06"),
        expect![[r#"
            num_stages = 6 in line 7 of integers: exceeds smem: 294912 of 232448
            of matmul: smem 294912 -> smem 196608
            best Some(4), next 5 exceeds smem: 245760 of 232448
            Set `num_stages` to 4, the largest value that fits (5 takes 240 KiB of 227 KiB smem of sm_90) [no diagnostic]
        "#]],
    );
    // The comment holds for both configurations.
    check(
        &TRITON.replace("BM=128", "BM=$0128"),
        expect![[r#"
            BM = 128 in line 9 of powers of two: exceeds smem: 294912 of 232448
            of matmul: smem 294912 -> smem 184320
            best Some(32), next 64 exceeds smem: 245760 of 232448
            Set `BM` to 32, the largest value that fits (64 takes 240 KiB of 227 KiB smem of sm_90) [no diagnostic]
        "#]],
    );
}

#[test]
fn buffers_of_tlx() {
    let kernel = include_str!("../../../../docs/examples/tlx_hopper_gemm.py");
    check(
        &kernel.replace("STAGES: tl.constexpr = 4", "STAGES: tl.constexpr = $04"),
        expect![[r#"
            STAGES = 4 in line 14 of integers: exceeds smem: 262216 of 232448
            of product: smem 262216 -> smem 213152
            best Some(3), next 4 exceeds smem: 262216 of 232448
            Set `STAGES` to 3, the largest value that fits (4 takes 262216 B of 227 KiB smem of sm_90) [capacity-exceeded]
        "#]],
    );
    check(
        &kernel.replace("STAGES: tl.constexpr = 4", "STAGES: tl.constexpr = 3").replace("BK=64", "BK=$064"),
        expect![[r#"
            BK = 64 in line 50 of powers of two: fits
            of product: smem 213152 -> smem 213152
            best Some(64), next 128 exceeds smem: 360512 of 232448
        "#]],
    );
    let kernel = "
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx

# tilefit: arch=sm_100 a=fp16
@triton.jit
def k(a, BM: tl.constexpr = 128, BN: tl.constexpr = 2$056):
    total = tlx.local_alloc((BM, BN), tl.float32, tl.constexpr(1), tlx.storage_kind.tmem)
    tlx.local_store(total[0], tlx.local_load(total[0]))
";
    check(
        kernel,
        expect![[r#"
            BN = 256 in line 8 of powers of two: fits
            of k: smem 4 tmem 256 -> smem 4 tmem 512
            best Some(512), next 1024 exceeds tmem: 1024 of 512
            Set `BN` to 512, the largest value that fits (1024 takes 1024 columns of 512 columns tmem of sm_100) [no diagnostic]
        "#]],
    );
}

#[test]
fn a_search_has_an_end() {
    let params =
        "a: pl.Tensor[[pl.dynamic(\"M\"), 512], pl.FP32], out: pl.Out[pl.Tensor[[pl.dynamic(\"M\"), 512], pl.FP32]]";
    let body = "x = pl.load(a, [0, 0], [1, TILE])\ny = pl.exp(x)\nout = pl.store(y, [0, 0], out)";
    check(
        &kernel("TILE = $032\n", params, body),
        expect![[r#"
            TILE = 32 in line 4 of multiples of 32 and halves of 32: fits
            of k: Vec 128 -> Vec 2048
            best Some(512), next 544 refused: `tile.load`: reads past the end of dimension 1: offset 0 + extent 544 exceeds the source extent 512; pass the available extent as `valid_shape`, or `clamp=True` to stop at the edge
            Set `TILE` to 512, the largest value that fits (544 is refused) [no diagnostic]
        "#]],
    );
}

/// Another launch with the same memory takes a row away, so that the rest are of others than they were.
#[test]
fn a_value_that_takes_a_configuration_away_is_not_known() {
    let kernel = TRITON.split_once("@triton.autotune").expect("the decorator").0.to_owned()
        + "# tilefit: a=fp16 b=fp16 c=fp16 BK=32 divisible=a,b,c,M,N,K arch=sm_90\n"
        + &TRITON[TRITON.find("@triton.jit").expect("a kernel")..];
    let launches = "
def run(a, b, c, M, N, K):
    matmul[(1,)](a, b, c, M, N, K, BM=128, BN=$0128)
    matmul[(1,)](a, b, c, M, N, K, BM=128, BN=256)
    matmul[(1,)](a, b, c, M, N, K, BM=1024, BN=1024)
";
    check(
        &(kernel + launches),
        expect![[r#"
        BN = 128 in line 21 of powers of two: fits
        of matmul: smem 49152 -> smem 221184
        best Some(1024), next 2048 exceeds smem: 417792 of 232448
        Set `BN` to 1024, the largest value that fits (2048 takes 408 KiB of 227 KiB smem of sm_90) [no diagnostic]
    "#]],
    );
}

/// Stages of trials are counted together: however many kernels depend on a number, a menu is there at once.
#[test]
fn what_somebody_waits_for_has_an_end() {
    let head = "import pypto.language as pl\n\nN, TILE = 1024, 32\n";
    let statements: String = (0..60).map(|nth| format!("        y{nth} = pl.add(x, x)\n")).collect();
    let kernels = (0..40).map(|nth| {
        format!(
            "\n@pl.function(type=pl.FunctionType.InCore)\ndef k{nth}(a: pl.Tensor[[1024, 64], pl.FP32], out: pl.Out[pl.Tensor[[1024, 64], pl.FP32]]):\n    for i in pl.unroll(8):\n        x = pl.load(a, [i * TILE, 0], [TILE, 64])\n{statements}        out = pl.store(x, [i * TILE, 0], out)\n    return out\n"
        )
    });
    let text = head.to_owned() + &kernels.collect::<String>();
    let fixture = Fixture::new(&text);
    fixture.plans();
    let before = work::spent();
    fixture.largest_fit_action(fixture.find("32"));
    let spent = work::spent() - before;
    let most = Budget::of(Patience::Background).steps;
    assert!(most / 2 < spent && spent <= most, "{spent} of {most}");
}

#[test]
fn configurations_that_were_not_looked_at_are_not_said_to_fit() {
    let configurations: String = (0..80)
        .map(|nth| format!("    triton.Config({{\"BN\": 64, \"BK\": 32}}, num_stages={}, num_warps=4),\n", 2 + nth % 3))
        .collect();
    let start = TRITON.find("    triton.Config").expect("the list");
    let end = TRITON.find("], key").expect("its end");
    let text =
        TRITON[..start].to_owned() + "    triton.Config({\"BN\": $0128, \"BK\": 32}, num_stages=2, num_warps=8),\n";
    check(
        &(text + &configurations + &TRITON[end..]),
        expect![[r#"
        BN = 128 in line 6 of powers of two: unknown: 17 configurations of the kernel were not looked at
        of matmul: smem 32768 -> 
        best None, next 
    "#]],
    );
}

//! What the code around kernels of GPUs says of them: host code of the same file and of others, devices, and tables of scenarios.

use std::fmt::Write;

use expect_test::{Expect, expect};
use tilefit_analysis::Fixture;
use tilefit_analysis::ide::{CodeAction, Effect};
use tilefit_syntax::TextRange;

/// The kernels of the first file: device, totals, scenarios, and why sizes are not known.
#[track_caller]
fn check(files: &str, expect: Expect) {
    let mut out = String::new();
    for plan in Fixture::new(files).plans() {
        let smem = &plan.spaces["smem"];
        let used = smem.used.map_or_else(|| format!("{:?}", smem.bounds), |used| used.to_string());
        let _ = writeln!(out, "{} on {}: {used}", plan.name, plan.target);
        for reason in plan.reasons.iter().filter(|reason| reason.contains("# tilefit:")) {
            let _ = writeln!(out, "  {reason}");
        }
        for scenario in &plan.scenarios {
            let selected = if scenario.selected { "* " } else { "  " };
            let _ = writeln!(out, "{selected}{:?} {} {}", scenario.values, scenario.takes["smem"], scenario.verdict);
        }
    }
    expect.assert_eq(&out);
}

const TLX: &str = r#"
import torch
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.autotune(configs=[triton.Config({"BM": bm}, num_warps=4) for bm in [64, 128]], key=[])
@triton.jit
def kernel(a_desc, BM: tl.constexpr, D: tl.constexpr):
    a = tlx.local_alloc((BM, D), tlx.dtype_of(a_desc), 2)
    tlx.local_store(a[0], tlx.local_load(a[1]))

def matmul(a, config=None):
    a_desc = TensorDescriptor(a, a.shape, a.stride(), [1, 1])
    if config is not None:
        a_desc.block_shape = [config["BM"], 64]
        kernel.fn[(1,)](a_desc, D=a.shape[-1], **config)
    else:
        kernel[(1,)](a_desc, D=a.shape[-1])
"#;

#[test]
fn tests_of_other_files_say_what_is_launched() {
    let kernel = format!("# file: /w/third_party/tlx/tutorials/gemm.py\n{TLX}");
    let tests = r#"# file: /w/third_party/tlx/tutorials/testing/test_gemm.py
import pytest, torch
from triton.language.extra.tlx.tutorials.gemm import matmul as _matmul

class Gemm:
    CONFIGS = {"gemm": {"BM": 64}}

    @staticmethod
    def run(f, config, dtype):
        a = (torch.randn((256, 32), dtype=dtype) + 1) / 256
        f(a, config=config)

@pytest.mark.parametrize("dtype", [torch.float16])
def test_gemm(dtype):
    config = Gemm.CONFIGS["gemm"].copy()
    config["BM"] = 128
    Gemm.run(_matmul, config, dtype=dtype)
"#;
    check(
        &kernel,
        expect![[r#"
            kernel on sm_100: Some(Bounds { low: 0, high: None })
              `D` has no value here; add a comment `# tilefit: D=128` above the kernel
              the shape of a buffer is not known: `a_desc` has no value here; add a comment `# tilefit: a_desc=bf16` above the kernel
            * {"BM": "64"} 0 unknown
              {"BM": "128"} 0 unknown
        "#]],
    );
    check(
        &(kernel.clone() + tests),
        expect![[r#"
            kernel on sm_100: 8192
            * {"BM": "64"} 8192 fits
              {"BM": "128"} 16384 fits
              {"BM": "128"} 16384 fits
        "#]],
    );
}

#[test]
fn a_function_of_another_file_launches_what_it_is_given() {
    let files = format!(
        "# file: /w/third_party/tlx/tutorials/gemm.py\n{TLX}{}",
        r#"
# file: /w/third_party/tlx/tutorials/testing/cases.py
import torch

def matmul(a, config):
    pass

def run(f, config):
    f(torch.randn((256, 32), dtype=torch.float16), config=config)
# file: /w/third_party/tlx/tutorials/testing/test_gemm.py
from cases import run
from triton.language.extra.tlx.tutorials.gemm import matmul

def test_gemm():
    run(matmul, {"BM": 128})
"#
    );
    check(
        &files,
        expect![[r#"
            kernel on sm_100: 8192
            * {"BM": "64"} 8192 fits
              {"BM": "128"} 16384 fits
              {"BM": "128"} 16384 fits
        "#]],
    );
}

#[test]
fn lambdas_benchmarks_and_gradients_are_followed() {
    let text = format!(
        "{TLX}{}",
        r#"
class _product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        saved = [a, a.shape]
        ctx.save_for_backward(*saved)
        return torch.empty_like(a)

    @staticmethod
    def backward(ctx, gradient):
        a, shape = ctx.saved_tensors
        fn = lambda: matmul(a)
        fn()

product = _product.apply

configs = [triton.testing.Benchmark(x_names=["N"], x_vals=[64], line_arg="provider", line_vals=["a"], args={"M": 8})]

@triton.testing.perf_report(configs)
def bench(M, N, provider):
    product(torch.empty((M, N), dtype=torch.bfloat16))
"#
    );
    check(
        &text,
        expect![[r#"
        kernel on sm_100: 16384
        * {"BM": "64"} 16384 fits
          {"BM": "128"} 32768 fits
    "#]],
    );
}

#[test]
fn a_value_that_depends_on_an_unknown_condition_is_none() {
    let text = format!(
        "{TLX}{}",
        r#"
def dtype_of_device():
    if torch.cuda.is_available():
        return torch.float16
    return torch.float32

def main():
    a = torch.empty((64, 64), dtype=dtype_of_device())
    if torch.cuda.is_available():
        b = torch.empty((64, 64), dtype=torch.float16)
    else:
        b = torch.empty((64, 32), dtype=torch.float16)
    matmul(a)
    matmul(b, {"BM": 64})
"#
    );
    check(
        &text,
        expect![[r#"
            kernel on sm_100: Some(Bounds { low: 0, high: None })
              `a_desc` has no value here; add a comment `# tilefit: a_desc=bf16` above the kernel
              the shape of a buffer is not known: `a_desc` has no value here; add a comment `# tilefit: a_desc=bf16` above the kernel
            * {"BM": "64", "D": "64", "a_desc": "?"} 8192 fits
              {"BM": "128", "D": "64", "a_desc": "?"} 16384 fits
              {"BM": "64", "D": "?", "a_desc": "tl.float16"} 0 unknown
        "#]],
    );
}

const GLUON: &str = r#"
import pytest, torch
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

@gluon.jit
def kernel(desc, layout: gl.constexpr, BLOCK: gl.constexpr, num: gl.constexpr):
    a = gl.allocate_shared_memory(desc.dtype, [num] + desc.block_shape, desc.layout)
    b = gl.allocate_shared_memory(gl.float32, [BLOCK], layout)
    r: gl.constexpr = gl.BlockedLayout([1, 8], [4, 8], [4, 1], [1, 0])
    a.index(0).store(a.index(1).load(r))
    s: gl.constexpr = gl.BlockedLayout([1], [32], [4], [0])
    b.store(b.load(s))
"#;

const LAUNCH: &str = r#"
def run(block, num):
    x = torch.empty((256, 256), dtype=torch.float16)
    desc = TensorDescriptor.from_tensor(x, block, gl.NVMMASharedLayout.get_default_for(block, gl.float16))
    kernel[(1,)](desc, gl.SwizzledSharedLayout(1, 1, 1, [0]), 128, num)

@pytest.mark.skipif(not is_hopper(), reason="Requires Hopper")
@pytest.mark.parametrize("num", [2, 8, 32])
def test_run(num):
    run([64, 64], num)
"#;

#[test]
fn layouts_of_gluon_are_made_at_the_launch() {
    check(
        &format!("{GLUON}{LAUNCH}"),
        expect![[r#"
        kernel on sm_90: 16896
          {"arch": "sm_90", "num": "32"} 262656 exceeds
        * {"arch": "sm_90", "num": "2"} 16896 fits
          {"arch": "sm_90", "num": "8"} 66048 fits
    "#]],
    );
}

#[test]
fn a_task_of_gluon_is_no_kernel() {
    let text = r#"
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

@gluon.jit
def task(p):
    gl.store(p, 1)

@gluon.jit
def kernel(p):
    gl.warp_specialize([(task, (p,)), (task, (p,))], [1], [24])
"#;
    let names: Vec<_> = Fixture::new(text).plans().into_iter().map(|plan| plan.name).collect();
    assert_eq!(names, ["kernel"]);
}

#[test]
fn a_fix_gives_all_values_that_a_kernel_of_gluon_needs() {
    let fixture = Fixture::new(GLUON);
    let actions = fixture.code_actions(TextRange::empty(fixture.find("kernel(")));
    let text = |action: &CodeAction| match &action.effect {
        Effect::Fix(fix) if action.title.starts_with("Add missing values") => Some(fix.edits[0].1.clone()),
        _ => None,
    };
    expect![[r#"
        # tilefit: desc=bf16 layout=128 BLOCK=128 num=128
    "#]]
    .assert_eq(&actions.iter().filter_map(text).collect::<String>());
}

#[test]
fn functions_of_the_packages_and_the_step_of_a_persistent_loop_leave_a_total() {
    let text = r#"
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx
from torch._inductor.runtime.triton_compat import libdevice
from triton.language.extra.cuda.inline_ptx_lib import _fma_f32x2
from triton.language.extra.subtile_ops import _join_n_2D, _split_n_2D

# tilefit: triton=fork
@triton.jit
def kernel(tiles, NUM_SMS: tl.constexpr):
    one = tlx.local_alloc((64, 64), tl.float32, 1)
    two = tlx.local_alloc((64, 64), tl.float16, 4)
    context = tlx.clc_create_context(num_consumers=1)
    value = tlx.local_load(one[0])
    for tile in range(tl.program_id(0) + NUM_SMS, tiles, NUM_SMS * 2):
        for part in _split_n_2D(value, 4):
            tlx.local_store(two[0], _join_n_2D((part, part, part, part)).to(tl.float16))
        next = tlx.clc_consumer(context, 0)
        if next != -1:
            tlx.local_store(one[0], _fma_f32x2(value, value, libdevice.rsqrt(value)))

# tilefit: triton=fork
@triton.jit
def products(b_desc):
    a = tlx.local_alloc((64, 64), tl.float16, 1)
    b = tlx.local_alloc((64, 64), tl.float16, 1)
    scores = tlx.async_dot(a[0], b[0])
    result = tlx.async_dot(scores.to(tl.float16), b[0])
    tlx.local_store(a[0], tlx.async_dot_wait(0, result).to(tl.float16))
"#;
    check(
        text,
        expect![[r#"
            kernel on sm_100: Some(Bounds { low: 49192, high: Some(66560) })
            products on sm_90: 16384
        "#]],
    );
}

/// A kernel whose block sizes the function below computes.
fn launched(host: &str) -> String {
    format!(
        "import itertools
import torch
import triton
import triton.language as tl

next_power_of_2 = triton.next_power_of_2


@triton.jit
def copy(x, out, ROWS: tl.constexpr, COLS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * COLS + tl.arange(0, COLS)[None, :]
    tl.store(out + i, tl.trans(tl.load(x + i)).reshape(ROWS, COLS))


{host}


def use():
    run(torch.ones((4096, 48), dtype=torch.float16, device=\"cuda\"), 48)
"
    )
}

#[test]
fn a_while_of_the_host_is_followed() {
    let host = "def run(x, n):
    rows = 256
    while rows * n > 4096:
        rows //= 2
    copy[(1,)](x, x, ROWS=rows, COLS=next_power_of_2(n))";
    check(
        &launched(host),
        expect![[r#"
        copy on sm_100: 8192
    "#]],
    );
    // Where it ends is not known.
    let open = "def run(x, n):
    rows = 256
    while rows > 32:
        if torch.cuda.memory_reserved() < 4096:
            break
        rows //= 2
    copy[(1,)](x, x, ROWS=rows, COLS=64)";
    check(
        &launched(open),
        expect![[r#"
        copy on sm_100: Some(Bounds { low: 0, high: None })
          `permute` of something: the bounds of `arange` are not known: `ROWS` has no value here; add a comment `# tilefit: ROWS=128` above the kernel
          the bounds of `arange` are not known: `ROWS` has no value here; add a comment `# tilefit: ROWS=128` above the kernel
    "#]],
    );
    // Whether a round changes it is not known, either.
    let skips = "def run(x, n):
    rows = 64
    for cols in (16, 32):
        if torch.cuda.memory_reserved() < 4096:
            continue
        rows = cols
    copy[(1,)](x, x, ROWS=rows, COLS=64)";
    check(
        &launched(skips),
        expect![[r#"
        copy on sm_100: Some(Bounds { low: 0, high: None })
          `permute` of something: the bounds of `arange` are not known: `ROWS` has no value here; add a comment `# tilefit: ROWS=128` above the kernel
          the bounds of `arange` are not known: `ROWS` has no value here; add a comment `# tilefit: ROWS=128` above the kernel
    "#]],
    );
    let agrees = "def run(x, n):
    rows = 64
    for cols in (16, 32):
        if torch.cuda.memory_reserved() < cols:
            break
    copy[(1,)](x, x, ROWS=rows, COLS=64)";
    check(
        &launched(agrees),
        expect![[r#"
        copy on sm_100: 8192
    "#]],
    );
    // It waits, and has no end here.
    let waits = "def run(x, n):
    while True:
        if torch.cuda.is_current_stream_capturing():
            break
    copy[(1,)](x, x, ROWS=64, COLS=64)";
    check(
        &launched(waits),
        expect![[r#"
        copy on sm_100: 8192
    "#]],
    );
}

#[test]
fn products_of_lists_are_configurations() {
    let host = "def run(x, n):
    for rows, cols in itertools.product([32, 64], (16, 32)):
        copy[(1,)](x, x, ROWS=rows, COLS=cols)";
    check(
        &launched(host),
        expect![[r#"
        copy on sm_100: Some(Bounds { low: 0, high: Some(1024) })
        * {"COLS": "16", "ROWS": "32"} 0 fits
          {"COLS": "32", "ROWS": "32"} 2048 fits
          {"COLS": "16", "ROWS": "64"} 0 fits
          {"COLS": "32", "ROWS": "64"} 0 fits
    "#]],
    );
}

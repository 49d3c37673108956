//! Kernels that programs have written: Helion's and Inductor's files say how they are launched.

use expect_test::{Expect, expect};
use tilefit_analysis::Fixture;

fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text);
    let lenses = fixture.code_lenses().into_iter().filter_map(|lens| fixture.code_lens(lens));
    expected.assert_eq(&lenses.map(|lens| lens.title).collect::<Vec<_>>().join("\n"));
}

#[test]
fn helion_passes_the_launcher() {
    const KERNEL: &str = "from __future__ import annotations

import torch
import triton
import triton.language as tl
from helion.runtime import default_launcher as _default_launcher

_BLOCK_SIZE_0 = tl.constexpr(64)

@triton.jit
def _helion_matmul(x, y, out, _BLOCK_SIZE_1: tl.constexpr, _BLOCK_SIZE_2: tl.constexpr):
    indices_0 = tl.program_id(0) * _BLOCK_SIZE_0 + tl.arange(0, _BLOCK_SIZE_0).to(tl.int32)
    indices_1 = tl.program_id(1) * _BLOCK_SIZE_1 + tl.arange(0, _BLOCK_SIZE_1).to(tl.int32)
    acc = tl.full([_BLOCK_SIZE_0, _BLOCK_SIZE_1], 0.0, tl.float32)
    for offset_2 in tl.range(0, 1024, _BLOCK_SIZE_2):
        indices_2 = offset_2 + tl.arange(0, _BLOCK_SIZE_2).to(tl.int32)
        load = tl.load(x + (indices_0[:, None] * 1024 + indices_2[None, :] * 1), None)
        load_1 = tl.load(y + (indices_2[:, None] * 1024 + indices_1[None, :] * 1), None)
        acc = tl.dot(load, load_1, acc=acc, input_precision='tf32')
    tl.store(out + (indices_0[:, None] * 1024 + indices_1[None, :] * 1), acc.to(tl.float16), None)

def matmul(x: torch.Tensor, y: torch.Tensor, *, _launcher=_default_launcher):
    out = torch.empty([1024, 1024], dtype=torch.float16, device=x.device)
    _BLOCK_SIZE_1 = 128
    _BLOCK_SIZE_2 = 32
    _launcher(_helion_matmul, (16, 8), x, y, out, _BLOCK_SIZE_1, _BLOCK_SIZE_2, num_warps=4, num_stages=3)
    return out

def call():
    x = torch.randn([1024, 1024], device='cuda', dtype=torch.float16)
    return matmul(x, x)
";
    check(KERNEL, expect!["36.1 KiB of 227 KiB · 128 of 512 columns · room for 6 blocks/SM · assumes sm_100"]);
}

#[test]
fn inductor_describes_what_it_compiles() {
    const KERNEL: &str = "import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.hints import DeviceProperties

@triton_heuristics.persistent_reduction(
    size_hints={'x': 4096, 'r0_': 512},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_ptr0': '*fp16', 'out_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32', 'XBLOCK': 'constexpr'}, 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, max_threads_per_multi_processor=2048, warp_size=32), 'constants': {}, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]]}]},
    inductor_meta={'kernel_name': 'triton_per_fused_sum_0'}
)
@triton.jit
def triton_per_fused_sum_0(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
    r0_numel = 512
    R0_BLOCK: tl.constexpr = 512
    xindex = tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK)[:, None]
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    tmp0 = tl.load(in_ptr0 + (r0_index + 512 * xindex), None).to(tl.float32)
    tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
    tmp3 = tl.sum(tmp1, 1)[:, None]
    tl.store(out_ptr0 + (xindex), tmp3, None)
";
    check(KERNEL, expect!["at most 1 KiB of 227 KiB (sm_90) whatever XBLOCK is · assumes 4 warps"]);
}

"""A product on Hopper: one task loads, two multiply. What each of them stores goes through 32 KiB that the text does not show.

With three stages instead of four it fits.
"""

import torch
import triton
import triton.language as tl
import triton.language.extra.tlx as tlx
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def product(a_desc, b_desc, c_desc, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, STAGES: tl.constexpr = 4):
    a_tiles = tlx.local_alloc((BM // 2, BK), tlx.dtype_of(a_desc), STAGES * 2)
    b_tiles = tlx.local_alloc((BK, BN), tlx.dtype_of(b_desc), STAGES)
    loaded = tlx.alloc_barriers(STAGES)
    read = tlx.alloc_barriers(STAGES, arrive_count=2)

    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    with tlx.async_tasks():
        with tlx.async_task("default"):
            for k in range(0, steps):
                slot, phase = k % STAGES, (k // STAGES) & 1
                tlx.barrier_wait(read[slot], phase ^ 1)
                tlx.barrier_expect_bytes(loaded[slot], 2 * BK * (BM + BN))
                tlx.async_descriptor_load(a_desc, a_tiles[slot], [row, k * BK], loaded[slot])
                tlx.async_descriptor_load(a_desc, a_tiles[slot + STAGES], [row + BM // 2, k * BK], loaded[slot])
                tlx.async_descriptor_load(b_desc, b_tiles[slot], [k * BK, column], loaded[slot])
        with tlx.async_task(num_warps=4, replicate=2):
            half: tl.constexpr = tlx.async_task_replica_id()
            total = tl.zeros([BM // 2, BN], dtype=tl.float32)
            for k in range(0, steps):
                slot, phase = k % STAGES, (k // STAGES) & 1
                tlx.barrier_wait(loaded[slot], phase)
                total = tlx.async_dot(a_tiles[slot + half * STAGES], b_tiles[slot], total)
                total = tlx.async_dot_wait(0, total)
                tlx.barrier_arrive(read[slot], 1)
            c_desc.store([row + half * (BM // 2), column], total.to(tlx.dtype_of(c_desc)))


def launch(m, n, k):
    a = torch.empty((m, k), dtype=torch.float16, device="cuda")
    b = torch.empty((k, n), dtype=torch.float16, device="cuda")
    c = torch.empty((m, n), dtype=torch.float16, device="cuda")
    a_desc = TensorDescriptor(a, a.shape, a.stride(), [64, 64])
    b_desc = TensorDescriptor(b, b.shape, b.stride(), [64, 256])
    c_desc = TensorDescriptor(c, c.shape, c.stride(), [64, 256])
    product[(m // 128, n // 256)](a_desc, b_desc, c_desc, k // 64, BM=128, BN=256, BK=64)

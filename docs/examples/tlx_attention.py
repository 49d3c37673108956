"""Attention on Blackwell: the scores, then in their place the probabilities and the scale of each row, in tensor memory;
the sum of the weighted values beside them.

Make BLOCK_N 256 and tensor memory is over its 512 columns.
"""

import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


# tilefit: HEAD_DIM=128 q_desc=bf16 o_desc=bf16[128,128] arch=sm_100
@triton.jit
def attention(q_desc, k_desc, v_desc, o_desc, steps, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr = 128, BLOCK_N: tl.constexpr = 128):
    dtype = tlx.dtype_of(q_desc)
    queries = tlx.local_alloc((BLOCK_M, HEAD_DIM), dtype, 1)
    keys = tlx.local_alloc((BLOCK_N, HEAD_DIM), dtype, 2)
    values = tlx.local_alloc((BLOCK_N, HEAD_DIM), dtype, 2)
    loaded = tlx.alloc_barriers(2)
    scored = tlx.alloc_barriers(2)
    weighted = tlx.alloc_barriers(2)
    rescaled = tlx.alloc_barriers(2)
    summed = tlx.alloc_barriers(2)

    stage = tlx.storage_alias_spec(storage=tlx.storage_kind.tmem)
    scores = tlx.local_alloc((BLOCK_M, BLOCK_N), tl.float32, 2, tlx.storage_kind.tmem, reuse=stage)
    weights = tlx.local_alloc((BLOCK_M, BLOCK_N), dtype, 2, tlx.storage_kind.tmem, reuse=stage)
    scale = tlx.local_alloc((BLOCK_M, 1), tl.float32, 2, tlx.storage_kind.tmem, reuse=stage)
    stage.set_buffer_overlap(
        tlx.reuse_group(
            scores,
            tlx.reuse_group(weights, scale, group_type=tlx.reuse_group_type.distinct),
            group_type=tlx.reuse_group_type.shared,
        )
    )
    output = tlx.local_alloc((BLOCK_M, HEAD_DIM), tl.float32, 1, tlx.storage_kind.tmem)

    with tlx.async_tasks():
        with tlx.async_task("default"):  # softmax
            peak = tl.full([BLOCK_M], float("-inf"), tl.float32)
            for i in tl.range(0, steps):
                slot, phase = i % 2, (i // 2) & 1
                tlx.barrier_wait(scored[slot], phase)
                product = tlx.local_load(scores[slot])
                higher = tl.maximum(peak, tl.max(product, 1))
                tlx.local_store(scale[slot], tl.exp2(peak - higher)[:, None])
                tlx.local_store(weights[slot], tl.exp2(product - higher[:, None]).to(dtype))
                tlx.barrier_arrive(weighted[slot], 1)
                peak = higher
        with tlx.async_task(num_warps=4, registers=80):  # the sum so far, in the scale of the new peak
            for i in tl.range(0, steps):
                slot, phase = i % 2, (i // 2) & 1
                tlx.barrier_wait(weighted[slot], phase)
                factor = tlx.local_load(scale[slot])
                if i > 0:
                    tlx.barrier_wait(summed[(i - 1) % 2], ((i - 1) // 2) & 1)
                    tlx.local_store(output[0], tlx.local_load(output[0]) * factor)
                tlx.barrier_arrive(rescaled[slot], 1)
            tlx.barrier_wait(summed[(steps - 1) % 2], ((steps - 1) // 2) & 1)
            o_desc.store([0, 0], tlx.local_load(output[0]).to(dtype))
        with tlx.async_task(num_warps=1, registers=24):  # products
            for i in tl.range(0, steps):
                slot, phase = i % 2, (i // 2) & 1
                tlx.barrier_wait(loaded[slot], phase)
                tlx.async_dot(queries[0], tlx.local_trans(keys[slot]), scores[slot], use_acc=False, mBarriers=[scored[slot]])
                tlx.barrier_wait(rescaled[slot], phase)
                tlx.async_dot(weights[slot], values[slot], output[0], use_acc=i > 0, mBarriers=[summed[slot]])
        with tlx.async_task(num_warps=1, registers=24):  # loads
            for i in tl.range(0, steps):
                slot, phase = i % 2, (i // 2) & 1
                tlx.barrier_wait(summed[slot], phase ^ 1)
                tlx.barrier_expect_bytes(loaded[slot], 2 * HEAD_DIM * (2 * BLOCK_N + (BLOCK_M if i == 0 else 0)))
                if i == 0:
                    tlx.async_descriptor_load(q_desc, queries[0], [0, 0], loaded[slot])
                tlx.async_descriptor_load(k_desc, keys[slot], [i * BLOCK_N, 0], loaded[slot])
                tlx.async_descriptor_load(v_desc, values[slot], [i * BLOCK_N, 0], loaded[slot])

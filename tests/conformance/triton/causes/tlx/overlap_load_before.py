import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def kernel(c, K, NS: tl.constexpr):
    A = tlx.local_alloc((128, 64), tl.float16, 2)
    B = tlx.local_alloc((64, 64), tl.float16, 2)
    D = tlx.local_alloc((128, 64), tl.float32, 2, tlx.storage_kind.tmem)
    bars = tlx.alloc_barriers(num_barriers=2)
    for k in tl.range(0, K, num_stages=NS):
        r = tlx.local_load(D[0])
        tl.store(c + k * 8192 + tl.arange(0, 128)[:, None] * 64 + tl.arange(0, 64)[None, :], r)
        tlx.async_dot(A[0], B[0], D[0], use_acc=k > 0, mBarriers=[bars[0]])
        tlx.barrier_wait(bars[0], k & 1)
    r = tlx.local_load(D[0])
    tl.store(c + tl.arange(0, 128)[:, None] * 64 + tl.arange(0, 64)[None, :], r)
#: {"target": "cuda:100", "options": {"num_warps": 4}, "signature": {"c": "*fp32", "K": "i32"}, "constexprs": {"NS": 1}, "divisible": ["c"]}
#: {"target": "cuda:100", "options": {"num_warps": 4}, "signature": {"c": "*fp32", "K": "i32"}, "constexprs": {"NS": 3}, "divisible": ["c"]}

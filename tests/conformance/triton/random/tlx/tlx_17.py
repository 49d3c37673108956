import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((64, 128, ), tl.float32, 1)
    v2 = tl.load(x_ptr + offs(16, 128))
    v3 = tl.where(v2 > v2, v2, v2)
    v4 = d3.load([0, 0])
    v5 = tl.full([16, 64], 1, tl.float32)
    v6 = v4 * v4
    v7 = v3.to(tl.float16)
    v8 = tl.full([32, 64], 1, tl.float32)
    v9 = tlx.local_load(tlx.local_view(b1, 0))
    v10 = tlx.local_load(b1[0])
    v11 = tl.min(v4, 1)
    tl.store(y_ptr + offs(64, 16), v6.to(tl.float32))
    b12 = tlx.local_alloc((64, 128), tl.int32, 1, reuse=b1)
    tl.store(y_ptr + tl.arange(0, 64), v11, mask=tl.arange(0, 64) < n)
    tl.store(y_ptr + offs(64, 16), v4.to(tl.float32))

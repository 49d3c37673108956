import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((4, 16, 32, ), tl.float32, 1)
    v2 = tl.load(x_ptr + offs(32, 64))
    v3 = d3.load([0, 0])
    v4 = tl.load(x_ptr + offs(32, 64))
    b5 = tlx.local_alloc((32, 64, ), tl.bfloat16, 1)
    tlx.local_store(b5[0], v3.to(tl.bfloat16))
    v6 = tl.load(x_ptr + offs(32, 64))
    v7 = v4 - v6
    tlx.local_store(b5[0], v2.to(tl.bfloat16))
    v8 = tlx.local_load(b5[0])
    tl.store(y_ptr + offs(32, 64), v7)
    tl.store(y_ptr + offs(32, 64), v3)

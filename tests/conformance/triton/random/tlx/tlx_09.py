import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((128, 64, ), tl.int8, 2)
    v2 = tl.load(x_ptr + offs(128, 64)).to(tl.int8)
    tlx.local_store(b1[1], v2)
    b3 = tlx.local_alloc((128, 64, ), tl.bfloat16, 1)
    v4 = d3.load([0, 0])
    v5 = tl.trans(v4)
    tlx.local_store(b3[0], v2.to(tl.bfloat16))
    tlx.local_store(b3[0], v4)
    b6 = tlx.local_alloc((128, 64), tl.bfloat16, 1)
    b7 = tlx.local_alloc((64, 32), tl.bfloat16, 1)
    v9 = tl.full([64, 32], 1, tl.bfloat16)
    tlx.local_store(b7[0], v9)
    v8 = tl.zeros((128, 32), tl.float32)
    for i10 in range(n):
        v8 = tlx.async_dot(b6[0], b7[0], v8)
        v8 = tlx.async_dot_wait(0, v8)
    tl.store(y_ptr + offs(128, 32), v8)
    tl.store(y_ptr + offs(64, 128), v5.to(tl.float32))

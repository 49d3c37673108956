import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((32, 64, ), tl.bfloat16, 3)
    v2 = tl.load(x_ptr + offs(128, 128)).to(tl.int32)
    b3 = tlx.local_alloc((128, 128, ), tl.float16, 3)
    v4 = tlx.local_load(b3[2])
    b5 = tlx.local_alloc((128, 128, ), tl.float32, 4)
    tlx.local_store(b3[2], v2.to(tl.float16))
    v6 = tlx.local_load(b3[1])
    v7 = tl.cumsum(v2, 1)
    b8 = tlx.local_alloc((128, 32), tl.bfloat16, 1)
    b9 = tlx.local_alloc((32, 64), tl.bfloat16, 1)
    v11 = tl.load(x_ptr + offs(32, 64))
    tlx.local_store(b9[0], v11)
    v10 = tl.zeros((128, 64), tl.float32)
    v10 = tlx.async_dot(b8[0], b9[0], v10)
    v10 = tlx.async_dot_wait(0, v10)
    tl.store(y_ptr + offs(32, 64), v11.to(tl.float32))
    tl.store(y_ptr + offs(128, 128), v6.to(tl.float32))

import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def through(x, M: tl.constexpr, N: tl.constexpr, DT: tl.constexpr):
    tile = tlx.local_alloc((M, N), DT, 1)
    tlx.local_store(tile[0], x.to(DT))
    return tlx.local_load(tile[0])


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((16, 64, ), tl.float32, 1)
    b2 = tlx.local_alloc((64, 64), tl.bfloat16, 1)
    b3 = tlx.local_alloc((64, 32), tl.bfloat16, 1)
    v5 = tl.load(x_ptr + offs(64, 64), mask=offs(64, 64) < n).to(tl.bfloat16)
    tlx.local_store(b2[0], v5)
    v6 = tl.load(x_ptr + offs(64, 32)).to(tl.bfloat16)
    tlx.local_store(b3[0], v6)
    v4 = tl.zeros((64, 32), tl.float32)
    v4 = tlx.async_dot(b2[0], b3[0], v4)
    v4 = tlx.async_dot_wait(0, v4)
    b7 = tlx.local_alloc((32, 64), tlx.dtype_of(d3), 3)
    bar8 = tlx.alloc_barriers(num_barriers=1)
    tlx.barrier_expect_bytes(bar8[0], 2048)
    tlx.async_descriptor_load(d3, b7[1], [0, 0], bar8[0])
    tlx.barrier_wait(bar8[0], 0)
    tlx.local_store(b3[0], v4.to(tl.bfloat16))
    v9 = through(v4, 64, 32, tl.float32)
    v10 = through(v9, 64, 32, tl.float16)
    tl.store(y_ptr + offs(64, 32), v4)
    tl.store(y_ptr + offs(64, 32), v9)

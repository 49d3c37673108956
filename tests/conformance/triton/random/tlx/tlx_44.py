import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def put(buffer, x):
    tlx.local_store(buffer, x)


@triton.jit
def through(x, M: tl.constexpr, N: tl.constexpr, DT: tl.constexpr):
    tile = tlx.local_alloc((M, N), DT, 1)
    tlx.local_store(tile[0], x.to(DT))
    return tlx.local_load(tile[0])


@triton.jit
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((128, 16, ), tl.float32, 1)
    v2 = tlx.local_load(b1[0])
    put(b1[0], v2)
    v3 = through(v2, 128, 16, tl.float32)
    v4 = tl.load(x_ptr + offs(32, 16), mask=offs(32, 16) < n, other=0.0)
    b5 = tlx.local_alloc((128, 16, ), tl.float32, 1)
    v6 = through(v4, 32, 16, tl.float32)
    bar7 = tlx.alloc_barriers(num_barriers=4)
    tlx.barrier_wait(bar7[3], n & 1)
    b8 = tlx.local_alloc((128, 16), tl.int32, 1, reuse=b1)
    tl.store(y_ptr + offs(128, 16), v3)
    tl.store(y_ptr + offs(32, 16), v6)

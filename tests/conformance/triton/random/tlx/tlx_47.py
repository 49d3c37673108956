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
    b1 = tlx.local_alloc((32, 32, ), tl.float16, 1)
    v2 = tl.load(x_ptr + offs(32, 32))
    tlx.local_store(b1[0], v2)
    tlx.local_store(b1[0], v2)
    b3 = tlx.local_alloc((128, 32, ), tl.float8e5, 1)
    b4 = tlx.local_alloc((32, 32), tlx.dtype_of(d3), 3)
    bar5 = tlx.alloc_barriers(num_barriers=2)
    tlx.barrier_expect_bytes(bar5[1], 2048)
    tlx.async_descriptor_load(d3, b4[2], [0, 0], bar5[1])
    tlx.barrier_wait(bar5[1], 0)
    b6 = tlx.local_alloc((32, 32), tlx.dtype_of(d3), 3)
    tlx.barrier_expect_bytes(bar5[1], 2048)
    tlx.async_descriptor_load(d3, b6[1], [0, 0], bar5[1])
    tlx.barrier_wait(bar5[1], 0)
    w7 = tlx.local_view(b3, 0)
    tlx.barrier_wait(bar5[0], 0)
    v8 = through(v2, 32, 32, tl.float32)
    tl.store(y_ptr + offs(32, 32), v8)
    tl.store(y_ptr + offs(32, 32), v2.to(tl.float32))

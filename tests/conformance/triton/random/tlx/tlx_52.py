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
def kernel(x_ptr, y_ptr, n, d3, d4):
    b1 = tlx.local_alloc((16, 16, ), tl.float16, 1)
    b2 = tlx.local_alloc((16, 16), tlx.dtype_of(d3), 1)
    v3 = tl.load(x_ptr + offs(16, 16)).to(tl.bfloat16)
    tlx.local_store(b2[0], v3)
    tlx.fence_async_shared()
    tlx.async_descriptor_store(d3, b2[0], [0, 0])
    tlx.async_descriptor_store_wait(0)
    b4 = tlx.local_alloc((16, 64), tlx.dtype_of(d4), 1)
    bar5 = tlx.alloc_barriers(num_barriers=3)
    tlx.barrier_expect_bytes(bar5[1], 1024)
    tlx.async_descriptor_load(d4, b4[0], [0, 0], bar5[1])
    tlx.barrier_wait(bar5[1], 0)
    v6 = through(v3, 16, 16, tl.float32)
    tl.store(y_ptr + offs(16, 16), v3.to(tl.float32))
    tl.store(y_ptr + offs(16, 16), v6)
    tl.store(y_ptr + offs(16, 16), v3.to(tl.float32))

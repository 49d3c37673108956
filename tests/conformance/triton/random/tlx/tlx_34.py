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
    b1 = tlx.local_alloc((32, 128, ), tl.float16, 4)
    v2 = tlx.local_load(b1[3])
    v3 = v2 + v2
    v4 = through(v3, 32, 128, tl.float32)
    tlx.local_store(tlx.local_view(b1, 3), v3)
    b5 = tlx.local_alloc((32, 128, ), tl.bfloat16, 2)
    b6 = tlx.local_alloc((32, 128), tlx.dtype_of(d3), 1)
    bar7 = tlx.alloc_barriers(num_barriers=3)
    tlx.barrier_expect_bytes(bar7[0], 16384)
    tlx.async_descriptor_load(d3, tlx.local_view(b6, 0), [0, 0], bar7[0])
    tlx.barrier_wait(bar7[0], 0)
    v8 = tl.load(x_ptr + offs(32, 128))
    v9 = tlx.local_load(b1[3])
    v10 = tl.trans(v3)
    tl.store(y_ptr + offs(32, 128), v4)
    tl.store(y_ptr + offs(32, 128), v8)

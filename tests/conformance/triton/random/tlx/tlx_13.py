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
    b1 = tlx.local_alloc((128, 128, ), tl.int8, 2)
    v2 = tl.load(x_ptr + offs(128, 128))
    v3 = through(v2, 128, 128, tl.float16)
    for i4 in tl.static_range(2):
        b5 = tlx.local_alloc((128, 128, ), tl.float32, 2, storage=tlx.storage_kind.smem)
        v6 = d3.load([i4, 0])
        pass
    v7 = v2 + v2
    v8 = v7 * 2
    b9 = tlx.local_alloc((128, 128), tlx.dtype_of(d4), 1)
    bar10 = tlx.alloc_barriers(num_barriers=3)
    tlx.barrier_expect_bytes(bar10[1], 32768)
    tlx.async_descriptor_load(d4, b9[0], [0, 0], bar10[1])
    tlx.barrier_wait(bar10[1], 0)
    b11 = tlx.local_alloc((128, 128), tlx.dtype_of(x_ptr), 2)
    b12 = tlx.local_alloc((128, 16, ), tl.bfloat16, 2)
    v13 = tl.load(x_ptr + offs(128, 128))
    v14 = v7 * v7
    tl.store(y_ptr + offs(128, 128), v14)
    tl.store(y_ptr + offs(128, 128), v2)

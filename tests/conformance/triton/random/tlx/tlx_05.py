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
    b1 = tlx.local_alloc((16, 32, ), tl.float32, 1)
    for i2 in tl.static_range(2):
        t3 = tlx.local_alloc((128, 128), tl.float16, 1, tlx.storage_kind.tmem)
        v4 = tl.load(x_ptr + offs(32, 64))
        v5 = tl.load(x_ptr + i2 * 2048 + offs(32, 64))
        v6 = d3.load([i2, 0])
        v7 = v4 + 2
        pass
    bar8 = tlx.alloc_barriers(num_barriers=3)
    tlx.barrier_expect_bytes(bar8[2], 2048)
    tlx.async_descriptor_load(d4, b1[0], [0, 0], bar8[2])
    tlx.barrier_wait(bar8[2], 0)
    w9 = tlx.local_trans(tlx.local_view(b1, 0))
    v10 = tlx.local_load(b1[0])
    v11 = through(v10, 16, 32, tl.float16)
    v12 = v10 * v10
    tlx.local_store(b1[0], v10)
    tl.store(y_ptr + offs(16, 32), v12)
    v13 = v10 * v12
    v14 = tl.cumsum(v12, 1)
    tl.store(y_ptr + offs(16, 32), v11.to(tl.float32))
    tl.store(y_ptr + offs(16, 32), v10)

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
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((64, 16, ), tl.int32, 1)
    v2 = tl.load(x_ptr + offs(64, 16)).to(tl.int32)
    tlx.local_store(b1[0], v2)
    v3 = tlx.local_load(b1[0])
    v4 = through(v3, 64, 16, tl.float32)
    v5 = tl.load(x_ptr + offs(64, 16)).to(tl.int32)
    put(b1[0], v5)
    for i6 in range(0, n, 2):
        v7 = tlx.local_load(tlx.local_view(b1, i6 % 1))
        v8 = tl.zeros([64, 16], tl.int32)
        tlx.local_store(b1[i6 % 1], v8)
        b9 = tlx.local_alloc((32, 16), tlx.dtype_of(d3), 3)
        bar10 = tlx.alloc_barriers(num_barriers=1)
        tlx.barrier_expect_bytes(bar10[0], 1024)
        tlx.async_descriptor_load(d3, b9[i6 % 3], [i6, 0], bar10[0])
        tlx.barrier_wait(bar10[0], 0)
        for i11 in range(0, n, 2):
            v12 = tl.full([64, 16], n, tl.float32)
            v13 = tl.load(x_ptr + offs(32, 16)).to(tl.bfloat16)
            tlx.local_store(tlx.local_view(b9, 1), v13)
            tlx.fence_async_shared()
            tlx.async_descriptor_store(d3, b9[i6 % 3], [i11, 0])
            v14 = tlx.local_load(b9[(i11 + 1) % 3])
            tl.store(y_ptr + offs(64, 16), v2.to(tl.float32))
            pass
        v5 = v5 + v3
    tl.store(y_ptr + offs(64, 16), v5.to(tl.float32))
    tl.store(y_ptr + offs(64, 16), v3.to(tl.float32))

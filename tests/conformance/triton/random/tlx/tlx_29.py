import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3, d4):
    b1 = tlx.local_alloc((16, 16, ), tl.float16, 1, storage=tlx.storage_kind.smem)
    v2 = tlx.local_load(b1[0])
    b3 = tlx.local_alloc((32, 32), tlx.dtype_of(d3), 3)
    v4 = tl.load(x_ptr + offs(32, 32), mask=offs(32, 32) < n, other=0.0).to(tl.float16)
    tlx.local_store(tlx.local_view(b3, 1), v4)
    tlx.fence_async_shared()
    tlx.async_descriptor_store(d3, b3[2], [0, 0])
    tlx.async_descriptor_store_wait(0)
    v5 = d4.load([0, 0])
    b6 = tlx.local_alloc((64, 32, ), tl.float16, 2, storage=tlx.storage_kind.smem)
    b7 = tlx.local_alloc((64, 64), tl.bfloat16, 1)
    b8 = tlx.local_alloc((64, 64), tl.bfloat16, 1)
    v10 = tl.full([64, 64], 1, tl.bfloat16)
    tlx.local_store(b7[0], v10)
    tlx.local_store(b8[0], v10)
    v9 = tl.zeros((64, 64), tl.float32)
    for i11 in range(n):
        v9 = tlx.async_dot(b7[0], b8[0], v9)
        v9 = tlx.async_dot_wait(0, v9)
    v12 = tlx.local_load(b7[0])
    tl.store(y_ptr + offs(32, 32), v4.to(tl.float32))
    tl.store(y_ptr + offs(16, 16), v2.to(tl.float32))

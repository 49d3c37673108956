import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((4, 16, 16, ), tl.float16, 3)
    b2 = tlx.local_alloc((32, 16), tlx.dtype_of(d3), 1)
    v3 = tl.load(x_ptr + offs(32, 16)).to(tl.float16)
    tlx.local_store(b2[0], v3)
    tlx.fence_async_shared()
    tlx.async_descriptor_store(d3, b2[0], [0, 0])
    tl.store(y_ptr + offs(32, 16), v3.to(tl.float32))
    b4 = tlx.local_alloc((512, ), tl.float8e5, 3)
    b5 = tlx.local_alloc((4, 16, 32, ), tl.float16, 3)
    v6 = tl.load(x_ptr + (tl.arange(0, 4)[:, None, None] * 256 + tl.arange(0, 16)[None, :, None] * 16 + tl.arange(0, 16)[None, None, :])).to(tl.float16)
    tlx.local_store(b1[0], v6)
    v7 = tl.full([16, 32], 1, tl.float32)
    v8 = tlx.local_load(b2[0])
    b9 = tlx.local_alloc((64, 32), tl.bfloat16, 1)
    b10 = tlx.local_alloc((32, 128), tl.bfloat16, 1)
    v12 = tl.load(x_ptr + offs(32, 128), mask=offs(32, 128) < n)
    tlx.local_store(b10[0], v12)
    v11 = tl.zeros((64, 128), tl.float32)
    v11 = tlx.async_dot(b9[0], b10[0], v11)
    v11 = tlx.async_dot_wait(0, v11)
    b13 = tlx.local_alloc((128, 32, ), tl.float32, 1)
    b14 = tlx.local_alloc((128, 64, ), tl.float32, 1, layout=tlx.swizzled_shared_layout_encoding.make_default(rank=2))
    tl.store(y_ptr + offs(32, 16), v3.to(tl.float32))
    tl.store(y_ptr + offs(16, 32), v7)

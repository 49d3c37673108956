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
def stage(buffer, x):
    tlx.local_store(buffer, x)
    return tlx.local_load(buffer)


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((16, 32, ), tl.float32, 1)
    v2 = tl.load(x_ptr + offs(16, 16))
    b3 = tlx.local_alloc((16, 64), tlx.dtype_of(d3), 3)
    tlx.async_descriptor_store(d3, b3[1], [0, 0])
    v4 = tl.load(x_ptr + offs(16, 64)).to(tl.float16)
    v5 = stage(b3[2], v4)
    b6 = tlx.local_alloc((4, 16, 16, ), tl.float32, 2)
    b7 = tlx.local_alloc((64, ), tl.int32, 2, storage=tlx.storage_kind.smem)
    b8 = tlx.local_alloc((16, 64), tlx.dtype_of(d3), 2)
    tlx.async_descriptor_store(d3, tlx.local_view(b8, 0), [0, 0])
    tlx.async_descriptor_store_wait(0)
    v9 = v2 * 2
    v10 = tl.zeros([16, 32], tl.float32)
    tlx.local_store(b1[0], v10)
    v11 = tl.load(x_ptr + tl.arange(0, 64)).to(tl.int32)
    put(b7[1], v11)
    tl.store(y_ptr + offs(16, 64), v4.to(tl.float32))
    tl.store(y_ptr + offs(16, 32), v10)

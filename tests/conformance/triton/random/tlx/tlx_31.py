import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((64, 128, ), tl.bfloat16, 2)
    b2 = tlx.local_alloc((64, 128), tlx.dtype_of(d3), 2)
    bar3 = tlx.alloc_barriers(num_barriers=2)
    tlx.barrier_expect_bytes(bar3[1], 32768)
    tlx.async_descriptor_load(d3, tlx.local_view(b2, 1), [0, 0], bar3[1])
    tlx.barrier_wait(bar3[1], 0)
    tlx.barrier_wait(bar3[0], n & 1)
    v4 = tlx.local_load(tlx.local_view(b1, 1))
    v5 = tlx.local_load(b1[0])
    b6 = tlx.local_alloc((64, 128), tlx.dtype_of(x_ptr), 1)
    v7 = v5 * v4
    v8 = tlx.local_load(tlx.local_view(b2, 0))
    tlx.local_store(b2[1], v4.to(tl.float32))
    tlx.fence_async_shared()
    tlx.async_descriptor_store(d3, b2[1], [0, 0])
    tlx.async_descriptor_store_wait(0)
    spec9 = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    b10 = tlx.local_alloc((64, 64), tl.float32, 2, tlx.storage_kind.smem, reuse=spec9)
    b11 = tlx.local_alloc((64, 64), tl.float16, 4, tlx.storage_kind.smem, reuse=spec9)
    tl.store(y_ptr + offs(64, 128), v7.to(tl.float32))
    v12 = v7.to(tl.float16)
    tl.store(y_ptr + offs(64, 128), v7.to(tl.float32))
    tl.store(y_ptr + offs(64, 128), v5.to(tl.float32))

import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((128, 32, ), tl.int32, 4, storage=tlx.storage_kind.smem)
    if n % 2 == 0:
        b2 = tlx.local_alloc((128, 32), tlx.dtype_of(d3), 2)
        bar3 = tlx.alloc_barriers(num_barriers=4)
        tlx.barrier_expect_bytes(bar3[2], 4096)
        tlx.async_descriptor_load(d3, b2[1], [0, 0], bar3[2])
        tlx.barrier_wait(bar3[2], 0)
        v4 = tl.load(x_ptr + offs(128, 32))
        pass
    else:
        b5 = tlx.local_alloc((128, 32), tlx.dtype_of(x_ptr), 1)
        pass
    if n > 4:
        v6 = tl.load(x_ptr + offs(64, 128))
        b7 = tlx.local_alloc((128, 32), tlx.dtype_of(d3), 3)
        tlx.fence_async_shared()
        tlx.async_descriptor_store(d3, b7[1], [0, 0])
        tlx.async_descriptor_store_wait(0)
        tl.store(y_ptr + offs(64, 128), v6)
        pass
    else:
        b8 = tlx.local_alloc((128, 32, ), tl.float16, 2)
        b9 = tlx.local_alloc((128, 32, ), tl.float8e5, 1, storage=tlx.storage_kind.smem)
        pass
    b10 = tlx.local_alloc((128, 32), tlx.dtype_of(d3), 1)
    tlx.fence_async_shared()
    tlx.async_descriptor_store(d3, b10[0], [0, 0])
    tlx.async_descriptor_store_wait(0)
    v11 = tl.load(x_ptr + offs(128, 32))
    v12 = tlx.local_load(b10[0])
    tl.store(y_ptr + offs(128, 32), v11)
    tl.store(y_ptr + offs(128, 32), v12.to(tl.float32))

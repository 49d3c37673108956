import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((128, 64, ), tl.float16, 1)
    b2 = tlx.local_alloc((512, ), tl.float32, 1)
    w3 = b1[0]
    v4 = tl.load(x_ptr + offs(128, 64))
    with tlx.async_tasks():
        with tlx.async_task("default"):
            b5 = tlx.local_alloc((64, 32), tlx.dtype_of(d3), 1)
            bar6 = tlx.alloc_barriers(num_barriers=4)
            tlx.barrier_expect_bytes(bar6[2], 4096)
            tlx.async_descriptor_load(d3, b5[0], [0, 0], bar6[2])
            tlx.barrier_wait(bar6[2], 0)
            v7 = tlx.local_load(b2[0])
            v8 = tl.cumsum(v7, 0)
            v9 = tlx.local_load(tlx.local_view(b1, 0))
            tl.store(y_ptr + tl.arange(0, 512), v7)
        with tlx.async_task(num_warps=4):
            tl.store(y_ptr, n.to(tl.float32))
    v10 = tlx.local_load(b1[0])
    b11 = tlx.local_alloc((16, 128, ), tl.bfloat16, 1, storage=tlx.storage_kind.smem)
    v12 = v10 * v10
    v13 = tlx.local_load(b11[0])
    tl.store(y_ptr + offs(16, 128), v13.to(tl.float32), mask=offs(16, 128) < n)
    tl.store(y_ptr + offs(128, 64), v12.to(tl.float32))

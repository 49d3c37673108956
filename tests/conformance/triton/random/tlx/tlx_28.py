import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3, d4, C0: tl.constexpr):
    b1 = tlx.local_alloc((128, 128, ), tl.bfloat16, 1)
    if n > 4:
        b2 = tlx.local_alloc((64, 64), tlx.dtype_of(d3), 1)
        v3 = tl.load(x_ptr + offs(64, 64), mask=offs(64, 64) < n).to(tl.float16)
        tlx.local_store(b2[0], v3)
        tlx.fence_async_shared()
        tlx.async_descriptor_store(d3, b2[0], [0, 0])
        tlx.async_descriptor_store_wait(0)
        if C0 > 0:
            v4 = tl.reshape(v3, [32, 128])
            v5 = tlx.local_load(b1[0])
            pass
        pass
    else:
        v6 = tl.load(x_ptr + offs(64, 64)).to(tl.float32)
        b7 = tlx.local_alloc((64, 64, ), tl.float32, 1)
        pass
    b8 = tlx.local_alloc((64, 64, ), tl.int32, 3)
    w9 = tlx.local_trans(b1[0])
    b10 = tlx.local_alloc((32, 64, ), tl.int8, 1, storage=tlx.storage_kind.smem)
    b11 = tlx.local_alloc((16, 32), tlx.dtype_of(d4), 2)
    bar12 = tlx.alloc_barriers(num_barriers=4)
    tlx.barrier_expect_bytes(bar12[1], 1024)
    tlx.async_descriptor_load(d4, b11[0], [0, 0], bar12[1])
    tlx.barrier_wait(bar12[1], 0)
    with tlx.async_tasks():
        with tlx.async_task("default"):
            v13 = tl.load(x_ptr + offs(128, 128), mask=offs(128, 128) < n)
            tlx.local_store(tlx.local_view(b1, 0), v13)
            b14 = tlx.local_alloc((2, 16, 16, ), tl.float32, 2)
            v15 = tlx.local_load(b8[1])
            v16 = tl.min(v15, 1)
            v17 = tl.load(x_ptr + (tl.arange(0, 2)[:, None, None] * 256 + tl.arange(0, 16)[None, :, None] * 16 + tl.arange(0, 16)[None, None, :])).to(tl.float32)
            tlx.local_store(b14[0], v17)
            tl.store(y_ptr + offs(64, 64), v15.to(tl.float32))
        with tlx.async_task(num_warps=1, num_regs=24):
            tlx.barrier_arrive(bar12[1], 1)
            bar18 = tlx.alloc_barriers(num_barriers=3)
    tl.store(y_ptr, n.to(tl.float32))

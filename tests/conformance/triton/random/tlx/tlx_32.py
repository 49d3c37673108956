import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((128, ), tl.float32, 1)
    b2 = tlx.local_alloc((16, 64), tlx.dtype_of(d3), 1)
    bar3 = tlx.alloc_barriers(num_barriers=1)
    tlx.barrier_expect_bytes(bar3[0], 2048)
    tlx.async_descriptor_load(d3, b2[0], [0, 0], bar3[0])
    tlx.barrier_wait(bar3[0], 0)
    v4 = tlx.local_load(b1[0])
    bar5 = tlx.alloc_barriers(num_barriers=2)
    with tlx.async_tasks():
        with tlx.async_task("default"):
            w6 = tlx.local_trans(b2[0])
            v7 = tl.load(x_ptr + offs(16, 64))
            v8 = d3.load([0, 0])
            b9 = tlx.local_alloc((16, 64, ), tl.float16, 3)
            bar10 = tlx.alloc_barriers(num_barriers=1)
            tl.store(y_ptr + offs(16, 64), v7)
        with tlx.async_task(num_warps=1, replicate=2, num_regs=24):
            tlx.barrier_wait(bar3[0], 0)
            tl.store(y_ptr, n.to(tl.float32))
    tlx.barrier_expect_bytes(bar3[0], 2048)
    tlx.async_descriptor_load(d3, tlx.local_view(b2, 0), [0, 0], bar3[0])
    tlx.barrier_wait(bar3[0], 0)
    tok11 = tlx.async_load(x_ptr + tl.arange(0, 128), tlx.local_view(b1, 0))
    tlx.async_load_commit_group()
    tlx.async_load_wait_group(0)
    v12 = tl.cumsum(v4, 0)
    v13 = tl.max(v4, 0)
    tl.store(y_ptr + 4, v13.to(tl.float32))
    tl.store(y_ptr + tl.arange(0, 128), v12)
    tl.store(y_ptr + tl.arange(0, 128), v4)

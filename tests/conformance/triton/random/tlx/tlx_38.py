import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((16, 128, ), tl.float16, 4)
    with tlx.async_tasks():
        with tlx.async_task("default"):
            for i2 in range(0, n):
                v3 = tl.full([16, 128], n, tl.float16)
                tlx.local_store(b1[i2 % 4], v3)
                bar4 = tlx.alloc_barriers(num_barriers=1)
                tlx.barrier_wait(bar4[0], n & 1)
                b5 = tlx.local_alloc((64, 16, ), tl.float8e5, 2)
                v6 = tl.trans(v3)
                v7 = v3 - v3
                pass
            tl.store(y_ptr, n.to(tl.float32))
        with tlx.async_task(num_warps=4):
            v8 = tlx.local_load(b1[3])
            tl.store(y_ptr + offs(16, 128), v8.to(tl.float32))
            v9 = tlx.local_load(b1[0])
            tl.store(y_ptr + offs(16, 128), v8.to(tl.float32))
    b10 = tlx.local_alloc((64, 16), tlx.dtype_of(d3), 1)
    bar11 = tlx.alloc_barriers(num_barriers=4)
    tlx.barrier_expect_bytes(bar11[3], 1024)
    tlx.async_descriptor_load(d3, b10[0], [0, 0], bar11[3])
    tlx.barrier_wait(bar11[3], 0)
    v12 = tl.load(x_ptr + offs(64, 16)).to(tl.int8)
    tlx.local_store(b10[0], v12)
    v13 = tl.load(x_ptr + offs(16, 128)).to(tl.float16)
    tlx.local_store(tlx.local_view(b1, 0), v13)
    b14 = tlx.local_alloc((16, 128, ), tl.float32, 2)
    v15 = tl.where(v13 > v13, v13, v13)
    v16 = tl.load(x_ptr + offs(16, 128))
    tl.store(y_ptr + offs(16, 128), v15.to(tl.float32))
    tl.store(y_ptr + offs(16, 128), v13.to(tl.float32))

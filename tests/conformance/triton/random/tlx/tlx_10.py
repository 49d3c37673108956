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
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((64, 32, ), tl.float8e5, 2, storage=tlx.storage_kind.smem)
    b2 = tlx.local_alloc((64, 32), tlx.dtype_of(d3), 3)
    bar3 = tlx.alloc_barriers(num_barriers=1)
    tlx.barrier_expect_bytes(bar3[0], 2048)
    tlx.async_descriptor_load(d3, b2[1], [0, 0], bar3[0])
    tlx.barrier_wait(bar3[0], 0)
    v4 = tl.zeros([64, 32], tl.float32)
    tlx.local_store(b1[0], v4.to(tl.float8e5))
    with tlx.async_tasks():
        with tlx.async_task("default"):
            for i5 in range(n):
                v6 = tl.load(x_ptr + i5 * 2048 + offs(64, 32)).to(tl.float16)
                pass
            v7 = tlx.local_load(tlx.local_view(b2, 1))
            v8 = tl.full([32, 16], 1, tl.float32)
            v9 = tl.cumsum(v8, 0)
            b10 = tlx.local_alloc((64, 32, ), tl.int32, 1, layout=tlx.swizzled_shared_layout_encoding.make_default(rank=2))
            tl.store(y_ptr + offs(32, 16), v8)
        with tlx.async_task(num_warps=4):
            v11 = tl.full([128, 64], n, tl.float32)
            v12 = tl.load(x_ptr + offs(64, 32))
            tl.store(y_ptr + offs(128, 64), v11)
    put(tlx.local_view(b1, 1), v4.to(tl.float8e5))
    tl.store(y_ptr + offs(64, 32), v4)

import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((2, 16, 16, ), tl.int32, 2, storage=tlx.storage_kind.smem)
    v2 = tlx.local_load(b1[0])
    v3 = v2.to(tl.int32)
    b4 = tlx.local_alloc((32, 64, ), tl.bfloat16, 3)
    v5 = tl.load(x_ptr + offs(32, 64))
    tlx.local_store(b4[2], v5)
    tlx.local_store(b1[1], v3)
    b6 = tlx.local_alloc((32, 64), tlx.dtype_of(d3), 3)
    bar7 = tlx.alloc_barriers(num_barriers=3)
    tlx.barrier_expect_bytes(bar7[0], 8192)
    tlx.async_descriptor_load(d3, b6[2], [0, 0], bar7[0])
    tlx.barrier_wait(bar7[0], 0)
    v8 = tl.max(v3, 0)
    v9 = tlx.local_load(b6[0])
    b10 = tlx.local_alloc((32, 64), tlx.dtype_of(d3), 1)
    tlx.barrier_expect_bytes(bar7[0], 8192)
    tlx.async_descriptor_load(d3, b10[0], [0, 0], bar7[0])
    tlx.barrier_wait(bar7[0], 0)
    b11 = tlx.local_alloc((2, 16, 16, ), tl.float16, 2)
    tl.store(y_ptr + (tl.arange(0, 2)[:, None, None] * 256 + tl.arange(0, 16)[None, :, None] * 16 + tl.arange(0, 16)[None, None, :]), v3.to(tl.float32))
    tl.store(y_ptr + offs(16, 16), v8.to(tl.float32))

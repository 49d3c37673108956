import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def kernel(x_ptr, y_ptr, n, d3, C0: tl.constexpr):
    b1 = tlx.local_alloc((2, 16, 32, ), tl.float16, 1)
    v2 = tlx.local_load(tlx.local_view(b1, 0))
    if C0 > 0:
        t3 = tlx.local_alloc((64, 128), tl.float32, 2, tlx.storage_kind.tmem)
        b4 = tlx.local_alloc((32, 32, ), tl.int8, 1)
        v5 = v2 + 2
        v2 = v5 * 2
    v6 = v2.to(tl.bfloat16)
    v7 = v2.to(tl.bfloat16)
    tlx.local_store(b1[0], v2)
    v8 = tl.sum(v2, 0)
    b9 = tlx.local_alloc((32, 16), tlx.dtype_of(d3), 2)
    bar10 = tlx.alloc_barriers(num_barriers=3)
    tlx.barrier_expect_bytes(bar10[1], 1024)
    tlx.async_descriptor_load(d3, b9[1], [0, 0], bar10[1])
    tlx.barrier_wait(bar10[1], 0)
    b11 = tlx.local_alloc((32, 16, ), tl.int8, 4)
    v12 = tlx.local_load(b1[0])
    tl.store(y_ptr + (tl.arange(0, 2)[:, None, None] * 512 + tl.arange(0, 16)[None, :, None] * 32 + tl.arange(0, 32)[None, None, :]), v7.to(tl.float32))
    tl.store(y_ptr + (tl.arange(0, 2)[:, None, None] * 512 + tl.arange(0, 16)[None, :, None] * 32 + tl.arange(0, 32)[None, None, :]), v2.to(tl.float32))

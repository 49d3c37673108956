import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((32, 128, ), tl.float32, 2)
    v2 = tl.load(x_ptr + offs(32, 128), mask=offs(32, 128) < n)
    w3 = tlx.local_view(b1, 0)
    v4 = tl.load(x_ptr + offs(32, 128))
    tlx.local_store(b1[1], v4)
    for i5 in tl.static_range(3):
        v6 = tlx.local_load(b1[(i5 + 1) % 2])
        b7 = tlx.local_alloc((32, 128), tlx.dtype_of(d3), 1)
        bar8 = tlx.alloc_barriers(2, arrive_count=2)
        tlx.barrier_expect_bytes(bar8[i5 % 2], 8192)
        tlx.async_descriptor_load(d3, b7[0], [i5, 0], bar8[i5 % 2])
        tlx.barrier_wait(bar8[i5 % 2], 0)
        v9 = tl.load(x_ptr + offs(32, 128))
        tlx.local_store(tlx.local_view(b1, i5 % 2), v9)
        v4 = v4 + v2
    b10 = tlx.local_alloc((32, 128, ), tl.float16, 4)
    tlx.local_store(w3, v2)
    b11 = tlx.local_alloc((32, 128), tl.bfloat16, 4, reuse=b10)
    v12 = v2.to(tl.int32)
    v13 = v4.to(tl.int32)
    tl.store(y_ptr + offs(32, 128), v2, mask=offs(32, 128) < n)
    tl.store(y_ptr + offs(32, 128), v13.to(tl.float32))

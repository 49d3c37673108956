import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def softmax(x):
    x = tl.exp(x - tl.max(x, 1)[:, None])
    return x / tl.sum(x, 1)[:, None]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((32, 128, ), tl.float32, 4)
    v2 = tl.load(x_ptr + offs(32, 128))
    v3 = tlx.local_load(b1[2])
    v4 = softmax(v3)
    if n > 4:
        v5 = tl.min(v3, 0)
        v6 = tlx.local_load(b1[0])
        w7 = b1[2]
        v2 = v2 * 2
    v8 = tl.where(v4 > v3, v4, v4)
    tl.store(y_ptr + offs(32, 128), v3)
    b9 = tlx.local_alloc((32, 128), tl.int32, 4, reuse=b1)
    b10 = tlx.local_alloc((128, 32), tlx.dtype_of(d3), 1)
    bar11 = tlx.alloc_barriers(num_barriers=1)
    tlx.barrier_expect_bytes(bar11[0], 16384)
    tlx.async_descriptor_load(d3, b10[0], [0, 0], bar11[0])
    tlx.barrier_wait(bar11[0], 0)
    tl.store(y_ptr + offs(32, 128), v8)
    tl.store(y_ptr + offs(32, 128), v2.to(tl.float32))

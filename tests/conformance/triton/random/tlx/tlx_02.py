import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((16, 128, ), tl.float32, 1)
    v2 = tl.load(x_ptr + offs(16, 128))
    tlx.local_store(b1[0], v2)
    v3 = v2.to(tl.float32)
    b4 = tlx.local_alloc((64, 64), tlx.dtype_of(d3), 3)
    bar5 = tlx.alloc_barriers(num_barriers=2)
    tlx.barrier_expect_bytes(bar5[0], 4096)
    tlx.async_descriptor_load(d3, b4[2], [0, 0], bar5[0])
    tlx.barrier_wait(bar5[0], 0)
    v6 = tl.full([64, 64], 1, tl.int8)
    tlx.local_store(b4[1], v6)
    v7 = tlx.local_load(b4[2])
    tl.store(y_ptr + offs(64, 64), v7.to(tl.float32))
    tl.store(y_ptr + offs(64, 64), v6.to(tl.float32), mask=offs(64, 64) < n)
    tl.store(y_ptr + offs(16, 128), v3)

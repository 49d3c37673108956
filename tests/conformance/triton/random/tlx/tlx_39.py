import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((64, 64, ), tl.int8, 1)
    b2 = tlx.local_alloc((64, 32), tlx.dtype_of(d3), 2)
    bar3 = tlx.alloc_barriers(num_barriers=3)
    tlx.barrier_expect_bytes(bar3[1], 4096)
    tlx.async_descriptor_load(d3, b2[0], [0, 0], bar3[1])
    tlx.barrier_wait(bar3[1], 0)
    v4 = tl.load(x_ptr + offs(32, 32))
    v5 = tl.load(x_ptr + offs(32, 32))
    v6 = v4.to(tl.int32)
    for i7 in tl.static_range(2):
        v8 = tl.load(x_ptr + offs(64, 32))
        d3.store([i7, 0], v8)
        pass
    v9 = v6 + 2
    b10 = tlx.local_alloc((64, 32), tl.bfloat16, 2, reuse=b2)
    tl.store(y_ptr + offs(32, 32), v6.to(tl.float32))
    tl.store(y_ptr + offs(32, 32), v5.to(tl.float32))

import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3, d4):
    b1 = tlx.local_alloc((2, 16, 32, ), tl.float32, 2)
    v2 = tl.full([16, 64], 1, tl.float32)
    b3 = tlx.local_alloc((16, 32), tlx.dtype_of(d3), 2)
    bar4 = tlx.alloc_barriers(num_barriers=2)
    tlx.barrier_expect_bytes(bar4[1], 2048)
    tlx.async_descriptor_load(d3, b3[0], [0, 0], bar4[1])
    tlx.barrier_wait(bar4[1], 0)
    v5 = v2.to(tl.float16)
    v6 = tl.where(v5 > v5, v5, v5)
    b7 = tlx.local_alloc((128, 16), tlx.dtype_of(x_ptr), 1)
    v8 = tl.load(x_ptr + offs(128, 128)).to(tl.bfloat16)
    d4.store([0, 0], v8)
    v9 = tl.load(x_ptr + offs(64, 128))
    tl.store(y_ptr + offs(16, 64), v2)
    v10 = v2 * v2
    tl.store(y_ptr + offs(16, 64), v5.to(tl.float32), mask=offs(16, 64) < n)
    tl.store(y_ptr + offs(16, 64), v6.to(tl.float32))

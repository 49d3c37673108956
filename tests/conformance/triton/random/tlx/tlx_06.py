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
    b1 = tlx.local_alloc((64, 16, ), tl.float16, 2)
    bar2 = tlx.alloc_barriers(num_barriers=2)
    tlx.barrier_expect_bytes(bar2[0], 2048)
    tlx.async_descriptor_load(d3, tlx.local_view(b1, 0), [0, 0], bar2[0])
    tlx.barrier_wait(bar2[0], 0)
    v3 = tlx.local_load(b1[1])
    b4 = tlx.local_alloc((64, 16), tl.bfloat16, 2, reuse=b1)
    tlx.local_store(b1[0], v3)
    d3.store([0, 0], v3)
    v5 = tl.load(x_ptr + offs(64, 16)).to(tl.float16)
    v6 = v3.to(tl.int32)
    tl.store(y_ptr + offs(64, 16), v3.to(tl.float32))
    tlx.local_store(b1[1], v3)
    put(b4[0], v3.to(tl.bfloat16))
    tl.store(y_ptr + offs(64, 16), v3.to(tl.float32))
    tl.store(y_ptr + offs(64, 16), v6.to(tl.float32), mask=offs(64, 16) < n)

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
def stage(buffer, x):
    tlx.local_store(buffer, x)
    return tlx.local_load(buffer)


@triton.jit
def kernel(x_ptr, y_ptr, n, d3, d4):
    b1 = tlx.local_alloc((32, 16, ), tl.int32, 1)
    b2 = tlx.local_alloc((32, 16, ), tl.int8, 3)
    v3 = tl.load(x_ptr + offs(32, 16))
    b4 = tlx.local_alloc((32, 16), tlx.dtype_of(d3), 3)
    bar5 = tlx.alloc_barriers(num_barriers=2)
    tlx.barrier_expect_bytes(bar5[1], 1024)
    tlx.async_descriptor_load(d3, b4[1], [0, 0], bar5[1])
    tlx.barrier_wait(bar5[1], 0)
    b6 = tlx.local_alloc((32, 16), tlx.dtype_of(d4), 3)
    tlx.barrier_expect_bytes(bar5[0], 1024)
    tlx.async_descriptor_load(d4, b6[2], [0, 0], bar5[0])
    tlx.barrier_wait(bar5[0], 0)
    v7 = v3 + v3
    v8 = stage(b2[1], v7.to(tl.int8))
    v9 = tlx.local_load(b1[0])
    put(b6[0], v8.to(tl.float16))
    v10 = v7.to(tl.float16)
    v11 = tlx.local_load(b6[1])
    tl.store(y_ptr + offs(32, 16), v11.to(tl.float32), mask=offs(32, 16) < n)
    tl.store(y_ptr + offs(32, 16), v10.to(tl.float32))

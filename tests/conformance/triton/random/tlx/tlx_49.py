import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((16, 64, ), tl.float16, 2)
    b2 = tlx.local_alloc((4, 16, 16, ), tl.float16, 4)
    v3 = tl.load(x_ptr + offs(16, 64)).to(tl.float16)
    v4 = tl.load(x_ptr + (tl.arange(0, 4)[:, None, None] * 256 + tl.arange(0, 16)[None, :, None] * 16 + tl.arange(0, 16)[None, None, :])).to(tl.float16)
    tlx.local_store(b2[1], v4)
    b5 = tlx.local_alloc((16, 64), tlx.dtype_of(d3), 3)
    bar6 = tlx.alloc_barriers(num_barriers=1)
    tlx.barrier_expect_bytes(bar6[0], 4096)
    tlx.async_descriptor_load(d3, b5[1], [0, 0], bar6[0])
    tlx.barrier_wait(bar6[0], 0)
    v7 = tl.load(x_ptr + offs(32, 16))
    b8 = tlx.local_alloc((128, 32), tl.float16, 1)
    b9 = tlx.local_alloc((32, 128), tl.float16, 1)
    v11 = tl.load(x_ptr + offs(128, 32)).to(tl.float16)
    tlx.local_store(b8[0], v11)
    v12 = tl.load(x_ptr + offs(32, 128)).to(tl.float16)
    tlx.local_store(b9[0], v12)
    v10 = tl.zeros((128, 128), tl.float32)
    v10 = tlx.async_dot(b8[0], b9[0], v10)
    v10 = tlx.async_dot_wait(0, v10)
    v13 = tl.load(x_ptr + offs(16, 64), mask=offs(16, 64) < n, other=0.0).to(tl.float32)
    d3.store([0, 0], v13)
    tlx.local_store(tlx.local_view(b8, 0), v11)
    b14 = tlx.local_alloc((16, 64, ), tl.float16, 3)
    if n % 2 == 0:
        v15 = v11 * v11
        tlx.local_store(b1[0], v3)
        b16 = tlx.local_alloc((32, 64, ), tl.float8e5, 4)
        v11 = v11 * 2
    else:
        v17 = v10.to(tl.float32)
        v11 = v11 * 2
    tl.store(y_ptr + offs(16, 64), v13)
    tl.store(y_ptr + offs(128, 32), v11.to(tl.float32))

import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((64, 128, ), tl.int32, 3)
    v2 = tl.load(x_ptr + offs(64, 128)).to(tl.bfloat16)
    if n % 2 == 0:
        b3 = tlx.local_alloc((16, 16), tlx.dtype_of(x_ptr), 2)
        v2 = v2 * 2
    else:
        bar4 = tlx.alloc_barriers(num_barriers=2)
        tlx.barrier_wait(bar4[0], n & 1)
        v2 = v2 * 2
    v5 = tl.load(x_ptr + offs(64, 128))
    v6 = tlx.local_load(b1[2])
    b7 = tlx.local_alloc((128, 64), tl.bfloat16, 1)
    b8 = tlx.local_alloc((64, 128), tl.bfloat16, 1)
    v10 = tl.load(x_ptr + offs(128, 64)).to(tl.bfloat16)
    tlx.local_store(b7[0], v10)
    tlx.local_store(b8[0], v6.to(tl.bfloat16))
    v9 = tl.zeros((128, 128), tl.float32)
    for i11 in range(n):
        v9 = tlx.async_dot(b7[0], b8[0], v9)
        v9 = tlx.async_dot_wait(0, v9)
    tl.store(y_ptr + offs(64, 128), v2.to(tl.float32), mask=offs(64, 128) < n)
    v12 = v2.to(tl.bfloat16)
    v13 = tlx.local_load(b1[1])
    bar14 = tlx.alloc_barriers(num_barriers=3)
    tlx.barrier_expect_bytes(bar14[1], 1024)
    tl.store(y_ptr + offs(128, 128), v9)
    tl.store(y_ptr + offs(64, 128), v12.to(tl.float32))

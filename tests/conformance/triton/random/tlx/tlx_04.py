import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3, C0: tl.constexpr):
    b1 = tlx.local_alloc((512, ), tl.float16, 2)
    with tlx.async_tasks():
        with tlx.async_task("default"):
            v2 = tl.load(x_ptr + offs(16, 32))
            v3 = tl.load(x_ptr + offs(32, 128))
            d3.store([0, 0], v3)
            tl.store(y_ptr + offs(16, 32), v2)
        with tlx.async_task(num_warps=4, replicate=2):
            v4 = tlx.local_load(tlx.local_view(b1, 1))
            v5 = v4 - v4
            b6 = tlx.local_alloc((64, 64), tlx.dtype_of(x_ptr), 1)
            v7 = tlx.local_load(b6[0])
            v8 = tlx.local_load(b6[0])
            tl.store(y_ptr + tl.arange(0, 512), v4.to(tl.float32))
    if C0 > 0:
        v9 = tlx.local_load(tlx.local_view(b1, 0))
        pass
    b10 = tlx.local_alloc((16, 32, ), tl.int32, 2)
    for i11 in range(n - 1):
        v12 = tl.load(x_ptr + offs(32, 64), mask=offs(32, 64) < n, other=0.0)
        v13 = tl.load(x_ptr + i11 * 512 + offs(16, 32))
        pass
    tl.store(y_ptr, n.to(tl.float32))

import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3, C0: tl.constexpr):
    b1 = tlx.local_alloc((512, ), tl.float16, 1)
    v2 = tl.load(x_ptr + offs(16, 128))
    v3 = tlx.local_load(b1[0])
    tlx.local_store(b1[0], v3)
    v4 = tl.load(x_ptr + offs(32, 64))
    v5 = v2 * 2
    v6 = tl.load(x_ptr + offs(16, 32)).to(tl.float32)
    d3.store([0, 0], v6)
    v7 = tl.load(x_ptr + offs(16, 32))
    if C0 > 0:
        for i9 in range(n):
            v10 = v3 + v3
            pass
        tlx.local_store(b1[0], v3)
        pass
    else:
        v11 = tl.full([16, 32], 1, tl.float32)
        v12 = tl.load(x_ptr + tl.arange(0, 512)).to(tl.float16)
        tlx.local_store(b1[0], v12)
        v13 = tlx.local_load(b1[0])
        pass
    bar14 = tlx.alloc_barriers(num_barriers=4)
    tlx.barrier_arrive(bar14[3], 1)
    v15 = tl.load(x_ptr + tl.arange(0, 512), mask=tl.arange(0, 512) < n).to(tl.float16)
    tlx.local_store(tlx.local_view(b1, 0), v15)
    tl.store(y_ptr + tl.arange(0, 512), v15.to(tl.float32))
    tl.store(y_ptr + tl.arange(0, 512), v3.to(tl.float32))

import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((32, 64, ), tl.float32, 1)
    b2 = tlx.local_alloc((32, 64, ), tl.bfloat16, 3, layout=tlx.swizzled_shared_layout_encoding.make_default(rank=2), storage=tlx.storage_kind.smem)
    b3 = tlx.local_alloc((64, 32), tl.bfloat16, 1)
    b4 = tlx.local_alloc((32, 32), tl.bfloat16, 1)
    v6 = tl.load(x_ptr + offs(32, 32)).to(tl.bfloat16)
    tlx.local_store(b4[0], v6)
    v5 = tl.zeros((64, 32), tl.float32)
    for i7 in range(n):
        v5 = tlx.async_dot(b3[0], b4[0], v5)
        v5 = tlx.async_dot_wait(0, v5)
    v8 = v6 + v6
    v9 = v8 + 2
    tl.store(y_ptr + offs(64, 32), v5)
    tl.store(y_ptr + offs(32, 32), v9.to(tl.float32))

import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3, d4):
    b1 = tlx.local_alloc((128, ), tl.int32, 4)
    for i2 in range(2):
        v3 = tl.load(x_ptr + tl.arange(0, 128)).to(tl.int32)
        tlx.local_store(b1[3], v3)
        v4 = tl.cumsum(v3, 0)
        v5 = tl.load(x_ptr + offs(64, 128)).to(tl.float32)
        d3.store([i2, 0], v5)
        pass
    v6 = tl.load(x_ptr + offs(32, 64)).to(tl.int32)
    b7 = tlx.local_alloc((64, 128, ), tl.float8e5, 3)
    b8 = tlx.local_alloc((16, 32), tlx.dtype_of(x_ptr), 2)
    v9 = d4.load([0, 0])
    v10 = tl.where(v6 > v6, v6, v6)
    b11 = tlx.local_alloc((32, 32, ), tl.float16, 2, layout=tlx.swizzled_shared_layout_encoding.make_default(rank=2))
    v12 = tl.load(x_ptr + offs(64, 128))
    tl.store(y_ptr + offs(64, 128), v9.to(tl.float32))
    tl.store(y_ptr + offs(32, 64), v6.to(tl.float32))

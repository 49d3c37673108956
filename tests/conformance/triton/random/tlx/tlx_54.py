import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((32, 64, ), tl.int32, 3, layout=tlx.swizzled_shared_layout_encoding.make_default(rank=2))
    v2 = tl.load(x_ptr + offs(64, 128))
    v3 = d3.load([0, 0])
    v4 = tl.sum(v3, 1)
    tlx.local_store(b1[2], v3.to(tl.int32))
    b5 = tlx.local_alloc((64, 32), tlx.dtype_of(x_ptr), 2)
    v6 = tl.full([128, 64], n, tl.float32)
    v7 = tl.atomic_add(y_ptr + offs(128, 64), v6)
    b8 = tlx.local_alloc((128, 64, ), tl.bfloat16, 1, storage=tlx.storage_kind.smem)
    b9 = tlx.local_alloc((128, 64, ), tl.bfloat16, 2)
    v10 = tl.load(x_ptr + offs(64, 32))
    tlx.local_store(b5[0], v10)
    tl.store(y_ptr + offs(32, 64), v3.to(tl.float32))
    tl.store(y_ptr + tl.arange(0, 32), v4.to(tl.float32), mask=tl.arange(0, 32) < n)

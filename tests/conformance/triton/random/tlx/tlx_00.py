import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((128, 32, ), tl.float32, 1, layout=tlx.swizzled_shared_layout_encoding.make_default(rank=2))
    v2 = tl.load(x_ptr + offs(128, 128))
    v3 = tl.load(x_ptr + offs(128, 32)).to(tl.float32)
    tlx.local_store(b1[0], v3)
    tlx.local_store(b1[0], v3)
    t4 = tlx.local_alloc((64, 64), tl.float32, 1, tlx.storage_kind.tmem)
    b5 = tlx.local_alloc((64, 32), tl.float16, 1)
    b6 = tlx.local_alloc((32, 64), tl.float16, 1)
    v7 = tl.load(x_ptr + offs(64, 32)).to(tl.float16)
    tlx.local_store(b5[0], v7)
    v8 = tl.load(x_ptr + offs(32, 64)).to(tl.float16)
    tlx.local_store(b6[0], v8)
    bar9 = tlx.alloc_barriers(num_barriers=4)
    tlx.async_dot(b5[0], b6[0], tlx.local_view(t4, 0), use_acc=True, mBarriers=[bar9[1]])
    tlx.barrier_wait(bar9[1], 0)
    b10 = tlx.local_alloc((128, 128, ), tl.bfloat16, 4)
    v11 = tl.load(x_ptr + offs(64, 64))
    v12 = tl.load(x_ptr + offs(64, 16), mask=offs(64, 16) < n, other=0.0)
    tlx.local_store(b10[2], v2)
    v13 = tl.load(x_ptr + offs(16, 16)).to(tl.float16)
    v14 = tl.where(v8 > v8, v8, v8)
    tl.store(y_ptr + offs(32, 64), v14.to(tl.float32))
    tl.store(y_ptr + offs(32, 64), v14.to(tl.float32))
    tl.store(y_ptr + offs(16, 16), v13.to(tl.float32))

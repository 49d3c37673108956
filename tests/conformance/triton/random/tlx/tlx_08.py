import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((16, 16, ), tl.int32, 2, layout=tlx.swizzled_shared_layout_encoding.make_default(rank=2))
    v2 = tlx.local_load(b1[1])
    t3 = tlx.local_alloc((64, 64), tl.float32, 1, tlx.storage_kind.tmem)
    b4 = tlx.local_alloc((64, 64), tl.bfloat16, 1)
    b5 = tlx.local_alloc((64, 64), tl.bfloat16, 1)
    v6 = tl.load(x_ptr + offs(64, 64))
    tlx.local_store(b5[0], v6)
    bar7 = tlx.alloc_barriers(2, arrive_count=2)
    tlx.async_dot(b4[0], b5[0], tlx.local_view(t3, 0), use_acc=False, mBarriers=[bar7[0]])
    tlx.barrier_wait(bar7[0], 0)
    tlx.local_store(tlx.local_view(b1, 1), v2)
    v8 = tl.cumsum(v2, 0)
    b9 = tlx.local_alloc((256, ), tl.float32, 4)
    v10 = tlx.local_load(t3[0])
    v11 = v8 - v2
    v12 = tl.trans(v11)
    v13 = tl.cumsum(v2, 0)
    b14 = tlx.local_alloc((128, 32), tlx.dtype_of(d3), 1)
    tlx.fence_async_shared()
    tlx.async_descriptor_store(d3, b14[0], [0, 0])
    tl.store(y_ptr + offs(16, 16), v2.to(tl.float32))
    tl.store(y_ptr + offs(16, 16), v13.to(tl.float32))

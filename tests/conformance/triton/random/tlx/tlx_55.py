import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((128, 128, ), tl.int8, 1, layout=tlx.swizzled_shared_layout_encoding.make_default(rank=2))
    b2 = tlx.local_alloc((64, 64), tlx.dtype_of(d3), 2)
    tlx.fence_async_shared()
    tlx.async_descriptor_store(d3, b2[1], [0, 0])
    tlx.async_descriptor_store_wait(0)
    s3 = tl.atomic_add(y_ptr, 1.0)
    tl.store(y_ptr + 1, s3)
    v4 = tl.load(x_ptr + offs(64, 64)).to(tl.float16)
    tlx.local_store(b2[0], v4)
    bar5 = tlx.alloc_barriers(num_barriers=2)
    tlx.barrier_wait(bar5[1], 0)
    tl.store(y_ptr + offs(64, 64), v4.to(tl.float32))

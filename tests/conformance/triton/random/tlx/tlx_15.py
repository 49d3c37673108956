import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((64, 128, ), tl.float32, 1)
    w2 = b1[0]
    b3 = tlx.local_alloc((64, 16, ), tl.float8e5, 3)
    dd4 = tl.make_tensor_descriptor(x_ptr, shape=[n, 128], strides=[128, 1], block_shape=[16, 128])
    b5 = tlx.local_alloc((16, 128), tlx.dtype_of(dd4), 2)
    tlx.fence_async_shared()
    tlx.async_descriptor_store(dd4, b5[0], [0, 0])
    tlx.async_descriptor_store_wait(0)
    b6 = tlx.local_alloc((64, 128, ), tl.float16, 2)
    v7 = tlx.local_load(b6[1])
    tl.store(y_ptr + offs(64, 128), v7.to(tl.float32))

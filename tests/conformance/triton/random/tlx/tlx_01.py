import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def stage(buffer, x):
    tlx.local_store(buffer, x)
    return tlx.local_load(buffer)


@triton.jit
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((16, 16, ), tl.int32, 2, layout=tlx.swizzled_shared_layout_encoding.make_default(rank=2))
    for i2 in range(0, n, 2):
        b3 = tlx.local_alloc((64, 64), tl.float16, 1)
        b4 = tlx.local_alloc((64, 128), tl.float16, 1)
        v6 = tl.load(x_ptr + offs(64, 64)).to(tl.float16)
        tlx.local_store(b3[0], v6)
        v7 = tl.load(x_ptr + i2 * 8192 + offs(64, 128)).to(tl.float16)
        tlx.local_store(b4[0], v7)
        v5 = tl.zeros((64, 128), tl.float32)
        v5 = tlx.async_dot(b3[0], b4[0], v5)
        v5 = tlx.async_dot_wait(0, v5)
        v8 = tl.load(x_ptr + i2 * 1024 + offs(64, 16))
        b9 = tlx.local_alloc((64, 16, ), tl.float8e5, 1)
        v10 = tl.load(x_ptr + i2 * 1024 + offs(16, 64))
        v11 = v8 - v8
        pass
    v12 = tl.load(x_ptr + offs(16, 16)).to(tl.int32)
    tlx.local_store(b1[1], v12)
    v13 = v12.to(tl.bfloat16)
    v14 = tlx.local_load(b1[1])
    b15 = tlx.local_alloc((2, 16, 32, ), tl.int32, 2)
    v16 = tl.load(x_ptr + offs(64, 16))
    tl.store(y_ptr + offs(16, 16), v12.to(tl.float32))
    w17 = tlx.local_view(b1, 1)
    b18 = tlx.local_alloc((64, 16, ), tl.float16, 2)
    b19 = tlx.local_alloc((128, 64), tl.bfloat16, 1)
    b20 = tlx.local_alloc((64, 128), tl.bfloat16, 1)
    v22 = tl.load(x_ptr + offs(128, 64), mask=offs(128, 64) < n, other=0.0).to(tl.bfloat16)
    tlx.local_store(b19[0], v22)
    v23 = tl.load(x_ptr + offs(64, 128)).to(tl.bfloat16)
    tlx.local_store(b20[0], v23)
    v21 = tl.zeros((128, 128), tl.float32)
    v21 = tlx.async_dot(b19[0], b20[0], v21)
    v24 = stage(b19[0], v22)
    v21 = tlx.async_dot_wait(0, v21)
    tl.store(y_ptr + offs(16, 16), v12.to(tl.float32))
    tl.store(y_ptr + offs(64, 16), v16)

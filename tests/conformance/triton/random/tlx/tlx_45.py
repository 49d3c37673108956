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
    b1 = tlx.local_alloc((32, 16, ), tl.float16, 4)
    b2 = tlx.local_alloc((128, 32), tl.float16, 1)
    b3 = tlx.local_alloc((32, 128), tl.float16, 1)
    v5 = tl.load(x_ptr + offs(128, 32)).to(tl.float16)
    tlx.local_store(b2[0], v5)
    v6 = tl.load(x_ptr + offs(32, 128)).to(tl.float16)
    tlx.local_store(b3[0], v6)
    v4 = tl.zeros((128, 128), tl.float32)
    v4 = tlx.async_dot(b2[0], b3[0], v4)
    v7 = tl.load(x_ptr + offs(32, 16)).to(tl.float16)
    v8 = stage(b1[0], v7)
    v4 = tlx.async_dot_wait(0, v4)
    v9 = v6.to(tl.float16)
    v10 = tl.reshape(v7, [16, 32])
    w11 = b2[0]
    b12 = tlx.local_alloc((128, ), tl.float32, 1, storage=tlx.storage_kind.smem)
    v13 = tl.where(v4 > v4, v4, v4)
    v14 = tlx.local_load(tlx.local_view(b2, 0))
    b15 = tlx.local_alloc((128, 64), tl.float16, 1)
    b16 = tlx.local_alloc((64, 128), tl.float16, 1)
    v18 = tl.load(x_ptr + offs(64, 128)).to(tl.float16)
    tlx.local_store(b16[0], v18)
    v17 = tl.zeros((128, 128), tl.float32)
    for i19 in range(n):
        v17 = tlx.async_dot(b15[0], b16[0], v17)
        v17 = tlx.async_dot_wait(0, v17)
    w20 = tlx.local_reinterpret(w11, tl.bfloat16)
    tlx.local_store(w11, v5)
    tl.store(y_ptr + offs(32, 128), v9.to(tl.float32))
    tl.store(y_ptr + offs(32, 128), v6.to(tl.float32))

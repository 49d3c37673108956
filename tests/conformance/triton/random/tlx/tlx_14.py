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
def through(x, M: tl.constexpr, N: tl.constexpr, DT: tl.constexpr):
    tile = tlx.local_alloc((M, N), DT, 1)
    tlx.local_store(tile[0], x.to(DT))
    return tlx.local_load(tile[0])


@triton.jit
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((64, 128, ), tl.float32, 2, storage=tlx.storage_kind.smem)
    w2 = tlx.local_trans(b1[1])
    v3 = tl.load(x_ptr + offs(16, 64))
    v4 = tlx.local_load(w2)
    w5 = tlx.local_trans(w2)
    b6 = tlx.local_alloc((128, 32), tl.float16, 1)
    b7 = tlx.local_alloc((32, 64), tl.float16, 1)
    v9 = tl.zeros([128, 32], tl.float16)
    tlx.local_store(b6[0], v9)
    v10 = tl.full([32, 64], 1, tl.float16)
    tlx.local_store(b7[0], v10)
    v8 = tl.zeros((128, 64), tl.float32)
    v8 = tlx.async_dot(b6[0], b7[0], v8)
    v8 = tlx.async_dot_wait(0, v8)
    v11 = through(v8, 128, 64, tl.float32)
    v12 = tl.load(x_ptr + offs(128, 64))
    tlx.local_store(w2, v12)
    v13 = tl.load(x_ptr + offs(64, 128))
    v14 = stage(b1[1], v13)
    v15 = tl.load(x_ptr + offs(64, 128)).to(tl.float16)
    v16 = tl.where(v9 > v9, v9, v9)
    tl.store(y_ptr + offs(64, 128), v13, mask=offs(64, 128) < n)
    tl.store(y_ptr + offs(128, 64), v8)

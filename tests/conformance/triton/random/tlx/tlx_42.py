import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def through(x, M: tl.constexpr, N: tl.constexpr, DT: tl.constexpr):
    tile = tlx.local_alloc((M, N), DT, 1)
    tlx.local_store(tile[0], x.to(DT))
    return tlx.local_load(tile[0])


@triton.jit
def softmax(x):
    x = tl.exp(x - tl.max(x, 1)[:, None])
    return x / tl.sum(x, 1)[:, None]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3, C0: tl.constexpr):
    b1 = tlx.local_alloc((32, 64, ), tl.float16, 1)
    v2 = tl.load(x_ptr + offs(32, 64))
    v3 = v2 * 2
    v4 = tl.trans(v3)
    b5 = tlx.local_alloc((256, ), tl.int8, 1)
    b6 = tlx.local_alloc((32, 64, ), tl.int32, 2)
    t7 = tlx.local_alloc((128, 128), tl.float32, 1, tlx.storage_kind.tmem)
    v8 = v4 - v4
    v9 = tl.sum(v8, 0)
    for i10 in range(2):
        if C0 > 0:
            v11 = softmax(v8)
            v12 = tl.load(x_ptr + i10 * 2048 + offs(32, 64))
            b13 = tlx.local_alloc((32, 64), tlx.dtype_of(x_ptr), 1)
            v8 = v8 * 2
        v14 = d3.load([i10, 0])
        v15 = tl.load(x_ptr + i10 * 256 + tl.arange(0, 256)).to(tl.int8)
        tlx.local_store(b5[i10 % 1], v15)
        v3 = v3 + v3
    v16 = through(v8, 64, 32, tl.float32)
    tl.store(y_ptr + offs(64, 32), v8)
    tl.store(y_ptr + offs(32, 64), v3)

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
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((64, 128, ), tl.float16, 1)
    v2 = tl.zeros([64, 64], tl.float32)
    spec3 = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    b4 = tlx.local_alloc((32, 64), tl.float32, 2, tlx.storage_kind.smem, reuse=spec3)
    b5 = tlx.local_alloc((32, 64), tl.float16, 4, tlx.storage_kind.smem, reuse=spec3)
    v6 = tl.sqrt(v2)
    i7 = 0
    while i7 < n:
        t8 = tlx.local_alloc((64, 128), tl.float16, 1, tlx.storage_kind.tmem)
        v9 = tl.load(x_ptr + offs(32, 64))
        tlx.local_store(b4[i7 % 2], v9)
        v10 = tl.load(x_ptr + offs(64, 128)).to(tl.float16)
        tlx.local_store(b1[0], v10)
        v11 = tlx.local_load(b4[i7 % 2])
        v12 = through(v9, 32, 64, tl.float16)
        v2 = v2 + v2
        i7 += 1
    tl.store(y_ptr + offs(64, 64), v2)
    tl.store(y_ptr + offs(64, 64), v6, mask=offs(64, 64) < n)

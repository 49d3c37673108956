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
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((64, ), tl.bfloat16, 1)
    v2 = tl.load(x_ptr + offs(128, 32))
    t3 = tlx.local_alloc((64, 32), tl.float32, 1, tlx.storage_kind.tmem)
    b4 = tlx.local_alloc((64, 32), tl.bfloat16, 1)
    b5 = tlx.local_alloc((32, 32), tl.bfloat16, 1)
    v6 = tl.load(x_ptr + offs(64, 32))
    tlx.local_store(b4[0], v6)
    v7 = tl.load(x_ptr + offs(32, 32))
    tlx.local_store(b5[0], v7)
    bar8 = tlx.alloc_barriers(num_barriers=2)
    tlx.async_dot(b4[0], b5[0], t3[0], use_acc=False, mBarriers=[bar8[0]])
    tlx.barrier_wait(bar8[0], 0)
    w9 = tlx.local_reinterpret(b5[0], tl.float16)
    v10 = v2 + v2
    for i11 in range(4):
        v12 = tl.where(v10 > v2, v10, v2)
        tlx.local_store(b5[0], v7)
        for i13 in range(0, n, 2):
            b14 = tlx.local_alloc((32, 64, ), tl.int8, 2)
            v6 = v6 + v6
        v15 = tl.load(x_ptr + offs(32, 64))
        d3.store([i11, 0], v15)
        v6 = v6 + v6
    for i16 in range(n - 1):
        v17 = through(v7, 32, 32, tl.float16)
        v18 = tl.sum(v17, 0)
        v7 = v7 + v7
    tl.store(y_ptr + offs(128, 32), v10.to(tl.float32))
    tl.store(y_ptr + offs(32, 32), v7.to(tl.float32))

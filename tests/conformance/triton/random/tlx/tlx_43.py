import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((32, 64, ), tl.int32, 2, storage=tlx.storage_kind.smem)
    v2 = tl.load(x_ptr + offs(32, 64)).to(tl.int32)
    tlx.local_store(b1[1], v2)
    v3 = tlx.local_load(b1[0])
    v4 = tl.max(v3, 1)
    v5 = tl.full([32, 64], n, tl.float32)
    for i6 in range(n - 1):
        b7 = tlx.local_alloc((32, 64, ), tl.int8, 2, storage=tlx.storage_kind.smem)
        tlx.local_store(b1[0], v5.to(tl.int32))
        if n > 4:
            v8 = tl.load(x_ptr + i6 * 2048 + offs(32, 64)).to(tl.int32)
            tlx.local_store(b1[i6 % 2], v8)
            v9 = tlx.local_load(b7[i6 % 2])
            v10 = tlx.local_load(b1[i6 % 2])
            pass
        else:
            t11 = tlx.local_alloc((128, 128), tl.float32, 1, tlx.storage_kind.tmem)
            b12 = tlx.local_alloc((128, 64), tl.float16, 1)
            b13 = tlx.local_alloc((64, 128), tl.float16, 1)
            v14 = tl.load(x_ptr + offs(128, 64)).to(tl.float16)
            tlx.local_store(b12[0], v14)
            v15 = tl.load(x_ptr + i6 * 8192 + offs(64, 128)).to(tl.float16)
            tlx.local_store(b13[0], v15)
            bar16 = tlx.alloc_barriers(num_barriers=3)
            tlx.async_dot(b12[0], b13[0], t11[(i6 + 1) % 1], use_acc=False, mBarriers=[bar16[i6 % 3]])
            tlx.barrier_wait(bar16[i6 % 3], 0)
            b17 = tlx.local_alloc((16, 16, ), tl.float16, 1)
            pass
        v5 = v5 + v5
    tlx.local_store(b1[0], v3)
    v18 = tl.load(x_ptr + offs(32, 64))
    t19 = tlx.local_alloc((64, 32), tl.float32, 1, tlx.storage_kind.tmem)
    b20 = tlx.local_alloc((64, 32), tl.bfloat16, 1)
    b21 = tlx.local_alloc((32, 32), tl.bfloat16, 1)
    v22 = tl.load(x_ptr + offs(64, 32)).to(tl.bfloat16)
    tlx.local_store(b20[0], v22)
    v23 = tl.load(x_ptr + offs(32, 32)).to(tl.bfloat16)
    tlx.local_store(b21[0], v23)
    bar24 = tlx.alloc_barriers(num_barriers=1)
    tlx.async_dot(b20[0], b21[0], t19[0], use_acc=False, mBarriers=[bar24[0]])
    tlx.barrier_wait(bar24[0], 0)
    b25 = tlx.local_alloc((2, 16, 32, ), tl.float32, 1)
    d3.store([0, 0], v2.to(tl.bfloat16))
    v26 = tl.cumsum(v2, 1)
    tl.store(y_ptr + offs(32, 64), v2.to(tl.float32))
    tl.store(y_ptr + offs(32, 32), v23.to(tl.float32))

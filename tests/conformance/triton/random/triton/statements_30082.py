import triton
import triton.language as tl


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def most(a, b):
    return tl.maximum(a, b)


@triton.jit
def kernel(x_ptr, z_ptr, y_ptr, f_ptr, u_ptr, n):
    v1 = tl.load(x_ptr + offs(64, 64)).to(tl.bfloat16)
    v2 = tl.softmax(v1.to(tl.float32))
    r3 = tl.min(v1.to(tl.float32), 0)
    tl.store(y_ptr + tl.arange(0, 64), r3)
    v4 = tl.load(z_ptr + offs(128, 16)).to(tl.bfloat16)
    v5 = tl.load(x_ptr + offs(16, 64), mask=offs(16, 64) < n, other=0.0).to(tl.bfloat16)
    v6 = tl.dot(v4, v5)
    v7 = tl.trans(v2)
    tl.store(y_ptr + offs(64, 64), v2.to(tl.float32))
    v8 = tl.cumsum(v7.to(tl.float32), 0)
    tl.store(y_ptr + offs(64, 64), v2.to(tl.float32))
    r9 = tl.max(v2.to(tl.float32), 0)
    v10 = v2.to(tl.float32) - r9[None, :]
    for i11 in range(3):
        r12 = tl.min(v2.to(tl.float32), 0)
        tl.store(y_ptr + tl.arange(0, 64), r12)
        v13 = tl.zeros((128, 32), tl.float32)
        for i14 in tl.range(0, n, 32):
            v15 = tl.load(x_ptr + offs(128, 32) + i14, mask=offs(128, 32) < n, other=0.0).to(tl.bfloat16)
            v16 = tl.load(x_ptr + offs(32, 32) + i14 * 32).to(tl.bfloat16)
            v13 = tl.dot(v15, v16, v13)
        v17 = tl.softmax(v13.to(tl.float32))
        tl.store(y_ptr + offs(128, 64), v6.to(tl.float32))
    r18 = tl.sum(v2.to(tl.float32), 0)
    tl.store(y_ptr + tl.arange(0, 64), r18)
    v19 = tl.load(x_ptr + offs(32, 64))
    r20 = tl.min(v19.to(tl.float32), 1)
    v21 = v19.to(tl.float32) - r20[:, None]
    tl.store(y_ptr + offs(64, 64), v1.to(tl.float32))
    tl.store(y_ptr + offs(32, 64), v21.to(tl.float32))

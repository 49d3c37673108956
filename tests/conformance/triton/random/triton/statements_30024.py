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
    v1 = tl.load(x_ptr + offs(32, 64), mask=offs(32, 64) < n, other=0.0).to(tl.float32)
    v2 = v1 + v1
    v3 = v2 + v2
    tl.store(y_ptr + offs(32, 64), v1.to(tl.float32))
    if n % 2 == 0:
        v4 = v1 * 2
        v5 = tl.load(x_ptr + offs(32, 32)).to(tl.float16)
        v6 = tl.dot(v5, v5)
        tl.store(y_ptr + offs(32, 64), v1.to(tl.float32))
    v7 = tl.exp(v1.to(tl.float32))
    r8 = tl.min(v3.to(tl.float32), 1)
    tl.store(y_ptr + tl.arange(0, 32), r8)
    r9 = tl.sum(v1.to(tl.float32), 0)
    v10 = v1.to(tl.float32) - r9[None, :]
    tl.store(y_ptr + offs(32, 64), v3.to(tl.float32))
    v11 = v2.to(tl.float32)
    v12 = tl.exp(v7.to(tl.float32))
    v13 = tl.load(x_ptr + offs(64, 64), mask=offs(64, 64) < n, other=0.0).to(tl.bfloat16)
    v14 = tl.load(x_ptr + offs(64, 32)).to(tl.bfloat16)
    v15 = tl.dot(v13, v14)
    v16 = tl.cumsum(v13.to(tl.float32), 1)
    if n < 100:
        v17 = tl.zeros((64, 64), tl.float32)
        for i18 in tl.range(0, n, 16, num_stages=1):
            v19 = tl.load(x_ptr + offs(64, 16) + i18).to(tl.bfloat16)
            v20 = tl.load(x_ptr + offs(16, 64) + i18 * 64).to(tl.bfloat16)
            v17 = tl.dot(v19, v20, v17)
        v21 = v14.to(tl.bfloat16)
        v22 = tl.zeros((64, 32), tl.float32)
        for i23 in tl.range(0, n, 16, num_stages=1):
            v24 = tl.load(x_ptr + offs(64, 16) + i23, mask=offs(64, 16) < n, other=0.0)
            v25 = tl.load(x_ptr + offs(16, 32) + i23 * 32)
            v22 = tl.dot(v24, v25, v22)
        tl.store(y_ptr + offs(32, 64), v10.to(tl.float32))
    tl.store(y_ptr + offs(64, 64), v16.to(tl.float32))
    tl.store(y_ptr + offs(64, 32), v14.to(tl.float32))

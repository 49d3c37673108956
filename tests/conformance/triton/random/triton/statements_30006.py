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
    v1 = tl.load(z_ptr + offs(16, 32)).to(tl.float32)
    r2 = tl.sum(v1.to(tl.float32), 1)
    v3 = v1.to(tl.float32) - r2[:, None]
    r4 = tl.min(v3.to(tl.float32), 1)
    v5 = v3.to(tl.float32) - r4[:, None]
    for i6 in range(3):
        v7 = tl.load(z_ptr + offs(16, 16), mask=offs(16, 16) < n, other=0.0)
        v8 = v1.to(tl.float32)
        v9 = tl.zeros((64, 64), tl.float32)
        for i10 in tl.range(0, n, 32):
            v11 = tl.load(x_ptr + offs(64, 32) + i10).to(tl.float16)
            v12 = tl.load(x_ptr + offs(32, 64) + i10 * 64).to(tl.float16)
            v9 = tl.dot(v11, v12, v9)
        v13 = tl.cumsum(v5.to(tl.float32), 0)
        tl.store(y_ptr + offs(16, 32), v5.to(tl.float32))
    v14 = tl.zeros((32, 32), tl.float32)
    for i15 in tl.range(0, n, 32, num_stages=4):
        v16 = tl.load(x_ptr + offs(32, 32) + i15, mask=offs(32, 32) < n, other=0.0)
        v17 = tl.load(x_ptr + offs(32, 32) + i15 * 32)
        v14 = tl.dot(v16, v17, v14)
    v18 = tl.softmax(v3.to(tl.float32))
    v19 = tl.load(z_ptr + offs(128, 128)).to(tl.float32)
    tl.store(y_ptr + offs(16, 32), v5.to(tl.float32))
    tl.store(y_ptr + offs(16, 32), v18.to(tl.float32))

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
    v1 = tl.load(z_ptr + offs(64, 64))
    v2 = v1 * 2
    v3 = tl.load(x_ptr + offs(64, 32), mask=offs(64, 32) < n, other=0.0).to(tl.int32)
    v4 = tl.load(z_ptr + offs(128, 128))
    v5 = tl.zeros((64, 64), tl.float32)
    for i6 in tl.range(0, n, 64):
        v7 = tl.load(x_ptr + offs(64, 64) + i6).to(tl.float16)
        v8 = tl.load(x_ptr + offs(64, 64) + i6 * 64).to(tl.float16)
        v5 = tl.dot(v7, v8, v5)
    v9 = v4 + v4
    tl.store(y_ptr + offs(64, 64), v2.to(tl.float32))
    v10 = tl.cumsum(v3.to(tl.float32), 1)
    v11 = tl.zeros((128, 64), tl.float32)
    for i12 in tl.range(0, n, 32):
        v13 = tl.load(x_ptr + offs(128, 32) + i12, mask=offs(128, 32) < n, other=0.0)
        v14 = tl.load(x_ptr + offs(32, 64) + i12 * 64)
        v11 = tl.dot(v13, v14, v11)
    tl.store(y_ptr + offs(64, 32), v3.to(tl.float32))
    tl.store(y_ptr + offs(64, 32), v3.to(tl.float32))

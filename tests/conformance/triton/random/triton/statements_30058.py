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
    v1 = tl.load(x_ptr + offs(32, 16), mask=offs(32, 16) < n, other=0.0)
    v2 = tl.load(z_ptr + offs(32, 32)).to(tl.bfloat16)
    v3 = tl.dot(v2, v2)
    v4 = tl.zeros((64, 128), tl.float32)
    for i5 in tl.range(0, n, 32):
        v6 = tl.load(x_ptr + offs(64, 32) + i5)
        v7 = tl.load(x_ptr + offs(32, 128) + i5 * 128)
        v4 = tl.dot(v6, v7, v4)
    r8 = tl.sum(v1.to(tl.float32), 1)
    v9 = v1.to(tl.float32) - r8[:, None]
    r10 = tl.sum(v4.to(tl.float32), 1)
    tl.store(y_ptr + tl.arange(0, 64), r10)
    v11 = tl.zeros((32, 64), tl.float32)
    for i12 in tl.range(0, n, 64):
        v13 = tl.load(x_ptr + offs(32, 64) + i12, mask=offs(32, 64) < n, other=0.0)
        v14 = tl.load(x_ptr + offs(64, 64) + i12 * 64)
        v11 = tl.dot(v13, v14, v11)
    tl.store(y_ptr + offs(32, 16), v9.to(tl.float32))
    tl.store(y_ptr + offs(32, 32), v2.to(tl.float32))

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
    v1 = tl.load(x_ptr + offs(64, 128), mask=offs(64, 128) < n, other=0.0).to(tl.float32)
    v2 = tl.zeros((64, 64), tl.float32)
    for i3 in tl.range(0, n, 16):
        v4 = tl.load(x_ptr + offs(64, 16) + i3, mask=offs(64, 16) < n, other=0.0)
        v5 = tl.load(x_ptr + offs(16, 64) + i3 * 64)
        v2 = tl.dot(v4, v5, v2)
    v6 = tl.load(x_ptr + offs(128, 128), mask=offs(128, 128) < n, other=0.0).to(tl.int32)
    v7 = v6 + v6
    r8 = tl.max(v6.to(tl.float32), 0)
    tl.store(y_ptr + tl.arange(0, 128), r8)
    v9 = tl.load(x_ptr + offs(64, 16), mask=offs(64, 16) < n, other=0.0).to(tl.float16)
    v10 = tl.load(x_ptr + offs(16, 128)).to(tl.float16)
    v11 = tl.dot(v9, v10)
    v12 = tl.cumsum(v9.to(tl.float32), 1)
    tl.store(y_ptr + offs(64, 128), v11.to(tl.float32))
    v13 = tl.load(z_ptr + offs(64, 32), mask=offs(64, 32) < n, other=0.0).to(tl.float32)
    v14 = tl.cumsum(v2.to(tl.float32), 1)
    tl.store(y_ptr + offs(64, 128), v11.to(tl.float32))
    tl.store(y_ptr + offs(64, 16), v12.to(tl.float32))

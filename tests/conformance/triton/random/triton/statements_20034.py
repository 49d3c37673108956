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
    v1 = tl.load(x_ptr + offs(128, 128)).to(tl.int32)
    v2 = tl.cumsum(v1.to(tl.float32), 0)
    v3 = tl.load(x_ptr + offs(64, 64), mask=offs(64, 64) < n, other=0.0).to(tl.bfloat16)
    v4 = tl.dot(v3, v3)
    v5 = tl.load(x_ptr + offs(64, 128))
    v6 = tl.cumsum(v2.to(tl.float32), 0)
    v7 = tl.softmax(v4.to(tl.float32))
    v8 = tl.exp(v2.to(tl.float32))
    v9 = tl.where(v3 > v7, v3, v7)
    v10 = tl.where(v2 > v2, v2, v2)
    for i11 in range(3):
        tl.store(y_ptr + offs(64, 64), v3.to(tl.float32))
        tl.store(y_ptr + offs(64, 64), v7.to(tl.float32))
    tl.store(y_ptr + offs(128, 128), v10.to(tl.float32))
    tl.store(y_ptr + offs(128, 128), v10.to(tl.float32))

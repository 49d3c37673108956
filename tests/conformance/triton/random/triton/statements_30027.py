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
    v1 = tl.load(z_ptr + offs(128, 128), mask=offs(128, 128) < n, other=0.0).to(tl.bfloat16)
    r2 = tl.sum(v1.to(tl.float32), 0)
    v3 = v1.to(tl.float32) - r2[None, :]
    v4 = tl.cumsum(v3.to(tl.float32), 0)
    v5 = tl.trans(v1)
    v6 = tl.load(x_ptr + offs(32, 32), mask=offs(32, 32) < n, other=0.0).to(tl.float16)
    v7 = tl.load(z_ptr + offs(32, 128)).to(tl.float16)
    v8 = tl.dot(v6, v7)
    v9 = v5 + v1
    v10 = tl.softmax(v6.to(tl.float32))
    v11 = tl.load(z_ptr + offs(128, 32), mask=offs(128, 32) < n, other=0.0).to(tl.float16)
    v12 = tl.load(x_ptr + offs(32, 64)).to(tl.float16)
    v13 = tl.dot(v11, v12)
    v14 = tl.load(x_ptr + offs(128, 128), mask=offs(128, 128) < n, other=0.0)
    tl.store(y_ptr + offs(32, 32), v6.to(tl.float32))
    tl.store(y_ptr + offs(128, 128), v3.to(tl.float32))

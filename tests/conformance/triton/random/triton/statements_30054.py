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
    v1 = tl.load(z_ptr + offs(64, 128), mask=offs(64, 128) < n, other=0.0).to(tl.int32)
    v2 = tl.load(x_ptr + offs(64, 64), mask=offs(64, 64) < n, other=0.0).to(tl.float16)
    v3 = tl.load(x_ptr + offs(64, 32)).to(tl.float16)
    v4 = tl.dot(v2, v3)
    v5 = v2.to(tl.bfloat16)
    v6 = tl.load(z_ptr + offs(32, 16)).to(tl.float16)
    v7 = tl.load(x_ptr + offs(16, 128)).to(tl.float16)
    v8 = tl.dot(v6, v7)
    v9 = tl.load(z_ptr + offs(32, 64)).to(tl.float16)
    v10 = tl.load(z_ptr + offs(64, 128)).to(tl.float16)
    v11 = tl.dot(v9, v10)
    tl.store(y_ptr + offs(64, 64), v5.to(tl.float32))
    tl.store(y_ptr + offs(16, 128), v7.to(tl.float32))

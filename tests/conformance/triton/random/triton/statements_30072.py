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
    v1 = tl.load(z_ptr + offs(64, 128)).to(tl.float16)
    v2 = tl.load(x_ptr + offs(128, 16)).to(tl.float16)
    v3 = tl.load(x_ptr + offs(16, 32)).to(tl.float16)
    v4 = tl.dot(v2, v3)
    v5 = tl.zeros((128, 32), tl.float32)
    for i6 in tl.range(0, n, 16, num_stages=1):
        v7 = tl.load(x_ptr + offs(128, 16) + i6)
        v8 = tl.load(x_ptr + offs(16, 32) + i6 * 32)
        v5 = tl.dot(v7, v8, v5)
    v9 = v1.to(tl.bfloat16)
    r10 = tl.min(v4.to(tl.float32), 1)
    v11 = v4.to(tl.float32) - r10[:, None]
    v12 = tl.load(x_ptr + offs(32, 16)).to(tl.float16)
    tl.store(y_ptr + offs(128, 32), v11.to(tl.float32))
    tl.store(y_ptr + offs(128, 16), v2.to(tl.float32))

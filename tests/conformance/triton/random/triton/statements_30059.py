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
    v1 = tl.load(x_ptr + offs(64, 32), mask=offs(64, 32) < n, other=0.0).to(tl.bfloat16)
    v2 = tl.load(z_ptr + offs(32, 16)).to(tl.bfloat16)
    v3 = tl.zeros((64, 32), tl.float32)
    for i4 in tl.range(0, n, 64, num_stages=1):
        v5 = tl.load(x_ptr + offs(64, 64) + i4, mask=offs(64, 64) < n, other=0.0).to(tl.float16)
        v6 = tl.load(x_ptr + offs(64, 32) + i4 * 32).to(tl.float16)
        v3 = tl.dot(v5, v6, v3)
    v7 = tl.zeros((64, 64), tl.float32)
    for i8 in tl.range(0, n, 64):
        v9 = tl.load(x_ptr + offs(64, 64) + i8).to(tl.float16)
        v10 = tl.load(x_ptr + offs(64, 64) + i8 * 64).to(tl.float16)
        v7 = tl.dot(v9, v10, v7)
    v11 = tl.softmax(v3.to(tl.float32))
    tl.store(y_ptr + offs(64, 32), v11.to(tl.float32))
    tl.store(y_ptr + offs(64, 64), v7.to(tl.float32))

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
    v1 = tl.load(z_ptr + offs(128, 64))
    v2 = tl.softmax(v1.to(tl.float32))
    tl.store(y_ptr + offs(128, 64), v2.to(tl.float32))
    v3 = tl.load(z_ptr + offs(128, 64)).to(tl.bfloat16)
    v4 = tl.load(x_ptr + offs(64, 64)).to(tl.bfloat16)
    v5 = tl.dot(v3, v4)
    v6 = tl.zeros((128, 32), tl.float32)
    for i7 in tl.range(0, n, 32):
        v8 = tl.load(x_ptr + offs(128, 32) + i7)
        v9 = tl.load(x_ptr + offs(32, 32) + i7 * 32)
        v6 = tl.dot(v8, v9, v6)
    v10 = tl.cumsum(v3.to(tl.float32), 1)
    v11 = tl.load(x_ptr + offs(128, 16)).to(tl.float16)
    v12 = tl.load(x_ptr + offs(16, 32), mask=offs(16, 32) < n, other=0.0).to(tl.float16)
    v13 = tl.dot(v11, v12)
    v14 = tl.zeros((128, 128), tl.float32)
    for i15 in tl.range(0, n, 16):
        v16 = tl.load(x_ptr + offs(128, 16) + i15, mask=offs(128, 16) < n, other=0.0)
        v17 = tl.load(x_ptr + offs(16, 128) + i15 * 128)
        v14 = tl.dot(v16, v17, v14)
    v18 = tl.load(z_ptr + offs(64, 32), mask=offs(64, 32) < n, other=0.0).to(tl.int32)
    v19 = tl.load(z_ptr + offs(32, 16)).to(tl.float16)
    tl.store(y_ptr + offs(64, 32), v18.to(tl.float32))
    tl.store(y_ptr + offs(64, 64), v4.to(tl.float32))

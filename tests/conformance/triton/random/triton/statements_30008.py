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
    v1 = tl.load(x_ptr + offs(16, 16)).to(tl.float16)
    v2 = tl.softmax(v1.to(tl.float32))
    v3 = tl.exp(v2.to(tl.float32))
    v4 = tl.zeros((64, 128), tl.float32)
    for i5 in tl.range(0, n, 64, num_stages=4):
        v6 = tl.load(x_ptr + offs(64, 64) + i5, mask=offs(64, 64) < n, other=0.0)
        v7 = tl.load(x_ptr + offs(64, 128) + i5 * 128)
        v4 = tl.dot(v6, v7, v4)
    v8 = tl.load(z_ptr + offs(128, 64)).to(tl.int32)
    v9 = tl.zeros((32, 64), tl.float32)
    for i10 in tl.range(0, n, 64, num_stages=4):
        v11 = tl.load(x_ptr + offs(32, 64) + i10, mask=offs(32, 64) < n, other=0.0).to(tl.float16)
        v12 = tl.load(x_ptr + offs(64, 64) + i10 * 64).to(tl.float16)
        v9 = tl.dot(v11, v12, v9)
    v13 = tl.cumsum(v1.to(tl.float32), 1)
    tl.store(y_ptr + offs(16, 16), v3.to(tl.float32))
    tl.store(y_ptr + offs(16, 16), v2.to(tl.float32))
    tl.store(y_ptr + offs(16, 16), v1.to(tl.float32))

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
    v2 = tl.zeros((128, 64), tl.float32)
    for i3 in tl.range(0, n, 64, num_stages=4):
        v4 = tl.load(x_ptr + offs(128, 64) + i3, mask=offs(128, 64) < n, other=0.0).to(tl.float16)
        v5 = tl.load(x_ptr + offs(64, 64) + i3 * 64).to(tl.float16)
        v2 = tl.dot(v4, v5, v2)
    v6 = v2 + v2
    v7 = tl.where(v2 > v6, v2, v6)
    v8 = v1 + v1
    v9 = tl.trans(v6)
    v10 = v6 * 2
    v11 = tl.zeros((32, 32), tl.float32)
    for i12 in tl.range(0, n, 32):
        v13 = tl.load(x_ptr + offs(32, 32) + i12).to(tl.bfloat16)
        v14 = tl.load(x_ptr + offs(32, 32) + i12 * 32).to(tl.bfloat16)
        v11 = tl.dot(v13, v14, v11)
    v15 = tl.softmax(v2.to(tl.float32))
    tl.store(y_ptr + offs(16, 16), v1.to(tl.float32))
    v16 = tl.cumsum(v15.to(tl.float32), 0)
    r17 = tl.max(v10.to(tl.float32), 0)
    v18 = v10.to(tl.float32) - r17[None, :]
    r19 = tl.max(v10.to(tl.float32), 0)
    v20 = v10.to(tl.float32) - r19[None, :]
    tl.store(y_ptr + offs(128, 64), v6.to(tl.float32))
    tl.store(y_ptr + offs(128, 64), v2.to(tl.float32))

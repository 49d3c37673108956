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
    v1 = tl.load(x_ptr + offs(16, 32)).to(tl.bfloat16)
    v2 = tl.load(z_ptr + offs(128, 32)).to(tl.bfloat16)
    v3 = tl.load(z_ptr + offs(32, 64)).to(tl.bfloat16)
    v4 = tl.dot(v2, v3)
    v5 = tl.load(x_ptr + offs(128, 16)).to(tl.float16)
    v6 = tl.load(x_ptr + offs(16, 128), mask=offs(16, 128) < n, other=0.0).to(tl.float16)
    v7 = tl.dot(v5, v6)
    v8 = tl.load(z_ptr + offs(32, 32)).to(tl.float16)
    v9 = tl.dot(v8, v8)
    r10 = tl.max(v6.to(tl.float32), 1)
    v11 = v6.to(tl.float32) - r10[:, None]
    v12 = tl.trans(v9)
    r13 = tl.max(v12.to(tl.float32), 1)
    v14 = v12.to(tl.float32) - r13[:, None]
    v15 = tl.trans(v1)
    v16 = v7.to(tl.int32)
    v17 = tl.dot(v5, v6)
    v18 = tl.softmax(v6.to(tl.float32))
    v19 = tl.trans(v18)
    v20 = v8 * 2
    v21 = tl.cumsum(v8.to(tl.float32), 1)
    v22 = tl.load(z_ptr + offs(32, 16)).to(tl.float16)
    tl.store(y_ptr + offs(32, 32), v14.to(tl.float32))
    tl.store(y_ptr + offs(128, 64), v4.to(tl.float32))

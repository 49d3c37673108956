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
    v1 = tl.load(x_ptr + offs(128, 128))
    r2 = tl.sum(v1.to(tl.float32), 0)
    v3 = v1.to(tl.float32) - r2[None, :]
    v4 = v3.to(tl.bfloat16)
    v5 = tl.load(z_ptr + offs(32, 16)).to(tl.bfloat16)
    v6 = tl.load(z_ptr + offs(16, 64), mask=offs(16, 64) < n, other=0.0).to(tl.bfloat16)
    v7 = tl.dot(v5, v6)
    tl.store(y_ptr + offs(128, 128), v1.to(tl.float32))
    v8 = v1.to(tl.bfloat16)
    v9 = tl.zeros((32, 128), tl.float32)
    for i10 in tl.range(0, n, 16, num_stages=4):
        v11 = tl.load(x_ptr + offs(32, 16) + i10, mask=offs(32, 16) < n, other=0.0)
        v12 = tl.load(x_ptr + offs(16, 128) + i10 * 128)
        v9 = tl.dot(v11, v12, v9)
    r13 = tl.sum(v9.to(tl.float32), 1)
    v14 = v9.to(tl.float32) - r13[:, None]
    v15 = tl.load(x_ptr + offs(128, 128))
    r16 = tl.sum(v9.to(tl.float32), 0)
    v17 = v9.to(tl.float32) - r16[None, :]
    v18 = tl.softmax(v4.to(tl.float32))
    tl.store(y_ptr + offs(128, 128), v18.to(tl.float32))
    r19 = tl.sum(v17.to(tl.float32), 1)
    tl.store(y_ptr + tl.arange(0, 32), r19)
    tl.store(y_ptr + offs(32, 64), v7.to(tl.float32))
    tl.store(y_ptr + offs(128, 128), v18.to(tl.float32))

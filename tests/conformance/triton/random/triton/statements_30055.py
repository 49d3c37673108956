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
    v1 = tl.load(x_ptr + offs(16, 16)).to(tl.bfloat16)
    v2 = v1.to(tl.float16)
    v3 = tl.where(v1 > v1, v1, v1)
    for i4 in range(n):
        v5 = tl.softmax(v1.to(tl.float32))
        v6 = tl.where(v3 > v1, v3, v1)
        v7 = v2 * 2
        if n < 100:
            r8 = tl.sum(v1.to(tl.float32), 0)
            v9 = v1.to(tl.float32) - r8[None, :]
            v10 = tl.load(x_ptr + offs(128, 16)).to(tl.bfloat16)
            v11 = tl.load(z_ptr + offs(16, 128)).to(tl.bfloat16)
            v12 = tl.dot(v10, v11)
            tl.store(y_ptr + offs(16, 128), v11.to(tl.float32))
        tl.store(y_ptr + offs(16, 16), v5.to(tl.float32))
    v13 = tl.zeros((128, 128), tl.float32)
    for i14 in tl.range(0, n, 16, num_stages=1):
        v15 = tl.load(x_ptr + offs(128, 16) + i14)
        v16 = tl.load(x_ptr + offs(16, 128) + i14 * 128)
        v13 = tl.dot(v15, v16, v13)
    v17 = tl.trans(v3)
    v18 = tl.exp(v17.to(tl.float32))
    v19 = tl.load(z_ptr + offs(32, 64), mask=offs(32, 64) < n, other=0.0).to(tl.float16)
    v20 = tl.load(x_ptr + offs(64, 32)).to(tl.float16)
    v21 = tl.dot(v19, v20)
    v22 = tl.softmax(v1.to(tl.float32))
    v23 = tl.zeros((128, 64), tl.float32)
    for i24 in tl.range(0, n, 32):
        v25 = tl.load(x_ptr + offs(128, 32) + i24, mask=offs(128, 32) < n, other=0.0).to(tl.float16)
        v26 = tl.load(x_ptr + offs(32, 64) + i24 * 64).to(tl.float16)
        v23 = tl.dot(v25, v26, v23)
    tl.store(y_ptr + offs(16, 16), v2.to(tl.float32))
    tl.store(y_ptr + offs(16, 16), v1.to(tl.float32))

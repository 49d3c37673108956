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
    v1 = tl.load(x_ptr + offs(32, 128)).to(tl.int32)
    v2 = tl.exp(v1.to(tl.float32))
    v3 = tl.cumsum(v1.to(tl.float32), 1)
    if n > 4:
        v4 = v2.to(tl.int32)
        v5 = tl.trans(v3)
        r6 = tl.max(v5.to(tl.float32), 1)
        v7 = v5.to(tl.float32) - r6[:, None]
        tl.store(y_ptr + offs(32, 128), v2.to(tl.float32))
    v8 = tl.zeros((64, 32), tl.float32)
    for i9 in tl.range(0, n, 32):
        v10 = tl.load(x_ptr + offs(64, 32) + i9, mask=offs(64, 32) < n, other=0.0)
        v11 = tl.load(x_ptr + offs(32, 32) + i9 * 32)
        v8 = tl.dot(v10, v11, v8)
    v12 = v3 * 2
    v13 = tl.load(x_ptr + offs(32, 16), mask=offs(32, 16) < n, other=0.0).to(tl.int32)
    v14 = tl.zeros((32, 32), tl.float32)
    for i15 in tl.range(0, n, 16, num_stages=1):
        v16 = tl.load(x_ptr + offs(32, 16) + i15).to(tl.bfloat16)
        v17 = tl.load(x_ptr + offs(16, 32) + i15 * 32).to(tl.bfloat16)
        v14 = tl.dot(v16, v17, v14)
    r18 = tl.sum(v8.to(tl.float32), 1)
    tl.store(y_ptr + tl.arange(0, 64), r18)
    v19 = tl.load(x_ptr + offs(32, 16)).to(tl.float16)
    v20 = tl.load(z_ptr + offs(16, 64), mask=offs(16, 64) < n, other=0.0).to(tl.float16)
    v21 = tl.dot(v19, v20)
    v22 = tl.load(z_ptr + offs(64, 128)).to(tl.float16)
    v23 = v1 + v3
    tl.store(y_ptr + offs(32, 32), v14.to(tl.float32))
    v24 = tl.cumsum(v21.to(tl.float32), 0)
    tl.store(y_ptr + offs(32, 32), v14.to(tl.float32))
    tl.store(y_ptr + offs(32, 128), v23.to(tl.float32))

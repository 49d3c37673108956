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
    v1 = tl.load(x_ptr + offs(16, 16), mask=offs(16, 16) < n, other=0.0).to(tl.bfloat16)
    r2 = tl.max(v1.to(tl.float32), 0)
    v3 = v1.to(tl.float32) - r2[None, :]
    v4 = tl.zeros((32, 128), tl.float32)
    for i5 in tl.range(0, n, 16):
        v6 = tl.load(x_ptr + offs(32, 16) + i5).to(tl.bfloat16)
        v7 = tl.load(x_ptr + offs(16, 128) + i5 * 128).to(tl.bfloat16)
        v4 = tl.dot(v6, v7, v4)
    if n % 2 == 0:
        v8 = tl.load(x_ptr + offs(64, 128), mask=offs(64, 128) < n, other=0.0).to(tl.bfloat16)
        v9 = tl.zeros((32, 32), tl.float32)
        for i10 in tl.range(0, n, 64):
            v11 = tl.load(x_ptr + offs(32, 64) + i10)
            v12 = tl.load(x_ptr + offs(64, 32) + i10 * 32)
            v9 = tl.dot(v11, v12, v9)
        tl.store(y_ptr + offs(64, 128), v8.to(tl.float32))
    v13 = tl.load(x_ptr + offs(32, 128), mask=offs(32, 128) < n, other=0.0).to(tl.float32)
    v14 = tl.load(x_ptr + offs(32, 32), mask=offs(32, 32) < n, other=0.0).to(tl.bfloat16)
    v15 = tl.load(x_ptr + offs(32, 64), mask=offs(32, 64) < n, other=0.0).to(tl.bfloat16)
    v16 = tl.dot(v14, v15)
    v17 = v13.to(tl.bfloat16)
    v18 = tl.zeros((128, 64), tl.float32)
    for i19 in tl.range(0, n, 16):
        v20 = tl.load(x_ptr + offs(128, 16) + i19, mask=offs(128, 16) < n, other=0.0).to(tl.float16)
        v21 = tl.load(x_ptr + offs(16, 64) + i19 * 64).to(tl.float16)
        v18 = tl.dot(v20, v21, v18)
    r22 = tl.min(v14.to(tl.float32), 0)
    v23 = v14.to(tl.float32) - r22[None, :]
    v24 = v3.to(tl.float16)
    r25 = tl.min(v3.to(tl.float32), 0)
    tl.store(y_ptr + tl.arange(0, 16), r25)
    tl.store(y_ptr + offs(32, 128), v4.to(tl.float32))
    tl.store(y_ptr + offs(32, 128), v4.to(tl.float32))

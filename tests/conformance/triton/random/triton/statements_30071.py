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
    v1 = tl.load(z_ptr + offs(128, 64), mask=offs(128, 64) < n, other=0.0).to(tl.bfloat16)
    r2 = tl.min(v1.to(tl.float32), 1)
    tl.store(y_ptr + tl.arange(0, 128), r2)
    v3 = tl.load(x_ptr + offs(128, 32)).to(tl.bfloat16)
    v4 = tl.load(x_ptr + offs(32, 128), mask=offs(32, 128) < n, other=0.0).to(tl.bfloat16)
    v5 = tl.dot(v3, v4)
    v6 = v4 * 2
    v7 = v3 * 2
    v8 = tl.load(x_ptr + offs(16, 32), mask=offs(16, 32) < n, other=0.0).to(tl.float16)
    v9 = tl.zeros((64, 32), tl.float32)
    for i10 in tl.range(0, n, 64):
        v11 = tl.load(x_ptr + offs(64, 64) + i10).to(tl.bfloat16)
        v12 = tl.load(x_ptr + offs(64, 32) + i10 * 32).to(tl.bfloat16)
        v9 = tl.dot(v11, v12, v9)
    v13 = v7.to(tl.float16)
    r14 = tl.max(v13.to(tl.float32), 1)
    tl.store(y_ptr + tl.arange(0, 128), r14)
    tl.store(y_ptr + offs(32, 128), v6.to(tl.float32))
    tl.store(y_ptr + offs(128, 32), v7.to(tl.float32))

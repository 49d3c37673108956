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
    v1 = tl.load(z_ptr + offs(128, 128)).to(tl.float32)
    v2 = tl.load(z_ptr + offs(32, 64), mask=offs(32, 64) < n, other=0.0).to(tl.float16)
    v3 = tl.load(z_ptr + offs(64, 32)).to(tl.float16)
    v4 = tl.dot(v2, v3)
    v5 = tl.zeros((128, 128), tl.float32)
    for i6 in tl.range(0, n, 64):
        v7 = tl.load(x_ptr + offs(128, 64) + i6).to(tl.bfloat16)
        v8 = tl.load(x_ptr + offs(64, 128) + i6 * 128).to(tl.bfloat16)
        v5 = tl.dot(v7, v8, v5)
    v9 = v1.to(tl.float16)
    v10 = tl.load(x_ptr + offs(32, 64), mask=offs(32, 64) < n, other=0.0).to(tl.bfloat16)
    tl.store(y_ptr + offs(128, 128), v1.to(tl.float32))
    v11 = tl.trans(v10)
    v12 = v10 + v10
    tl.store(y_ptr + offs(32, 64), v10.to(tl.float32))
    tl.store(y_ptr + offs(64, 32), v3.to(tl.float32))

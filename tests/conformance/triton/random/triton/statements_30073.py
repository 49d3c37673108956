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
    v1 = tl.load(x_ptr + offs(16, 16)).to(tl.int32)
    v2 = v1 + v1
    v3 = tl.load(z_ptr + offs(64, 64)).to(tl.bfloat16)
    v4 = tl.dot(v3, v3)
    v5 = tl.load(x_ptr + offs(128, 128)).to(tl.int32)
    tl.store(y_ptr + offs(128, 128), v5.to(tl.float32))
    tl.store(y_ptr + offs(64, 64), v3.to(tl.float32))
    v6 = v1.to(tl.bfloat16)
    v7 = tl.load(z_ptr + offs(128, 128)).to(tl.float16)
    if n > 4:
        v8 = tl.zeros((64, 64), tl.float32)
        for i9 in tl.range(0, n, 16):
            v10 = tl.load(x_ptr + offs(64, 16) + i9, mask=offs(64, 16) < n, other=0.0)
            v11 = tl.load(x_ptr + offs(16, 64) + i9 * 64)
            v8 = tl.dot(v10, v11, v8)
        tl.store(y_ptr + offs(64, 64), v8.to(tl.float32))
    tl.store(y_ptr + offs(64, 64), v3.to(tl.float32))
    tl.store(y_ptr + offs(64, 64), v3.to(tl.float32))

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
    v1 = tl.load(x_ptr + offs(32, 16)).to(tl.int32)
    v2 = tl.load(x_ptr + offs(64, 16)).to(tl.bfloat16)
    v3 = tl.load(z_ptr + offs(16, 32)).to(tl.bfloat16)
    v4 = tl.dot(v2, v3)
    r5 = tl.sum(v2.to(tl.float32), 1)
    v6 = v2.to(tl.float32) - r5[:, None]
    v7 = tl.cumsum(v3.to(tl.float32), 1)
    v8 = v2.to(tl.float16)
    v9 = v3.to(tl.float16)
    v10 = tl.zeros((32, 128), tl.float32)
    for i11 in tl.range(0, n, 64, num_stages=4):
        v12 = tl.load(x_ptr + offs(32, 64) + i11, mask=offs(32, 64) < n, other=0.0).to(tl.bfloat16)
        v13 = tl.load(x_ptr + offs(64, 128) + i11 * 128).to(tl.bfloat16)
        v10 = tl.dot(v12, v13, v10)
    tl.store(y_ptr + offs(32, 16), v1.to(tl.float32))
    tl.store(y_ptr + offs(64, 16), v8.to(tl.float32))

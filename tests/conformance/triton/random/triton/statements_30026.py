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
    v2 = tl.zeros((64, 64), tl.float32)
    for i3 in tl.range(0, n, 16):
        v4 = tl.load(x_ptr + offs(64, 16) + i3).to(tl.bfloat16)
        v5 = tl.load(x_ptr + offs(16, 64) + i3 * 64).to(tl.bfloat16)
        v2 = tl.dot(v4, v5, v2)
    tl.store(y_ptr + offs(32, 128), v1.to(tl.float32))
    v6 = tl.cumsum(v1.to(tl.float32), 1)
    r7 = tl.min(v2.to(tl.float32), 0)
    tl.store(y_ptr + tl.arange(0, 64), r7)
    v8 = tl.where(v1 > v1, v1, v1)
    v9 = v6 + v1
    r10 = tl.sum(v1.to(tl.float32), 1)
    tl.store(y_ptr + tl.arange(0, 32), r10)
    v11 = tl.zeros((64, 32), tl.float32)
    for i12 in tl.range(0, n, 64, num_stages=1):
        v13 = tl.load(x_ptr + offs(64, 64) + i12).to(tl.float16)
        v14 = tl.load(x_ptr + offs(64, 32) + i12 * 32).to(tl.float16)
        v11 = tl.dot(v13, v14, v11)
    v15 = tl.exp(v8.to(tl.float32))
    tl.store(y_ptr + offs(32, 128), v15.to(tl.float32))
    tl.store(y_ptr + offs(32, 128), v6.to(tl.float32))

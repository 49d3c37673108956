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
    v1 = tl.load(x_ptr + offs(128, 64))
    v2 = tl.load(x_ptr + offs(64, 64), mask=offs(64, 64) < n, other=0.0).to(tl.float16)
    v3 = tl.load(x_ptr + offs(64, 32)).to(tl.float16)
    v4 = tl.dot(v2, v3)
    v5 = tl.softmax(v1.to(tl.float32))
    v6 = v1 + v1
    r7 = tl.min(v5.to(tl.float32), 1)
    tl.store(y_ptr + tl.arange(0, 128), r7)
    v8 = tl.zeros((128, 64), tl.float32)
    for i9 in tl.range(0, n, 16, num_stages=4):
        v10 = tl.load(x_ptr + offs(128, 16) + i9).to(tl.float16)
        v11 = tl.load(x_ptr + offs(16, 64) + i9 * 64).to(tl.float16)
        v8 = tl.dot(v10, v11, v8)
    tl.store(y_ptr + offs(128, 64), v5.to(tl.float32))
    tl.store(y_ptr + offs(64, 32), v3.to(tl.float32))

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
    v1 = tl.load(x_ptr + offs(32, 64))
    v2 = tl.trans(v1)
    if n % 2 == 0:
        v3 = tl.load(x_ptr + offs(64, 32), mask=offs(64, 32) < n, other=0.0).to(tl.bfloat16)
        v4 = tl.load(x_ptr + offs(32, 32)).to(tl.bfloat16)
        v5 = tl.dot(v3, v4)
        v6 = v5 + v2
        tl.store(y_ptr + offs(64, 32), v6.to(tl.float32))
    v7 = tl.where(v1 > v1, v1, v1)
    v8 = tl.softmax(v7.to(tl.float32))
    v9 = tl.cumsum(v2.to(tl.float32), 1)
    v10 = tl.load(x_ptr + offs(16, 16)).to(tl.bfloat16)
    r11 = tl.sum(v8.to(tl.float32), 0)
    v12 = v8.to(tl.float32) - r11[None, :]
    v13 = tl.zeros((32, 32), tl.float32)
    for i14 in tl.range(0, n, 16, num_stages=4):
        v15 = tl.load(x_ptr + offs(32, 16) + i14, mask=offs(32, 16) < n, other=0.0)
        v16 = tl.load(x_ptr + offs(16, 32) + i14 * 32)
        v13 = tl.dot(v15, v16, v13)
    r17 = tl.min(v10.to(tl.float32), 1)
    v18 = v10.to(tl.float32) - r17[:, None]
    v19 = tl.cumsum(v9.to(tl.float32), 1)
    v20 = tl.exp(v9.to(tl.float32))
    r21 = tl.sum(v13.to(tl.float32), 0)
    tl.store(y_ptr + tl.arange(0, 32), r21)
    tl.store(y_ptr + offs(16, 16), v18.to(tl.float32))
    tl.store(y_ptr + offs(64, 32), v20.to(tl.float32))

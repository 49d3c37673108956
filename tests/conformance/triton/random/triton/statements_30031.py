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
    v1 = tl.load(z_ptr + offs(128, 64)).to(tl.float32)
    if n % 2 == 0:
        v2 = tl.load(z_ptr + offs(64, 16), mask=offs(64, 16) < n, other=0.0).to(tl.bfloat16)
        v3 = tl.load(z_ptr + offs(16, 64)).to(tl.bfloat16)
        v4 = tl.dot(v2, v3)
        v5 = tl.softmax(v2.to(tl.float32))
        tl.store(y_ptr + offs(64, 16), v5.to(tl.float32))
    else:
        v6 = tl.softmax(v1.to(tl.float32))
        v7 = tl.zeros((32, 64), tl.float32)
        for i8 in tl.range(0, n, 64):
            v9 = tl.load(x_ptr + offs(32, 64) + i8)
            v10 = tl.load(x_ptr + offs(64, 64) + i8 * 64)
            v7 = tl.dot(v9, v10, v7)
        tl.store(y_ptr + offs(128, 64), v1.to(tl.float32))
    v11 = tl.zeros((32, 128), tl.float32)
    for i12 in tl.range(0, n, 64):
        v13 = tl.load(x_ptr + offs(32, 64) + i12, mask=offs(32, 64) < n, other=0.0).to(tl.bfloat16)
        v14 = tl.load(x_ptr + offs(64, 128) + i12 * 128).to(tl.bfloat16)
        v11 = tl.dot(v13, v14, v11)
    v15 = tl.trans(v11)
    v16 = tl.trans(v1)
    tl.store(y_ptr + offs(32, 128), v11.to(tl.float32))
    tl.store(y_ptr + offs(128, 64), v1.to(tl.float32))

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
    v1 = tl.load(x_ptr + offs(64, 64))
    tl.store(y_ptr + offs(64, 64), v1.to(tl.float32))
    v2 = tl.load(x_ptr + offs(64, 64), mask=offs(64, 64) < n, other=0.0)
    v3 = tl.where(v2 > v1, v2, v1)
    if n > 4:
        v4 = tl.load(x_ptr + offs(32, 128), mask=offs(32, 128) < n, other=0.0)
        tl.store(y_ptr + offs(64, 64), v3.to(tl.float32))
    v5 = tl.zeros((32, 32), tl.float32)
    for i6 in tl.range(0, n, 64, num_stages=1):
        v7 = tl.load(x_ptr + offs(32, 64) + i6, mask=offs(32, 64) < n, other=0.0).to(tl.bfloat16)
        v8 = tl.load(x_ptr + offs(64, 32) + i6 * 32).to(tl.bfloat16)
        v5 = tl.dot(v7, v8, v5)
    v9 = tl.softmax(v1.to(tl.float32))
    if n < 100:
        v10 = tl.softmax(v2.to(tl.float32))
        for i11 in range(3):
            tl.store(y_ptr + offs(64, 64), v1.to(tl.float32))
            v12 = tl.zeros((64, 128), tl.float32)
            for i13 in tl.range(0, n, 32):
                v14 = tl.load(x_ptr + offs(64, 32) + i13).to(tl.bfloat16)
                v15 = tl.load(x_ptr + offs(32, 128) + i13 * 128).to(tl.bfloat16)
                v12 = tl.dot(v14, v15, v12)
            v16 = tl.softmax(v3.to(tl.float32))
            tl.store(y_ptr + offs(64, 64), v10.to(tl.float32))
            tl.store(y_ptr + offs(64, 64), v9.to(tl.float32))
        v17 = v5 * 2
        v18 = tl.load(x_ptr + offs(64, 64)).to(tl.float16)
        v19 = tl.load(z_ptr + offs(64, 32)).to(tl.float16)
        v20 = tl.dot(v18, v19)
        tl.store(y_ptr + offs(64, 32), v19.to(tl.float32))
    v21 = tl.zeros((32, 64), tl.float32)
    for i22 in tl.range(0, n, 32):
        v23 = tl.load(x_ptr + offs(32, 32) + i22, mask=offs(32, 32) < n, other=0.0)
        v24 = tl.load(x_ptr + offs(32, 64) + i22 * 64)
        v21 = tl.dot(v23, v24, v21)
    tl.store(y_ptr + offs(64, 64), v3.to(tl.float32))
    tl.store(y_ptr + offs(64, 64), v3.to(tl.float32))

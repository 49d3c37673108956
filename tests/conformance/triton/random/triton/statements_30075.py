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
    v2 = tl.load(z_ptr + offs(64, 64)).to(tl.bfloat16)
    v3 = tl.where(v2 > v2, v2, v2)
    v4 = v1.to(tl.bfloat16)
    v5 = v2.to(tl.bfloat16)
    v6 = tl.load(x_ptr + offs(32, 32)).to(tl.float16)
    v7 = tl.dot(v6, v6)
    v8 = tl.load(x_ptr + offs(64, 32)).to(tl.float16)
    r9 = tl.sum(v5.to(tl.float32), 1)
    v10 = v5.to(tl.float32) - r9[:, None]
    v11 = v6 * 2
    v12 = tl.zeros((32, 32), tl.float32)
    for i13 in tl.range(0, n, 64, num_stages=4):
        v14 = tl.load(x_ptr + offs(32, 64) + i13).to(tl.bfloat16)
        v15 = tl.load(x_ptr + offs(64, 32) + i13 * 32).to(tl.bfloat16)
        v12 = tl.dot(v14, v15, v12)
    r16 = tl.max(v5.to(tl.float32), 1)
    v17 = v5.to(tl.float32) - r16[:, None]
    if n % 2 == 0:
        v18 = tl.zeros((64, 128), tl.float32)
        for i19 in tl.range(0, n, 16):
            v20 = tl.load(x_ptr + offs(64, 16) + i19).to(tl.float16)
            v21 = tl.load(x_ptr + offs(16, 128) + i19 * 128).to(tl.float16)
            v18 = tl.dot(v20, v21, v18)
        r22 = tl.min(v10.to(tl.float32), 0)
        v23 = v10.to(tl.float32) - r22[None, :]
        tl.store(y_ptr + offs(64, 64), v10.to(tl.float32))
    else:
        v24 = tl.load(z_ptr + offs(16, 32)).to(tl.float32)
        tl.store(y_ptr + offs(32, 32), v7.to(tl.float32))
    v25 = tl.softmax(v4.to(tl.float32))
    v26 = tl.exp(v10.to(tl.float32))
    r27 = tl.sum(v3.to(tl.float32), 1)
    v28 = v3.to(tl.float32) - r27[:, None]
    tl.store(y_ptr + offs(64, 64), v3.to(tl.float32))
    tl.store(y_ptr + offs(32, 16), v4.to(tl.float32))

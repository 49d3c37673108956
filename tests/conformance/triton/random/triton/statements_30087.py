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
    v1 = tl.load(x_ptr + offs(32, 128)).to(tl.bfloat16)
    if n < 100:
        v2 = tl.trans(v1)
        v3 = tl.load(x_ptr + offs(128, 16)).to(tl.float16)
        v4 = tl.load(z_ptr + offs(16, 32)).to(tl.float16)
        v5 = tl.dot(v3, v4)
        r6 = tl.min(v5.to(tl.float32), 0)
        v7 = v5.to(tl.float32) - r6[None, :]
        v8 = v5.to(tl.bfloat16)
        tl.store(y_ptr + offs(128, 32), v8.to(tl.float32))
    if n < 100:
        v9 = tl.load(x_ptr + offs(16, 16)).to(tl.float32)
        v10 = tl.softmax(v9.to(tl.float32))
        v11 = tl.load(z_ptr + offs(64, 32)).to(tl.float16)
        tl.store(y_ptr + offs(64, 32), v11.to(tl.float32))
    else:
        r12 = tl.min(v1.to(tl.float32), 0)
        v13 = v1.to(tl.float32) - r12[None, :]
        v14 = v1 * 2
        tl.store(y_ptr + offs(32, 128), v14.to(tl.float32))
    v15 = tl.trans(v1)
    v16 = tl.zeros((32, 128), tl.float32)
    for i17 in tl.range(0, n, 32, num_stages=1):
        v18 = tl.load(x_ptr + offs(32, 32) + i17).to(tl.float16)
        v19 = tl.load(x_ptr + offs(32, 128) + i17 * 128).to(tl.float16)
        v16 = tl.dot(v18, v19, v16)
    r20 = tl.max(v15.to(tl.float32), 1)
    v21 = v15.to(tl.float32) - r20[:, None]
    v22 = tl.zeros((32, 128), tl.float32)
    for i23 in tl.range(0, n, 32):
        v24 = tl.load(x_ptr + offs(32, 32) + i23, mask=offs(32, 32) < n, other=0.0).to(tl.float16)
        v25 = tl.load(x_ptr + offs(32, 128) + i23 * 128).to(tl.float16)
        v22 = tl.dot(v24, v25, v22)
    tl.store(y_ptr + offs(32, 128), v22.to(tl.float32))
    tl.store(y_ptr + offs(128, 32), v15.to(tl.float32))

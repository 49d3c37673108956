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
    v1 = tl.load(x_ptr + offs(64, 64)).to(tl.int32)
    v2 = tl.where(v1 > v1, v1, v1)
    tl.store(y_ptr + offs(64, 64), v1.to(tl.float32))
    v3 = tl.exp(v2.to(tl.float32))
    v4 = tl.cumsum(v2.to(tl.float32), 0)
    r5 = tl.max(v1.to(tl.float32), 0)
    tl.store(y_ptr + tl.arange(0, 64), r5)
    for i6 in range(3):
        for i7 in range(3):
            v8 = tl.softmax(v1.to(tl.float32))
            v9 = tl.cumsum(v3.to(tl.float32), 0)
            v10 = v1 + v1
            v11 = tl.load(z_ptr + offs(64, 128))
            tl.store(y_ptr + offs(64, 64), v1.to(tl.float32))
        r12 = tl.min(v3.to(tl.float32), 0)
        v13 = v3.to(tl.float32) - r12[None, :]
        v14 = tl.where(v4 > v13, v4, v13)
        if n < 100:
            v15 = tl.load(x_ptr + offs(32, 64)).to(tl.bfloat16)
            v16 = tl.zeros((128, 32), tl.float32)
            for i17 in tl.range(0, n, 16, num_stages=1):
                v18 = tl.load(x_ptr + offs(128, 16) + i17).to(tl.float16)
                v19 = tl.load(x_ptr + offs(16, 32) + i17 * 32).to(tl.float16)
                v16 = tl.dot(v18, v19, v16)
            r20 = tl.sum(v4.to(tl.float32), 1)
            v21 = v4.to(tl.float32) - r20[:, None]
            r22 = tl.max(v13.to(tl.float32), 1)
            v23 = v13.to(tl.float32) - r22[:, None]
            tl.store(y_ptr + offs(32, 64), v15.to(tl.float32))
        tl.store(y_ptr + offs(64, 64), v1.to(tl.float32))
    v24 = tl.cumsum(v1.to(tl.float32), 0)
    v25 = tl.zeros((128, 128), tl.float32)
    for i26 in tl.range(0, n, 32):
        v27 = tl.load(x_ptr + offs(128, 32) + i26).to(tl.float16)
        v28 = tl.load(x_ptr + offs(32, 128) + i26 * 128).to(tl.float16)
        v25 = tl.dot(v27, v28, v25)
    r29 = tl.min(v4.to(tl.float32), 1)
    v30 = v4.to(tl.float32) - r29[:, None]
    v31 = tl.load(x_ptr + offs(64, 64), mask=offs(64, 64) < n, other=0.0).to(tl.int32)
    v32 = tl.zeros((32, 32), tl.float32)
    for i33 in tl.range(0, n, 16):
        v34 = tl.load(x_ptr + offs(32, 16) + i33).to(tl.float16)
        v35 = tl.load(x_ptr + offs(16, 32) + i33 * 32).to(tl.float16)
        v32 = tl.dot(v34, v35, v32)
    tl.store(y_ptr + offs(128, 128), v25.to(tl.float32))
    tl.store(y_ptr + offs(64, 64), v1.to(tl.float32))

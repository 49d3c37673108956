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
    v1 = tl.load(x_ptr + offs(32, 64), mask=offs(32, 64) < n, other=0.0).to(tl.float32)
    v2 = tl.load(x_ptr + offs(16, 32), mask=offs(16, 32) < n, other=0.0).to(tl.float32)
    v3 = tl.trans(v1)
    v4 = tl.zeros((64, 32), tl.float32)
    for i5 in tl.range(0, n, 32, num_stages=1):
        v6 = tl.load(x_ptr + offs(64, 32) + i5, mask=offs(64, 32) < n, other=0.0)
        v7 = tl.load(x_ptr + offs(32, 32) + i5 * 32)
        v4 = tl.dot(v6, v7, v4)
    v8 = tl.softmax(v1.to(tl.float32))
    v9 = tl.trans(v4)
    r10 = tl.max(v2.to(tl.float32), 1)
    tl.store(y_ptr + tl.arange(0, 16), r10)
    v11 = tl.load(x_ptr + offs(32, 128)).to(tl.float16)
    v12 = tl.softmax(v8.to(tl.float32))
    v13 = tl.cumsum(v4.to(tl.float32), 0)
    v14 = tl.load(z_ptr + offs(128, 128)).to(tl.bfloat16)
    v15 = tl.zeros((128, 128), tl.float32)
    for i16 in tl.range(0, n, 32):
        v17 = tl.load(x_ptr + offs(128, 32) + i16, mask=offs(128, 32) < n, other=0.0).to(tl.bfloat16)
        v18 = tl.load(x_ptr + offs(32, 128) + i16 * 128).to(tl.bfloat16)
        v15 = tl.dot(v17, v18, v15)
    v19 = tl.where(v15 > v15, v15, v15)
    if n % 2 == 0:
        v20 = tl.zeros((64, 64), tl.float32)
        for i21 in tl.range(0, n, 16):
            v22 = tl.load(x_ptr + offs(64, 16) + i21, mask=offs(64, 16) < n, other=0.0)
            v23 = tl.load(x_ptr + offs(16, 64) + i21 * 64)
            v20 = tl.dot(v22, v23, v20)
        v24 = tl.load(z_ptr + offs(64, 32)).to(tl.float32)
        r25 = tl.sum(v13.to(tl.float32), 0)
        v26 = v13.to(tl.float32) - r25[None, :]
        v27 = tl.trans(v24)
        tl.store(y_ptr + offs(32, 128), v11.to(tl.float32))
    else:
        v28 = tl.load(x_ptr + offs(128, 64)).to(tl.float16)
        v29 = v28.to(tl.bfloat16)
        tl.store(y_ptr + offs(64, 32), v13.to(tl.float32))
    v30 = tl.trans(v1)
    tl.store(y_ptr + offs(64, 32), v3.to(tl.float32))
    tl.store(y_ptr + offs(64, 32), v4.to(tl.float32))

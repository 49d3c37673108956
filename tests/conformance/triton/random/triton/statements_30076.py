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
    v1 = tl.load(x_ptr + offs(16, 32)).to(tl.float16)
    v2 = v1 + v1
    v3 = tl.trans(v2)
    v4 = tl.load(z_ptr + offs(128, 64), mask=offs(128, 64) < n, other=0.0).to(tl.float16)
    v5 = tl.load(x_ptr + offs(64, 128)).to(tl.float16)
    v6 = tl.dot(v4, v5)
    v7 = v2 + v1
    v8 = tl.load(x_ptr + offs(128, 128)).to(tl.float16)
    v9 = tl.cumsum(v4.to(tl.float32), 0)
    v10 = v8 * 2
    v11 = tl.exp(v3.to(tl.float32))
    v12 = tl.trans(v10)
    v13 = tl.softmax(v9.to(tl.float32))
    v14 = tl.cumsum(v7.to(tl.float32), 0)
    if n < 100:
        for i15 in range(n):
            v16 = v2 * 2
            v17 = tl.zeros((64, 64), tl.float32)
            for i18 in tl.range(0, n, 16, num_stages=1):
                v19 = tl.load(x_ptr + offs(64, 16) + i18, mask=offs(64, 16) < n, other=0.0).to(tl.float16)
                v20 = tl.load(x_ptr + offs(16, 64) + i18 * 64).to(tl.float16)
                v17 = tl.dot(v19, v20, v17)
            tl.store(y_ptr + offs(32, 16), v11.to(tl.float32))
        r21 = tl.sum(v6.to(tl.float32), 0)
        v22 = v6.to(tl.float32) - r21[None, :]
        r23 = tl.min(v4.to(tl.float32), 0)
        tl.store(y_ptr + tl.arange(0, 64), r23)
        r24 = tl.max(v6.to(tl.float32), 0)
        tl.store(y_ptr + tl.arange(0, 128), r24)
        tl.store(y_ptr + offs(128, 128), v22.to(tl.float32))
    else:
        r25 = tl.min(v4.to(tl.float32), 0)
        tl.store(y_ptr + tl.arange(0, 64), r25)
        tl.store(y_ptr + offs(64, 128), v5.to(tl.float32))
    tl.store(y_ptr + offs(128, 64), v4.to(tl.float32))
    tl.store(y_ptr + offs(16, 32), v14.to(tl.float32))

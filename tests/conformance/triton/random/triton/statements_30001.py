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
    v1 = tl.load(x_ptr + offs(128, 64)).to(tl.int32)
    v2 = tl.cumsum(v1.to(tl.float32), 1)
    r3 = tl.min(v1.to(tl.float32), 1)
    v4 = v1.to(tl.float32) - r3[:, None]
    v5 = tl.exp(v4.to(tl.float32))
    v6 = tl.zeros((128, 128), tl.float32)
    for i7 in tl.range(0, n, 64):
        v8 = tl.load(x_ptr + offs(128, 64) + i7).to(tl.bfloat16)
        v9 = tl.load(x_ptr + offs(64, 128) + i7 * 128).to(tl.bfloat16)
        v6 = tl.dot(v8, v9, v6)
    if n > 4:
        r10 = tl.sum(v4.to(tl.float32), 0)
        v11 = v4.to(tl.float32) - r10[None, :]
        r12 = tl.max(v2.to(tl.float32), 1)
        tl.store(y_ptr + tl.arange(0, 128), r12)
        tl.store(y_ptr + offs(128, 64), v11.to(tl.float32))
    else:
        r13 = tl.max(v1.to(tl.float32), 0)
        v14 = v1.to(tl.float32) - r13[None, :]
        if n > 4:
            v15 = tl.softmax(v14.to(tl.float32))
            tl.store(y_ptr + offs(128, 128), v6.to(tl.float32))
        else:
            v16 = tl.zeros((128, 64), tl.float32)
            for i17 in tl.range(0, n, 64):
                v18 = tl.load(x_ptr + offs(128, 64) + i17)
                v19 = tl.load(x_ptr + offs(64, 64) + i17 * 64)
                v16 = tl.dot(v18, v19, v16)
            v20 = tl.softmax(v16.to(tl.float32))
            tl.store(y_ptr + offs(128, 64), v2.to(tl.float32))
        tl.store(y_ptr + offs(128, 128), v6.to(tl.float32))
    r21 = tl.min(v4.to(tl.float32), 0)
    v22 = v4.to(tl.float32) - r21[None, :]
    tl.store(y_ptr + offs(128, 128), v6.to(tl.float32))
    tl.store(y_ptr + offs(128, 64), v5.to(tl.float32))

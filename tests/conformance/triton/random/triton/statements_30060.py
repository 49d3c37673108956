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
    v1 = tl.load(x_ptr + offs(64, 64)).to(tl.float32)
    v2 = tl.zeros((64, 64), tl.float32)
    for i3 in tl.range(0, n, 16, num_stages=1):
        v4 = tl.load(x_ptr + offs(64, 16) + i3, mask=offs(64, 16) < n, other=0.0)
        v5 = tl.load(x_ptr + offs(16, 64) + i3 * 64)
        v2 = tl.dot(v4, v5, v2)
    if n < 100:
        v6 = tl.softmax(v1.to(tl.float32))
        r7 = tl.sum(v1.to(tl.float32), 0)
        tl.store(y_ptr + tl.arange(0, 64), r7)
        if n % 2 == 0:
            r8 = tl.min(v1.to(tl.float32), 0)
            v9 = v1.to(tl.float32) - r8[None, :]
            r10 = tl.sum(v1.to(tl.float32), 0)
            v11 = v1.to(tl.float32) - r10[None, :]
            v12 = v2 * 2
            tl.store(y_ptr + offs(64, 64), v12.to(tl.float32))
        tl.store(y_ptr + offs(64, 64), v1.to(tl.float32))
    else:
        r13 = tl.sum(v2.to(tl.float32), 0)
        v14 = v2.to(tl.float32) - r13[None, :]
        v15 = tl.load(x_ptr + offs(16, 16)).to(tl.bfloat16)
        tl.store(y_ptr + offs(64, 64), v2.to(tl.float32))
    v16 = tl.exp(v1.to(tl.float32))
    tl.store(y_ptr + offs(64, 64), v1.to(tl.float32))
    v17 = tl.load(x_ptr + offs(32, 16), mask=offs(32, 16) < n, other=0.0).to(tl.float32)
    v18 = tl.load(x_ptr + offs(64, 32)).to(tl.bfloat16)
    v19 = tl.cumsum(v1.to(tl.float32), 0)
    v20 = tl.cumsum(v2.to(tl.float32), 0)
    v21 = tl.cumsum(v19.to(tl.float32), 0)
    v22 = tl.zeros((128, 64), tl.float32)
    for i23 in tl.range(0, n, 64):
        v24 = tl.load(x_ptr + offs(128, 64) + i23, mask=offs(128, 64) < n, other=0.0)
        v25 = tl.load(x_ptr + offs(64, 64) + i23 * 64)
        v22 = tl.dot(v24, v25, v22)
    tl.store(y_ptr + offs(32, 16), v17.to(tl.float32))
    tl.store(y_ptr + offs(64, 64), v16.to(tl.float32))

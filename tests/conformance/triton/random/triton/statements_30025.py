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
    v1 = tl.load(z_ptr + offs(128, 64)).to(tl.bfloat16)
    if n > 4:
        v2 = v1.to(tl.bfloat16)
        v3 = v2.to(tl.float16)
        tl.store(y_ptr + offs(128, 64), v2.to(tl.float32))
    else:
        tl.store(y_ptr + offs(128, 64), v1.to(tl.float32))
        v4 = tl.softmax(v1.to(tl.float32))
        tl.store(y_ptr + offs(128, 64), v4.to(tl.float32))
    v5 = tl.softmax(v1.to(tl.float32))
    r6 = tl.sum(v5.to(tl.float32), 1)
    v7 = v5.to(tl.float32) - r6[:, None]
    v8 = tl.trans(v1)
    tl.store(y_ptr + offs(128, 64), v7.to(tl.float32))
    v9 = tl.load(z_ptr + offs(32, 64)).to(tl.bfloat16)
    v10 = tl.load(x_ptr + offs(64, 64)).to(tl.bfloat16)
    v11 = tl.dot(v9, v10)
    v12 = tl.softmax(v1.to(tl.float32))
    v13 = tl.dot(v1, v10)
    v14 = tl.load(z_ptr + offs(64, 128))
    r15 = tl.min(v9.to(tl.float32), 1)
    v16 = v9.to(tl.float32) - r15[:, None]
    v17 = tl.cumsum(v9.to(tl.float32), 1)
    v18 = tl.load(x_ptr + offs(32, 128), mask=offs(32, 128) < n, other=0.0).to(tl.float16)
    v19 = tl.zeros((64, 128), tl.float32)
    for i20 in tl.range(0, n, 64, num_stages=4):
        v21 = tl.load(x_ptr + offs(64, 64) + i20, mask=offs(64, 64) < n, other=0.0).to(tl.bfloat16)
        v22 = tl.load(x_ptr + offs(64, 128) + i20 * 128).to(tl.bfloat16)
        v19 = tl.dot(v21, v22, v19)
    v23 = tl.load(z_ptr + offs(64, 32), mask=offs(64, 32) < n, other=0.0).to(tl.float16)
    tl.store(y_ptr + offs(64, 128), v19.to(tl.float32))
    tl.store(y_ptr + offs(32, 128), v18.to(tl.float32))

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
    if n > 4:
        tl.store(y_ptr + offs(128, 64), v1.to(tl.float32))
        v2 = v1.to(tl.float16)
        v3 = v1.to(tl.float32)
        tl.store(y_ptr + offs(128, 64), v3.to(tl.float32))
    tl.store(y_ptr + offs(128, 64), v1.to(tl.float32))
    v4 = tl.load(x_ptr + offs(128, 64)).to(tl.int32)
    v5 = tl.trans(v4)
    v6 = tl.load(x_ptr + offs(32, 64)).to(tl.float16)
    v7 = tl.load(z_ptr + offs(64, 128), mask=offs(64, 128) < n, other=0.0).to(tl.float16)
    v8 = tl.dot(v6, v7)
    if n > 4:
        v9 = tl.trans(v1)
        v10 = tl.trans(v1)
        v11 = tl.trans(v4)
        v12 = tl.exp(v7.to(tl.float32))
        tl.store(y_ptr + offs(64, 128), v11.to(tl.float32))
    v13 = tl.softmax(v5.to(tl.float32))
    tl.store(y_ptr + offs(128, 64), v1.to(tl.float32))
    v14 = tl.load(z_ptr + offs(128, 128), mask=offs(128, 128) < n, other=0.0).to(tl.float16)
    v15 = tl.zeros((128, 64), tl.float32)
    for i16 in tl.range(0, n, 64, num_stages=1):
        v17 = tl.load(x_ptr + offs(128, 64) + i16, mask=offs(128, 64) < n, other=0.0).to(tl.bfloat16)
        v18 = tl.load(x_ptr + offs(64, 64) + i16 * 64).to(tl.bfloat16)
        v15 = tl.dot(v17, v18, v15)
    tl.store(y_ptr + offs(128, 64), v4.to(tl.float32))
    v19 = tl.load(z_ptr + offs(32, 128)).to(tl.float16)
    v20 = v13.to(tl.float16)
    tl.store(y_ptr + offs(64, 128), v7.to(tl.float32))
    tl.store(y_ptr + offs(64, 128), v5.to(tl.float32))

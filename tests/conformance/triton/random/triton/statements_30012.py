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
    v1 = tl.load(z_ptr + offs(32, 128)).to(tl.float32)
    v2 = tl.cumsum(v1.to(tl.float32), 0)
    tl.store(y_ptr + offs(32, 128), v1.to(tl.float32))
    r3 = tl.sum(v1.to(tl.float32), 1)
    v4 = v1.to(tl.float32) - r3[:, None]
    tl.store(y_ptr + offs(32, 128), v2.to(tl.float32))
    for i5 in range(3):
        v6 = tl.exp(v2.to(tl.float32))
        tl.store(y_ptr + offs(32, 128), v2.to(tl.float32))
    v7 = v1.to(tl.float16)
    v8 = tl.load(x_ptr + offs(32, 64), mask=offs(32, 64) < n, other=0.0).to(tl.bfloat16)
    v9 = tl.load(z_ptr + offs(64, 64)).to(tl.bfloat16)
    v10 = tl.dot(v8, v9)
    v11 = tl.load(x_ptr + offs(64, 32)).to(tl.bfloat16)
    v12 = tl.load(x_ptr + offs(32, 128)).to(tl.bfloat16)
    v13 = tl.dot(v11, v12)
    v14 = tl.load(x_ptr + offs(32, 16)).to(tl.int32)
    r15 = tl.sum(v11.to(tl.float32), 0)
    tl.store(y_ptr + tl.arange(0, 32), r15)
    v16 = tl.trans(v14)
    v17 = tl.load(x_ptr + offs(128, 64))
    tl.store(y_ptr + offs(64, 128), v13.to(tl.float32))
    tl.store(y_ptr + offs(32, 16), v14.to(tl.float32))
    tl.store(y_ptr + offs(32, 128), v7.to(tl.float32))

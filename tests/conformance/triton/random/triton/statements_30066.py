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
    v1 = tl.load(x_ptr + offs(32, 64)).to(tl.float16)
    v2 = tl.zeros((64, 64), tl.float32)
    for i3 in tl.range(0, n, 16):
        v4 = tl.load(x_ptr + offs(64, 16) + i3)
        v5 = tl.load(x_ptr + offs(16, 64) + i3 * 64)
        v2 = tl.dot(v4, v5, v2)
    v6 = v1.to(tl.int32)
    v7 = tl.trans(v6)
    v8 = tl.load(x_ptr + offs(64, 32)).to(tl.float16)
    v9 = v2.to(tl.float32)
    v10 = tl.softmax(v2.to(tl.float32))
    r11 = tl.sum(v8.to(tl.float32), 0)
    v12 = v8.to(tl.float32) - r11[None, :]
    tl.store(y_ptr + offs(32, 64), v1.to(tl.float32))
    v13 = v1 + v6
    tl.store(y_ptr + offs(64, 32), v7.to(tl.float32))
    v14 = tl.load(x_ptr + offs(64, 64), mask=offs(64, 64) < n, other=0.0).to(tl.float16)
    v15 = tl.load(z_ptr + offs(128, 32), mask=offs(128, 32) < n, other=0.0).to(tl.bfloat16)
    v16 = tl.load(z_ptr + offs(32, 32), mask=offs(32, 32) < n, other=0.0).to(tl.bfloat16)
    v17 = tl.dot(v15, v16)
    v18 = tl.cumsum(v8.to(tl.float32), 1)
    tl.store(y_ptr + offs(64, 64), v14.to(tl.float32))
    tl.store(y_ptr + offs(64, 64), v2.to(tl.float32))

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
    v1 = tl.load(x_ptr + offs(16, 32), mask=offs(16, 32) < n, other=0.0).to(tl.int32)
    v2 = tl.cumsum(v1.to(tl.float32), 1)
    v3 = tl.load(x_ptr + offs(32, 64))
    r4 = tl.sum(v2.to(tl.float32), 1)
    tl.store(y_ptr + tl.arange(0, 16), r4)
    v5 = tl.load(x_ptr + offs(64, 64)).to(tl.float16)
    v6 = tl.dot(v5, v5)
    v7 = tl.zeros((128, 128), tl.float32)
    for i8 in tl.range(0, n, 64, num_stages=4):
        v9 = tl.load(x_ptr + offs(128, 64) + i8)
        v10 = tl.load(x_ptr + offs(64, 128) + i8 * 128)
        v7 = tl.dot(v9, v10, v7)
    r11 = tl.sum(v3.to(tl.float32), 0)
    tl.store(y_ptr + tl.arange(0, 64), r11)
    v12 = tl.softmax(v2.to(tl.float32))
    tl.store(y_ptr + offs(128, 128), v7.to(tl.float32))
    v13 = tl.trans(v12)
    r14 = tl.min(v6.to(tl.float32), 1)
    tl.store(y_ptr + tl.arange(0, 64), r14)
    tl.store(y_ptr + offs(128, 128), v7.to(tl.float32))
    tl.store(y_ptr + offs(16, 32), v1.to(tl.float32))

import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, K, BK: tl.constexpr):
    m = tl.arange(0, 16)
    acc = tl.zeros((16, 16), tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        x = a.load([0, i * BK])
        y = b.load([0, i * BK]).T
        acc += tl.dot(x, y, allow_tf32=False)
    tl.store(c + m[:, None] * 16 + m[None, :], acc)

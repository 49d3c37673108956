import triton
import triton.language as tl


@triton.jit
def kernel(a, c, K):
    m = tl.arange(0, 64)
    acc = tl.zeros((64, 64), tl.float32)
    for i in range(0, K, 64):
        x = tl.load(a + m[:, None] * K + (m + i)[None, :])
        acc = tl.dot(x, tl.trans(x), acc)
    tl.store(c + m[:, None] * 64 + m[None, :], acc)

import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        acc = tl.dot(tl.load(a + m[:, None] * K + (k + i)[None, :]), tl.load(b + (k + i)[:, None] * BN + n[None, :]), acc)
    tl.store(c + m[:, None] * BN + n[None, :], acc)

import triton
import triton.language as tl


@triton.jit
def kernel(x, g, u, o, K, BM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr):
    rows = tl.arange(0, BM)
    ks = tl.arange(0, BK)
    cols = tl.arange(0, BN)
    one = tl.zeros((BM, BN), tl.float32)
    two = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        t = tl.load(x + rows[:, None] * K + (k + ks)[None, :])
        a = tl.load(g + (k + ks)[:, None] * BN + cols[None, :])
        b = tl.load(u + (k + ks)[:, None] * BN + cols[None, :])
        one = tl.dot(t, a, one)
        two = tl.dot(t, b, two)
    tl.store(o + rows[:, None] * BN + cols[None, :], (one * two).to(tl.bfloat16))

import triton
import triton.language as tl


@triton.jit
def kernel(x, g, u, o, N, BM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr):
    rows = tl.arange(0, BM)
    ks = tl.arange(0, BK)
    cols = tl.arange(0, BN)
    s1 = tl.zeros((BM, BN), tl.float32)
    s2 = tl.zeros((BM, BN), tl.float32)
    for n in range(0, N, BK):
        t = tl.load(x + rows[:, None] * N + (n + ks)[None, :])
        a = tl.load(g + (n + ks)[:, None] * BN + cols[None, :])
        b = tl.load(u + (n + ks)[:, None] * BN + cols[None, :])
        s1 = tl.dot(t, a, s1)
        s2 = tl.dot(t, b, s2)
    tl.store(o + rows[:, None] * N + cols[None, :], (s1 * s2).to(tl.bfloat16))

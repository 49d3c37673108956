import triton
import triton.language as tl


@triton.jit
def kernel(x, g, u, o, N, BM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr):
    rows = tl.arange(0, BM)
    ks = tl.arange(0, BK)
    cols = tl.arange(0, BN)
    for n in range(0, N, BN):
        t = tl.load(x + rows[:, None] * BK + ks[None, :])
        a = tl.load(g + ks[:, None] * N + (n + cols)[None, :])
        b = tl.load(u + ks[:, None] * N + (n + cols)[None, :])
        c = (t * 2.0).to(tl.bfloat16)
        r = tl.dot(c, a) * tl.dot(c, b)
        tl.store(o + rows[:, None] * N + (n + cols)[None, :], r.to(tl.bfloat16))

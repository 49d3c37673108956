import triton
import triton.language as tl


@triton.jit
def kernel(x, g, u, o, N, BM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr):
    rows = tl.arange(0, BM)
    ks = tl.arange(0, BK)
    cols = tl.arange(0, BN)
    t = tl.load(g + ks[:, None] * BN + cols[None, :])
    for n in range(0, N, BM):
        a = tl.load(x + (n + rows)[:, None] * BK + ks[None, :])
        b = tl.load(u + (n + rows)[:, None] * BK + ks[None, :])
        r = tl.dot(a, t) * tl.dot(b, t)
        tl.store(o + (n + rows)[:, None] * BN + cols[None, :], r.to(tl.bfloat16))

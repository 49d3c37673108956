import triton
import triton.language as tl


@triton.jit
def kernel(x, gate, up, out, N, BM: tl.constexpr, BK: tl.constexpr, BN: tl.constexpr):
    rows = tl.arange(0, BM)
    ks = tl.arange(0, BK)
    cols = tl.arange(0, BN)
    for n in range(0, N, BN):
        tile = tl.load(x + rows[:, None] * BK + ks[None, :])
        one = tl.load(gate + ks[:, None] * N + (n + cols)[None, :])
        two = tl.load(up + ks[:, None] * N + (n + cols)[None, :])
        both = tl.dot(tile, one) * tl.dot(tile, two)
        tl.store(out + rows[:, None] * N + (n + cols)[None, :], both.to(tl.bfloat16))

import triton
import triton.language as tl


@triton.jit
def kernel(x, g, u, o, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros([BM, BN], tl.float32)
    up = tl.zeros([BM, BN], tl.float32)
    for kk in range(0, K, BK):
        t = tl.load(x + m[:, None] * K + k[None, :] + kk)
        gv = tl.load(g + n[None, :] * K + k[:, None] + kk)
        uv = tl.load(u + n[None, :] * K + k[:, None] + kk)
        acc += tl.dot(t, gv)
        up += tl.dot(t, uv)
    tl.store(o + m[:, None] * BN + n[None, :], acc * up)

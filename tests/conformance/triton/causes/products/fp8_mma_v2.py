import triton
import triton.language as tl


@triton.jit
def kernel(q, kk, o, L, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.arange(0, BM)
    d = tl.arange(0, D)
    n = tl.arange(0, BN)
    qv = tl.load(q + m[:, None] * D + d[None, :])
    acc = tl.zeros([BM, BN], tl.float32)
    for i in range(0, L, BN):
        acc += tl.dot(qv, tl.load(kk + (i + n)[None, :] * D + d[:, None]))
    tl.store(o + m[:, None] * BN + n[None, :], acc)

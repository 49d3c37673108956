import triton
import triton.language as tl


@triton.jit
def kernel(q, kk, o, L, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.arange(0, BM)
    d = tl.arange(0, D)
    qv = tl.load(q + m[:, None] * D + d[None, :])
    acc = tl.zeros([BM, D], tl.float32)
    for i in range(0, L, BN):
        n = i + tl.arange(0, BN)
        kt = tl.load(kk + n[None, :] * D + d[:, None])
        s = tl.dot(qv, kt)
        acc += tl.dot(s.to(kt.dtype), tl.trans(kt))
    tl.store(o + m[:, None] * D + d[None, :], acc)

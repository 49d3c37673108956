import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, U: tl.constexpr):
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    k = tl.arange(0, BK)
    ap = a + m[:, None] * K + k[None, :]
    bp = b + n[None, :] * K + k[:, None]
    acc = tl.zeros((BM, BN), tl.float32)
    for i in tl.range(0, tl.cdiv(K, BK), loop_unroll_factor=U):
        acc = tl.dot(tl.load(ap), tl.load(bp), acc)
        ap += BK
        bp += BK
    tl.store(c + m[:, None] * BN + n[None, :], acc)

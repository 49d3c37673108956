import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, M, N, K, am, ak, bk, bn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = (tl.program_id(0) * BM + tl.arange(0, BM)) % M
    n = (tl.program_id(1) * BN + tl.arange(0, BN)) % N
    k = tl.arange(0, BK)
    ap = a + (m[:, None] * am + k[None, :] * ak)
    bp = b + (k[:, None] * bk + n[None, :] * bn)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, tl.cdiv(K, BK)):
        x = tl.load(ap, mask=k[None, :] < K - i * BK, other=0.0)
        y = tl.load(bp, mask=k[:, None] < K - i * BK, other=0.0)
        acc = tl.dot(x, y, acc)
        ap += BK * ak
        bp += BK * bk
    tl.store(c + m[:, None] * N + n[None, :], acc)

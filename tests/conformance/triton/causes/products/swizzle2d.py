import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, G: tl.constexpr):
    pm, pn = tl.program_id(0), tl.program_id(1)
    pm, pn = tl.swizzle2d(pm, pn, tl.cdiv(M, BM), tl.cdiv(N, BN), G)
    m = pm * BM + tl.arange(0, BM)
    n = pn * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    p = a + m[:, None] * K + k[None, :]
    q = b + k[:, None] * N + n[None, :]
    for i in range(0, K, BK):
        acc += tl.dot(tl.load(p, mask=m[:, None] < M, other=0.0), tl.load(q))
        p += BK
        q += BK * N
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))

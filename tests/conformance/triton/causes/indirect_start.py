import triton
import triton.language as tl


@triton.jit
def kernel(x, w, o, starts, N, K, sx, sw, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    first = tl.load(starts + tl.program_id(0))
    rows = tl.arange(0, BM)
    cols = tl.arange(0, BN)
    ks = tl.arange(0, BK)
    a = x + (first + rows[:, None]) * sx + ks[None, :]
    b = w + cols[:, None] * sw + ks[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        left = tl.load(a, mask=ks[None, :] < K - k * BK, other=0.0)
        right = tl.load(b, mask=ks[None, :] < K - k * BK, other=0.0)
        total = tl.dot(left, right.T, total)
        a += BK
        b += BK
    tl.store(o + rows[:, None] * N + cols[None, :], total.to(tl.bfloat16))

import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.arange(0, BM)
    n = (tl.program_id(0) * BN + tl.arange(0, BN)) % N
    n = tl.max_contiguous(tl.multiple_of(n, BN), BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        x = tl.load(a + m[:, None] * K + (k + i)[None, :])
        y = tl.load(b + (k + i)[:, None] * N + n[None, :])
        acc = tl.dot(x, y, acc)
    tl.store(c + m[:, None] * BN + tl.arange(0, BN)[None, :], acc)

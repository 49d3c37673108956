import triton
import triton.language as tl


@triton.jit
def kernel(a, out, n, M: tl.constexpr, N: tl.constexpr, BEHIND: tl.constexpr):
    m = tl.arange(0, M)
    k = tl.arange(0, N)
    total = tl.zeros([M, N], tl.float32)
    for i in range(n):
        total += tl.load(a + i * M * N + m[:, None] * N + k[None, :]).to(tl.float32)
    sums = tl.sum(total, 0)
    tl.store(out + k, sums)
    tl.store(out + k + BEHIND, sums)

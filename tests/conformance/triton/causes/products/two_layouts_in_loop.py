import triton
import triton.language as tl


@triton.jit
def kernel(pa, pb, pc, pout, n, s, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rm = tl.arange(0, M)
    rn = tl.arange(0, N)
    rk = tl.arange(0, K)
    kept = tl.load(pa + rk[:, None] * s + rn[None, :])
    acc = tl.zeros((M, N), dtype=tl.float32)
    other = tl.zeros((K, N), dtype=tl.float32)
    for i in tl.range(0, n, num_stages=4):
        a = tl.load(pb + i * 64 + rk[:, None] * s + rk[None, :])
        b = tl.load(pc + i * 64 + rm[:, None] * s + rk[None, :])
        other = tl.dot(a, kept, other)
        acc = tl.dot(b, kept, acc)
    tl.store(pout + rm[:, None] * s + rn[None, :], acc)
    tl.store(pout + 4096 + rk[:, None] * s + rn[None, :], other)

import triton
import triton.language as tl


@triton.jit
def kernel(left, gate, up, out, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.arange(0, BM)
    cols = tl.arange(0, BN)
    ks = tl.arange(0, BK)
    one = tl.zeros((BM, BN), dtype=tl.float32)
    two = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        a = tl.load(left + rows[:, None] * K + (k + ks)[None, :]).to(tl.bfloat16)
        one = tl.dot(a, tl.load(gate + (k + ks)[:, None] * BN + cols[None, :]), one)
        two = tl.dot(a, tl.load(up + (k + ks)[:, None] * BN + cols[None, :]), two)
    tl.store(out + rows[:, None] * BN + cols[None, :], (one * two).to(tl.bfloat16))

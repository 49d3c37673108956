import triton
import triton.language as tl


@triton.jit
def kernel(pa, pb, pc, pout, n, s, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rm = tl.arange(0, M)
    rn = tl.arange(0, N)
    taken = tl.load(pa + rm[:, None] * s + rn[None, :])
    b = tl.load(pc + rm[:, None] * s + rm[None, :])
    acc = tl.zeros((N, M), dtype=tl.float32)
    for i in range(n):
        a = tl.load(pb + i * K + rn[:, None] * s + rm[None, :])
        acc = tl.dot(a, b, acc)
    q = tl.dot(taken, acc.to(pa.dtype.element_ty))
    tl.store(pout + rm[:, None] * s + rm[None, :], q)

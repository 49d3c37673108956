import triton
import triton.language as tl


@triton.jit
def kernel(pa, pb, pc, pout, n, s, M: tl.constexpr, N: tl.constexpr, WAY: tl.constexpr):
    # The product of `small` is too small for tensor memory, the others are in it.
    rm = tl.arange(0, M)
    rn = tl.arange(0, N)
    small = tl.load(pa + rm[:, None] * s + rn[None, :])
    a = tl.load(pb + rn[:, None] * s + rm[None, :])
    b = tl.load(pc + rm[:, None] * s + rm[None, :])
    if WAY == 0:
        p = tl.dot(a, b).to(pa.dtype.element_ty)
        q = tl.dot(small, p)
    if WAY == 1:
        p = tl.dot(a, b).to(pa.dtype.element_ty)
        q = tl.dot(tl.trans(p), tl.trans(small))
    if WAY == 2:
        acc = tl.zeros((N, M), dtype=tl.float32)
        for i in range(n):
            a = tl.load(pb + i + rn[:, None] * s + rm[None, :])
            acc = tl.dot(a, b, acc)
        q = tl.dot(small, acc.to(pa.dtype.element_ty))
    if WAY == 3:
        other = tl.load(pb + n + rm[:, None] * s + rn[None, :])
        q = tl.dot(small, tl.load(pc + rn[:, None] * s + rm[None, :]))
        p = tl.dot(a, b).to(pa.dtype.element_ty)
        q = tl.dot(other, p, q)
    tl.store(pout + rm[:, None] * s + rm[None, :], q)

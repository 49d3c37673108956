import triton
import triton.language as tl


@triton.jit
def kernel(pa, pb, pc, pout, n, s, M: tl.constexpr, TURNS: tl.constexpr, LOADS: tl.constexpr, STORES: tl.constexpr):
    rm = tl.arange(0, M)
    b = tl.load(pb + rm[:, None] * s + rm[None, :])
    a = tl.load(pa + rm[:, None] * s + rm[None, :])
    e = tl.dot(a, b).to(pa.dtype.element_ty)
    acc = tl.zeros((M, M), dtype=tl.float32)
    for i in range(0, n, M):
        p = tl.dot(a, tl.trans(e)).to(pa.dtype.element_ty)
        q = p
        if LOADS:
            q = tl.load(pc + (i + rm)[:, None] * s + rm[None, :])
        if TURNS:
            acc = tl.dot(q, tl.trans(p), acc)
        else:
            acc = tl.dot(q, p, acc)
        if STORES:
            tl.store(pc + i + rm[:, None] * s + rm[None, :], acc)
    tl.store(pout + rm[:, None] * s + rm[None, :], acc)

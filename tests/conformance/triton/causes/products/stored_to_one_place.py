import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, out, n, M: tl.constexpr, N: tl.constexpr, PLACE: tl.constexpr):
    m = tl.arange(0, M)
    k = tl.arange(0, N)
    t = tl.load(a + m[:, None] * N + k[None, :])
    for i in range(n):
        w = tl.load(c + i * M * N + m[:, None] * N + k[None, :])
        p = tl.dot(tl.trans(w), w)
        q = tl.dot(tl.trans(t), t)
        r = tl.arange(0, N)
        tl.store(out + r[:, None] * N + r[None, :], p.to(out.dtype.element_ty))
        if PLACE == 1:
            tl.store(out + r[:, None] * N + r[None, :], q.to(out.dtype.element_ty))
        elif PLACE == 2:
            tl.store(b + r[:, None] * N + r[None, :], q.to(out.dtype.element_ty))
        else:
            tl.atomic_add(out + r[:, None] * N + r[None, :], q)

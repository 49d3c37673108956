import triton
import triton.language as tl


@triton.jit
def kernel(a, k, g, out, n, M: tl.constexpr, N: tl.constexpr, BOTH: tl.constexpr):
    m = tl.arange(0, M)
    j = tl.arange(0, N)
    x = tl.load(a + m[:, None] * M + m[None, :])
    for i in range(n):
        t = i * M * N + m[:, None] * N + j[None, :]
        y = tl.load(k + t)
        gate = tl.load(g + t).to(tl.float32)
        w = y * tl.exp2(gate)
        if BOTH:
            tl.store(a + M * M + t, (y * gate).to(a.dtype.element_ty))
        tl.store(out + t, tl.dot(x, w.to(x.dtype)))

import triton
import triton.language as tl


@triton.jit
def kernel(q, k, l, out, s, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    m = tl.arange(0, M)
    j = tl.arange(0, N)
    d = tl.arange(0, D)
    x = tl.load(k + m[:, None] * D + d[None, :])
    acc = tl.zeros((M, D), tl.float32)
    for i in range(n):
        y = tl.load(q + d[:, None] + (i * N + j)[None, :] * s)
        z = tl.load(l + i * N + j)
        p = tl.dot(x, y)
        p = tl.exp(p - z[None, :])
        acc = tl.dot(p.to(q.dtype.element_ty), tl.trans(y), acc)
    tl.store(out + m[:, None] * D + d[None, :], acc.to(out.dtype.element_ty))

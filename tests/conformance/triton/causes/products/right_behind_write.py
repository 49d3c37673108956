import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, out, n, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    j = tl.arange(0, N)
    x = tl.load(a + j[:, None] * M + m[None, :])
    t = tl.load(b + j[:, None] * M + m[None, :]).to(tl.float32)
    acc = tl.zeros((N, N), tl.float32)
    for i in range(n):
        y = tl.load(c + i * M * N + m[:, None] * N + j[None, :])
        p = tl.dot(y, tl.trans(y))
        acc += tl.dot(x, tl.trans(tl.maximum(t, 0.0)).to(x.dtype))
        tl.store(out + N * N + i * M * M + m[:, None] * M + m[None, :], p.to(out.dtype.element_ty))
    tl.store(out + j[:, None] * N + j[None, :], acc.to(out.dtype.element_ty))

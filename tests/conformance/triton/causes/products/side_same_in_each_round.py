import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, out, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, WRITES: tl.constexpr, WHICH: tl.constexpr):
    m = tl.arange(0, M)
    k = tl.arange(0, K)
    j = tl.arange(0, N)
    s = tl.load(a + m[:, None] * K + k[None, :]).to(tl.float32)
    t = tl.load(b + k[:, None] * N + j[None, :]).to(tl.float32)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(n):
        if WHICH == 0:
            y = tl.load(c + i * K * N + k[:, None] * N + j[None, :])
            acc = tl.dot(tl.exp(s).to(y.dtype), y, acc)
        elif WHICH == 1:
            x = tl.load(c + i * M * K + m[:, None] * K + k[None, :])
            acc = tl.dot(x, tl.exp(t).to(x.dtype), acc)
        else:
            acc = tl.dot(tl.exp(s).to(c.dtype.element_ty), tl.exp(t).to(c.dtype.element_ty), acc)
        if WRITES:
            tl.store(out + i * M * K + m[:, None] * K + k[None, :], s.to(out.dtype.element_ty))
    tl.store(out + m[:, None] * N + j[None, :], acc.to(out.dtype.element_ty))

import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, out, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, P: tl.constexpr, WHICH: tl.constexpr):
    m = tl.arange(0, M)
    k = tl.arange(0, K)
    j = tl.arange(0, N)
    s = tl.load(a + m[:, None] * K + k[None, :])
    t = tl.load(b + k[:, None] * N + j[None, :])
    acc = tl.zeros((M, N), tl.float32)
    for i in range(n):
        if WHICH == 0:
            y = tl.load(c + i * K * N + k[:, None] * N + j[None, :])
            acc = tl.dot(s, y, acc, input_precision=P)
        else:
            x = tl.load(c + i * M * K + m[:, None] * K + k[None, :])
            acc = tl.dot(x, t, acc, input_precision=P)
    tl.store(out + m[:, None] * N + j[None, :], acc.to(out.dtype.element_ty))

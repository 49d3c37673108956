import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, out, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    k = tl.arange(0, K)
    j = tl.arange(0, N)
    t = tl.load(a + m[:, None] + k[None, :] * M)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(n):
        x = tl.load(b + i * M * K + m[:, None] * K + k[None, :])
        y = tl.load(c + i * K * N + k[:, None] * N + j[None, :])
        acc = tl.dot(x, y, acc)
    for i in range(n):
        y = tl.load(b + i * K * N + k[:, None] * N + j[None, :])
        acc = tl.dot(t, y, acc)
    tl.store(out + m[:, None] * N + j[None, :], acc.to(out.dtype.element_ty))

import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, d, out, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    s = tl.load(b + k[:, None] * N + j[None, :])
    acc = tl.zeros((K, N), tl.float32)
    for i in range(n):
        x = tl.load(a + i * M * K + m[:, None] * K + k[None, :])
        y = tl.load(d + i * M * K + k[:, None] + m[None, :] * K)
        z = tl.dot(x, s) + tl.load(c + i * M * N + m[:, None] * N + j[None, :])
        acc += tl.dot(y, z.to(y.dtype))
    tl.store(out + k[:, None] * N + j[None, :], acc.to(out.dtype.element_ty))

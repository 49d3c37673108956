import triton
import triton.language as tl


@triton.jit
def kernel(a, b, out, n, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    k = tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for i in range(n):
        x = tl.load(a + i * M * M + m[:, None] * M + m[None, :])
        y = tl.load(b + i * M * N + m[:, None] * N + k[None, :])
        acc += tl.dot(x, y)
    tl.store(out + m[:, None] * N + k[None, :], acc.to(out.dtype.element_ty))

import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, out, n, M: tl.constexpr, N: tl.constexpr, P: tl.constexpr):
    m = tl.arange(0, M)
    k = tl.arange(0, N)
    t = tl.load(a + m[:, None] * N + k[None, :])
    u = tl.load(b + m[:, None] * M + m[None, :])
    acc = tl.zeros((M, N), tl.float32)
    for i in range(n):
        p = tl.dot(u, t, input_precision=P)
        w = tl.load(c + i * M * N + m[:, None] * N + k[None, :])
        acc += p * w
    tl.store(out + m[:, None] * N + k[None, :], acc.to(out.dtype.element_ty))

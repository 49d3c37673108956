import triton
import triton.language as tl


@triton.jit
def kernel(a, b, out, n, M: tl.constexpr, N: tl.constexpr):
    m = tl.arange(0, M)
    k = tl.arange(0, N)
    t = tl.load(a + m[:, None] * N + k[None, :])
    acc = tl.zeros((M, N), tl.float32)
    i = 0
    while i < n:
        u = tl.load(b + i * M * M + m[:, None] * M + m[None, :])
        acc = tl.dot(u, t, acc)
        i += 1
    tl.store(out + m[:, None] * N + k[None, :], (acc * t).to(out.dtype.element_ty))

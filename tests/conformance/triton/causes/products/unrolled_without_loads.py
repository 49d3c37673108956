import triton
import triton.language as tl


@triton.jit
def kernel(a, b, out, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, BY: tl.constexpr):
    m = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    x = tl.load(a + m[:, None] * K + k[None, :])
    y = tl.load(b + k[:, None] * N + j[None, :])
    acc = tl.zeros((M, N), tl.float32)
    for i in tl.range(0, n, loop_unroll_factor=BY):
        acc = tl.dot(x, y, acc)
    tl.store(out + m[:, None] * N + j[None, :], acc.to(out.dtype.element_ty))

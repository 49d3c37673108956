import triton
import triton.language as tl


@triton.jit
def kernel(q, k, v, out, n, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    m = tl.arange(0, M)
    r = tl.arange(0, N)
    d = tl.arange(0, D)
    x = tl.load(q + m[:, None] * D + d[None, :])
    top = tl.full((M,), float("-inf"), tl.float32)
    acc = tl.zeros((M, D), tl.float32)
    for i in tl.range(0, n, N, loop_unroll_factor=4):
        y = tl.load(k + d[:, None] + (i + r)[None, :] * D)
        z = tl.load(v + (i + r)[:, None] * D + d[None, :])
        s = tl.dot(x, y)
        new = tl.maximum(top, tl.max(s, axis=1))
        p = tl.exp(s - new[:, None])
        acc *= tl.exp(top - new)[:, None]
        acc = tl.dot(p.to(z.dtype), z, acc)
        top = new
    tl.store(out + m[:, None] * D + d[None, :], acc.to(out.dtype.element_ty))

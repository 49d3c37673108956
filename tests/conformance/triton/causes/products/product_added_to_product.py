import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, d, out, n, M: tl.constexpr, SWAP: tl.constexpr):
    m = tl.arange(0, M)
    t = m[:, None] * M + m[None, :]
    for i in range(n):
        p = tl.dot(tl.load(a + i * M * M + t), tl.load(b + i * M * M + t))
        q = tl.dot(tl.load(c + i * M * M + t), tl.load(d + i * M * M + t))
        if SWAP:
            r = q + p
        else:
            r = p + q
        tl.store(out + i * M * M + t, r)

import triton
import triton.language as tl


@triton.jit
def kernel(k, v, g, out, n, s, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rm = tl.arange(0, M)
    rn = tl.arange(0, N)
    rk = tl.arange(0, K)
    state = tl.zeros((M, N), dtype=tl.float32)
    for i in range(n):
        a = tl.load(k + rm[:, None] + (i * K + rk)[None, :] * s)
        b = tl.load(v + (i * K + rk)[:, None] * s + rn[None, :])
        b = (b * tl.load(g + i * K + rk)[:, None]).to(v.dtype.element_ty)
        state *= tl.load(g + i)
        state += tl.dot(a, b, allow_tf32=False)
    tl.store(out + rm[:, None] * s + rn[None, :], state)

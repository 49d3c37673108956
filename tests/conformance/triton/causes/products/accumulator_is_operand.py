import triton
import triton.language as tl


@triton.jit
def kernel(w, v, o, T, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, N)
    k = tl.arange(0, K)
    h = tl.zeros([K, K], tl.float32)
    for t in range(0, T):
        a = tl.load(w + (t * N + i)[None, :] * K + k[:, None])
        b = tl.load(v + (t * N + i)[:, None] * K + k[None, :])
        u = (a - tl.dot(h.to(a.dtype), a)).to(b.dtype)
        h += tl.dot(u, b)
    tl.store(o + k[:, None] * K + k[None, :], h)

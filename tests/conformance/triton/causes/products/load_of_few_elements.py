import triton
import triton.language as tl


@triton.jit
def kernel(a, b, h, out, T, B: tl.constexpr, K: tl.constexpr):
    t = tl.arange(0, B)
    rk = tl.arange(0, K)
    s = tl.load(h + rk[:, None] * B + t[None, :])
    acc = tl.zeros((K, B), tl.float32)
    for i in range(tl.cdiv(T, B)):
        m = i * B + t < T
        w = tl.load(a + (i * B + t)[:, None] * K + rk[None, :], mask=m[:, None], other=0.0)
        v = tl.load(b + (i * B + t)[:, None] * B + t[None, :], mask=m[:, None], other=0.0)
        v = v - tl.dot(w, s)
        k = tl.load(a + (i * B + t)[None, :] * K + rk[:, None], mask=m[None, :], other=0.0)
        acc = tl.dot(k, v.to(k.dtype), acc)
    tl.store(out + rk[:, None] * B + t[None, :], acc.to(out.dtype.element_ty))

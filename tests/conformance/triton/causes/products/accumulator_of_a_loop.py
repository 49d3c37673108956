import triton
import triton.language as tl


@triton.jit
def kernel(x, w, la, lb, y, n, scaling, B: tl.constexpr):
    r = tl.arange(0, B)
    t = r[:, None] * B + r[None, :]
    acc = tl.zeros((B, B), tl.float32)
    low = tl.zeros((B, B), tl.float32)
    for i in range(n):
        a = tl.load(x + i * B * B + t)
        acc += tl.dot(a, tl.load(w + i * B * B + t))
        low += tl.dot(a, tl.load(la + i * B * B + t))
    b = tl.load(lb + t)
    acc = tl.dot((low * scaling).to(b.dtype), b, acc)
    tl.store(y + t, acc.to(y.dtype.element_ty))

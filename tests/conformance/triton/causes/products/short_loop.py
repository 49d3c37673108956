import triton
import triton.language as tl


@triton.jit
def kernel(a, b, out, T, V: tl.constexpr, B: tl.constexpr):
    r = tl.arange(0, B)
    m = r < T
    acc = tl.zeros((B, B), tl.float32)
    for i in range(tl.cdiv(V, B)):
        c = i * B + r
        x = tl.load(a + r[:, None] * V + c[None, :], mask=m[:, None], other=0.0)
        y = tl.load(b + r[:, None] * V + c[None, :], mask=m[:, None], other=0.0)
        acc += tl.dot(x, tl.trans(y))
    tl.store(out + r[:, None] * B + r[None, :], acc.to(out.dtype.element_ty))

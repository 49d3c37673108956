import triton
import triton.language as tl


@triton.jit
def kernel(a, b, out, n, SECOND: tl.constexpr, B: tl.constexpr):
    r = tl.arange(0, B)
    for i in range(n):
        x = tl.load(a + i * B * B + r[:, None] * B + r[None, :])
        y = tl.load(b + i * B * B + r[:, None] * B + r[None, :])
        p = tl.dot(tl.trans(y), x)
        q = tl.dot(tl.trans(y), x, input_precision=SECOND)
        tl.store(out + r[:, None] * B + r[None, :], p.to(out.dtype.element_ty))
        tl.store(out + B * B + r[:, None] * B + r[None, :], q.to(out.dtype.element_ty))

import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, d, y, n, B: tl.constexpr):
    r = tl.arange(0, B)
    t = r[:, None] * B + r[None, :]
    acc = tl.zeros((B, B), tl.float32)
    for i in range(n):
        acc = tl.dot(tl.load(a + i * B * B + t), tl.load(b + i * B * B + t), acc, input_precision="ieee")
        acc = tl.dot(tl.load(c + i * B * B + t), tl.load(d + i * B * B + t), acc)
    tl.store(y + t, acc.to(y.dtype.element_ty))

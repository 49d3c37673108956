import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, K, P: tl.constexpr):
    m = tl.arange(0, 128)
    n = tl.arange(0, 16)
    acc = tl.zeros((128, 16), tl.float32)
    for i in range(0, tl.cdiv(K, 32)):
        x = a.load([0, i * 32])
        y = b.load([0, i * 32]).T
        acc += tl.dot(x, y, input_precision=P)
    tl.store(c + m[:, None] * 16 + n[None, :], acc)

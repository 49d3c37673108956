import triton
import triton.language as tl


@triton.jit
def kernel(A, B, C, D, OUT, K, stride, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, K, STEP):
        k = start + tl.arange(0, STEP)
        a = tl.load(A + m[:, None] * stride + k[None, :])
        b = tl.load(B + k[:, None] * stride + n[None, :])
        # Too narrow to be staged.
        c = tl.load(C + m[:, None] + k[None, :] * stride)
        d = tl.load(D + k[:, None] * stride + n[None, :])
        acc = tl.dot(a, b, acc)
        # Not by the same instructions.
        acc = tl.dot(c, d, acc, allow_tf32=False)
    tl.store(OUT + m[:, None] * stride + n[None, :], acc)

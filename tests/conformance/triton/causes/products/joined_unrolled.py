import triton
import triton.language as tl


@triton.jit
def kernel(A, B, C, D, OUT, K, stride, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for start in tl.range(0, K, STEP, loop_unroll_factor=2):
        k = start + tl.arange(0, STEP)
        b = tl.load(B + k[:, None] * stride + n[None, :])
        # Too narrow to be staged.
        c = tl.load(C + m[:, None] + k[None, :] * stride)
        acc += tl.dot(c, b)
    tl.store(OUT + m[:, None] * stride + n[None, :], acc)

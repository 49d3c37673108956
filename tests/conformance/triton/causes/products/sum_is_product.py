import triton
import triton.language as tl


@triton.jit
def kernel(A, B, C, K, M: tl.constexpr, N: tl.constexpr, STEP: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, STEP)
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, K, STEP):
        a = tl.load(A + m[:, None] * K + start + k[None, :]).to(tl.float32)
        b = tl.load(B + (start + k)[:, None] * N + n[None, :]).to(tl.float32)
        # The compiler makes a product of it.
        acc += tl.sum(a[:, :, None] * b[None, :, :], axis=1)
    tl.store(C + m[:, None] * N + n[None, :], acc)

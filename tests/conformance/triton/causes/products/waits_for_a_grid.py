import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PLACE: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    if PLACE == 0:
        tl.extra.cuda.gdc_wait()
    for s in range(0, n, K):
        if PLACE == 1:
            tl.extra.cuda.gdc_wait()
        x = tl.load(a + i[:, None] * n + (s + k)[None, :])
        y = tl.load(b + (s + k)[:, None] * N + j[None, :])
        acc = tl.dot(x, y, acc)
        if PLACE == 2:
            tl.extra.cuda.gdc_launch_dependents()
    tl.store(c + i[:, None] * N + j[None, :], acc)

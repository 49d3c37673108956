import triton
import triton.language as tl


@triton.jit
def kernel(a_ptr, b_ptr, d_ptr, c_ptr, K, L, stride_a, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    k = tl.arange(0, BK)
    x = tl.zeros((BM, BN), tl.float32)
    y = tl.zeros((BM, BN), tl.float32)
    for i in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * stride_a + (i + k)[None, :])
        x = tl.dot(a, tl.load(b_ptr + (i + k)[:, None] * BN + n[None, :]), x)
        y = tl.dot(a, tl.load(d_ptr + (i + k)[:, None] * BN + n[None, :]), y)
    z = x * tl.sigmoid(y)
    tl.store(c_ptr + m[:, None] * BN + n[None, :], z.to(c_ptr.dtype.element_ty))

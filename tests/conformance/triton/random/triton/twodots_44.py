import triton
import triton.language as tl


@triton.jit
def kernel(a_ptr, b_ptr, d_ptr, c_ptr, K, L, stride_a, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    k = tl.arange(0, BK)
    x = tl.zeros((BM, BN), tl.float32)
    y = tl.zeros((BM, BN), tl.float32)
    for j in range(L):
        for i in range(0, K, BK):
            x = tl.dot(tl.load(a_ptr + m[:, None] * stride_a + (i + k)[None, :]), tl.load(b_ptr + (i + k)[:, None] * BN + n[None, :]), x)
        y += x
    z = y
    tl.store(c_ptr + m[:, None] * BN + n[None, :], z.to(c_ptr.dtype.element_ty))

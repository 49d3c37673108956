import triton
import triton.language as tl


@triton.jit
def kernel(a_ptr, b_ptr, d_ptr, c_ptr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.arange(0, BM)
    n = tl.arange(0, BN)
    k = tl.arange(0, BK)
    a = tl.load(a_ptr + m[:, None] * BK + k[None, :])
    b = tl.load(b_ptr + k[:, None] * BN + n[None, :])
    x = tl.dot(a, b)
    tl.store(c_ptr + m[:, None] * BN + n[None, :], x.to(c_ptr.dtype.element_ty))

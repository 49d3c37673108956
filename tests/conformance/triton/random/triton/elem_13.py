import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, y_ptr, o_ptr, n, BM: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    x = tl.load(x_ptr + i, mask=i < n)
    y = tl.load(y_ptr + i, mask=i < n)
    z = x.to(tl.float32) * y
    tl.atomic_add(o_ptr, tl.sum(z).to(o_ptr.dtype.element_ty))

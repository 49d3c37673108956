import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, w_ptr, o_ptr, stride, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r * stride + c, mask=c < n, other=0.0).to(tl.float32)
    x = tl.exp(x - tl.max(x, 0))
    y = x / tl.sum(x, 0)
    tl.store(o_ptr + r * stride + c, y.to(o_ptr.dtype.element_ty), mask=c < n)

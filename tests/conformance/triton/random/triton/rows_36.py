import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, w_ptr, o_ptr, stride, n, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    c = tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + r * stride + c, mask=c < n, other=0.0).to(tl.float32)
    y = tl.cumsum(x, 1)
    tl.store(o_ptr + r * stride + c, y.to(o_ptr.dtype.element_ty), mask=c < n)

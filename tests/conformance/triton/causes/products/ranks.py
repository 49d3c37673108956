import triton
import triton.language as tl


@triton.jit
def kernel(X, W, Y, D: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    rows = tl.arange(0, M)
    columns = tl.arange(0, N)
    mask = (rows < M)[:, None] & (columns < D)
    x = tl.load(X + rows[:, None] * D + columns, mask=mask, other=0.0)
    # A tensor with fewer dimensions has others of one element in front.
    y = x * tl.load(W + columns, mask=columns < D, other=0.0)
    y = tl.where(mask, y, columns.to(tl.float32))
    tl.store(Y + rows, tl.sum(y, 1))

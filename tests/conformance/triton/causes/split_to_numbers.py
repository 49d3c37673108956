import triton
import triton.language as tl


@triton.jit
def kernel(x, first, second):
    one, two = tl.split(tl.load(x + tl.arange(0, 2)))
    tl.static_assert(one.shape == [])
    tl.store(first, one)
    tl.store(second, two)

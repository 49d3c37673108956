import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, o_ptr, n, idx_ptr, BLOCK: tl.constexpr, S: tl.constexpr):
    i = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK, ), tl.float32)
    for j in tl.range(0, n, BLOCK, num_stages=S):
        acc += tl.load(x_ptr + j + i)
    tl.store(o_ptr + i, acc)

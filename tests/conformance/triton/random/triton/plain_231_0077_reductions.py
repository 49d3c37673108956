import triton
import triton.language as tl


@triton.jit
def max_combine(left, right):
    return tl.maximum(left, right)


@triton.jit
def kernel(
    x_ptr, out_ptr, N, M, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):
    m_offsets = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    n_offsets = tl.arange(0, BLOCK_N)
    acc = tl.zeros([BLOCK_M, BLOCK_N], dtype=tl.float32)
    for off in tl.range(0, N, BLOCK_N, disallow_acc_multi_buffer=True):
        x = tl.load(x_ptr + m_offsets[:, None] * N + (off + n_offsets)[None, :], mask=(m_offsets[:, None] < M) & ((off + n_offsets)[None, :] < N), other=0)
        t = x.to(tl.float32)
        acc += t
    tl.store(out_ptr + n_offsets + 0, tl.sum(acc, axis=0))
    tl.store(out_ptr + n_offsets + 1, tl.sum(acc, axis=0))
    tl.store(out_ptr + n_offsets + 2, tl.reduce(acc, 0, max_combine))

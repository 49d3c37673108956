import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, c_ptr, out_ptr, n, x_stride_row, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    m_offsets = tl.arange(0, BLOCK_M)
    n_offsets = tl.arange(0, BLOCK_N)
    k_offsets = tl.arange(0, BLOCK_K)
    t = tl.load(c_ptr + k_offsets[:, None] + m_offsets[None, :] * x_stride_row)
    t_2 = tl.load(b_ptr + k_offsets[:, None] * x_stride_row + n_offsets[None, :])
    acc = tl.zeros((BLOCK_N, BLOCK_N), dtype=tl.float32)
    acc_2 = tl.zeros((BLOCK_N, BLOCK_N), dtype=tl.float32)
    for i in range(0, n, BLOCK_N):
        t_3 = tl.load(b_ptr + n_offsets[:, None] * x_stride_row + (i + k_offsets)[None, :])
        acc += tl.dot(t_3, t_2)
        t_ptrs = c_ptr + (i + n_offsets)[:, None] * x_stride_row + k_offsets[None, :]
        t_4 = tl.load(t_ptrs, mask=k_offsets[None, :] < n, other=0.0)
        acc_2 = acc_2 + tl.dot(t_4, t_2)
    h_2 = acc * acc_2
    t_ptrs_2 = b_ptr + (n_offsets[:, None] * x_stride_row + m_offsets[None, :])
    t_5 = tl.load(t_ptrs_2, mask=n_offsets[:, None] < n, other=0.0)
    p = tl.dot(h_2.to(a_ptr.dtype.element_ty), t_5)
    tl.store(out_ptr + 4096 + n_offsets[:, None] * x_stride_row + m_offsets[None, :], p.to(out_ptr.dtype.element_ty))

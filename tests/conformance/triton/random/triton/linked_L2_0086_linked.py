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
    t = tl.load(b_ptr + k_offsets[:, None] + m_offsets[None, :] * x_stride_row, mask=m_offsets[None, :] < n, other=0.0)
    t_2 = tl.load(b_ptr + (m_offsets[:, None] * x_stride_row + m_offsets[None, :]), mask=m_offsets[:, None] < n, other=0.0)
    acc = tl.zeros((BLOCK_M, BLOCK_M), dtype=tl.float32)
    acc_2 = tl.zeros([BLOCK_M, BLOCK_M], dtype=tl.float32)
    for i in tl.range(0, n, BLOCK_K, flatten=True):
        t_3 = tl.load(c_ptr + m_offsets[:, None] + (i + m_offsets)[None, :] * x_stride_row)
        acc += tl.dot(t_3, t_2)
        t_ptrs = c_ptr + ((i + m_offsets)[:, None] * x_stride_row + m_offsets[None, :])
        t_4 = tl.load(t_ptrs)
        acc_2 += tl.dot(t_4, t_2)
    h_2 = acc * acc_2
    t_5 = tl.load(b_ptr + m_offsets[:, None] * x_stride_row + k_offsets[None, :], mask=k_offsets[None, :] < n, other=0.0)
    p = tl.dot(h_2.to(a_ptr.dtype.element_ty), t_5)
    tl.store(out_ptr + 4096 + m_offsets[:, None] * x_stride_row + k_offsets[None, :], p.to(out_ptr.dtype.element_ty))

import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, c_ptr, out_ptr, n, x_stride_row, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr, NUM_STAGES: tl.constexpr,
):
    m_offsets = tl.arange(0, BLOCK_M)
    n_offsets = tl.arange(0, BLOCK_N)
    k_offsets = tl.arange(0, BLOCK_K)
    t = tl.load(a_ptr + (m_offsets[:, None] * x_stride_row + n_offsets[None, :]))
    t_ptrs = a_ptr + m_offsets[:, None] * x_stride_row + n_offsets[None, :]
    t_2 = tl.load(t_ptrs, mask=n_offsets[None, :] < n, other=0.0)
    t_3 = tl.load(b_ptr + m_offsets[:, None] * x_stride_row + k_offsets[None, :])
    t_4 = tl.load(c_ptr + n_offsets[:, None] * x_stride_row + k_offsets[None, :], cache_modifier=".cg")
    p = tl.dot(t_4, tl.trans(t_3))
    acc = tl.zeros([BLOCK_K, BLOCK_M], dtype=tl.float32)
    for i in tl.range(0, tl.cdiv(n, BLOCK_N), num_stages=NUM_STAGES):
        t_5 = tl.load(a_ptr + k_offsets[:, None] + (i * BLOCK_N + n_offsets)[None, :] * x_stride_row)
        t_ptrs_2 = c_ptr + n_offsets[:, None] * x_stride_row + (i * BLOCK_N + m_offsets)[None, :]
        t_6 = tl.load(t_ptrs_2, mask=(i * BLOCK_N + m_offsets)[None, :] < n, other=0.0)
        acc = acc + tl.dot(t_5, t_6)
    t_ptrs_3 = b_ptr + n_offsets[:, None] * x_stride_row + k_offsets[None, :]
    t_7 = tl.load(t_ptrs_3)
    p_2 = tl.dot(t_7, acc.to(a_ptr.dtype.element_ty))
    tl.store(out_ptr + 4096 + n_offsets[:, None] * x_stride_row + m_offsets[None, :], p_2.to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + 8192 + (m_offsets[:, None] * x_stride_row + n_offsets[None, :]), t.to(out_ptr.dtype.element_ty))

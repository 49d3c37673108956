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
    t_ptrs = a_ptr + k_offsets[:, None] + n_offsets[None, :] * x_stride_row
    t = tl.load(t_ptrs, mask=n_offsets[None, :] < n, other=0.0)
    t_2 = tl.load(c_ptr + m_offsets[:, None] * x_stride_row + k_offsets[None, :], mask=k_offsets[None, :] < n, other=0.0)
    acc = tl.zeros((BLOCK_K, BLOCK_K), dtype=tl.float32)
    acc_2 = tl.zeros([BLOCK_K, BLOCK_K], dtype=tl.float32)
    for off in range(0, n, BLOCK_M):
        t_ptrs_2 = c_ptr + (k_offsets[:, None] + (off + m_offsets)[None, :] * x_stride_row)
        t_3 = tl.load(t_ptrs_2, mask=(off + m_offsets)[None, :] < n, other=0.0)
        acc = tl.dot(t_3, t_2, acc)
        t_4 = tl.load(c_ptr + ((off + k_offsets)[:, None] * x_stride_row + m_offsets[None, :]), mask=(off + k_offsets)[:, None] < n, other=0.0)
        acc_2 += tl.dot(t_4, t_2, allow_tf32=True)
    h_2 = acc * acc_2
    t_5 = tl.load(c_ptr + k_offsets[:, None] * x_stride_row + m_offsets[None, :], mask=k_offsets[:, None] < n, other=0.0)
    p = tl.dot(h_2.to(a_ptr.dtype.element_ty), t_5, input_precision="tf32")
    tl.store(out_ptr + 4096 + tl.expand_dims(k_offsets, 1) * x_stride_row + tl.expand_dims(m_offsets, 0), p.to(out_ptr.dtype.element_ty))

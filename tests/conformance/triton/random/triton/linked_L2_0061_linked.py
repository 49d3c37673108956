import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    out_ptr,
    n,
    x_stride_row,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    m_offsets = tl.arange(0, BLOCK_M)
    n_offsets = tl.arange(0, BLOCK_N)
    k_offsets = tl.arange(0, BLOCK_K)
    t = tl.load(a_ptr + m_offsets[:, None] * x_stride_row + n_offsets[None, :], mask=m_offsets[:, None] < n, other=0.0)
    t_2 = tl.load(c_ptr + (n_offsets[:, None] * x_stride_row + n_offsets[None, :]), mask=n_offsets[:, None] < n, other=0.0)
    t_ptrs = b_ptr + (k_offsets[:, None] + k_offsets[None, :] * x_stride_row)
    t_3 = tl.load(t_ptrs, mask=k_offsets[None, :] < n, other=0.0)
    acc = tl.zeros((BLOCK_M, BLOCK_K), dtype=tl.float32)
    acc_2 = tl.zeros([BLOCK_M, BLOCK_K], tl.float32)
    for off in range(0, tl.cdiv(n, BLOCK_K)):
        t_ptrs_2 = c_ptr + (m_offsets[:, None] * x_stride_row + (off * BLOCK_K + k_offsets)[None, :])
        t_4 = tl.load(t_ptrs_2, mask=(off * BLOCK_K + k_offsets)[None, :] < n, other=0.0, eviction_policy="evict_first")
        acc += tl.dot(t_4, t_3)
        t_ptrs_3 = c_ptr + ((off * BLOCK_K + m_offsets)[:, None] + k_offsets[None, :] * x_stride_row)
        t_5 = tl.load(t_ptrs_3, mask=k_offsets[None, :] < n, other=0.0)
        acc_2 += tl.dot(t_5, t_3)
    h_2 = acc * acc_2
    acc_3 = tl.zeros((BLOCK_M, BLOCK_M), tl.float32)
    num_i = tl.cdiv(n, BLOCK_N)
    for i in range(num_i):
        t_ptrs_4 = b_ptr + (i * BLOCK_N + k_offsets)[:, None] * x_stride_row + m_offsets[None, :]
        t_6 = tl.load(t_ptrs_4, mask=(i * BLOCK_N + k_offsets)[:, None] < n, other=0.0)
        acc_3 = tl.dot(h_2.to(a_ptr.dtype.element_ty), t_6, acc=acc_3, allow_tf32=True)
    p = tl.dot(acc_3.to(a_ptr.dtype.element_ty), t)
    tl.store(out_ptr + 4096 + (m_offsets[:, None] * x_stride_row + n_offsets[None, :]), p.to(out_ptr.dtype.element_ty))

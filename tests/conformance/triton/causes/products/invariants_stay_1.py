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
    t_ptrs = b_ptr + k_offsets[:, None] + k_offsets[None, :] * x_stride_row
    t = tl.load(t_ptrs)
    t_ptrs_2 = b_ptr + m_offsets[:, None] * x_stride_row + k_offsets[None, :]
    t_2 = tl.load(t_ptrs_2, mask=m_offsets[:, None] < n, other=0.0)
    acc = tl.zeros((BLOCK_K, BLOCK_K), tl.float32)
    num_iters = tl.cdiv(n, BLOCK_K)
    for off in range(num_iters):
        t_ptrs_3 = b_ptr + (off * BLOCK_K + m_offsets)[:, None] + k_offsets[None, :] * x_stride_row
        t_3 = tl.load(t_ptrs_3, mask=k_offsets[None, :] < n, other=0.0)
        b = (tl.trans(t_2) * 2.0).to(a_ptr.dtype.element_ty)
        acc = acc + tl.dot(b, t_3)
    acc_2 = tl.zeros((BLOCK_N, BLOCK_K), tl.float32)
    for off_2 in tl.range(0, n, BLOCK_K, disable_licm=True):
        t_4 = tl.load(b_ptr + (n_offsets[:, None] * x_stride_row + (off_2 + k_offsets)[None, :]))
        t_5 = tl.load(c_ptr + tl.expand_dims(k_offsets, 1) + tl.expand_dims((off_2 + k_offsets), 0) * x_stride_row, eviction_policy="evict_first")
        acc_2 = acc_2 * 0.5
        acc_2 = tl.dot(t_4, t_5, acc_2)
        tl.store(out_ptr + 4096 + off_2 + (k_offsets[:, None] * x_stride_row + k_offsets[None, :]), acc.to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + 8192 + n_offsets[:, None] * x_stride_row + k_offsets[None, :], acc_2.to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + 12288 + (k_offsets[:, None] * x_stride_row + k_offsets[None, :]), t.to(out_ptr.dtype.element_ty))

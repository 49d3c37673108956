import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, c_ptr, out_ptr, n, x_stride_row, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr, WARP_SPECIALIZE: tl.constexpr,
):
    m_offsets = tl.arange(0, BLOCK_M)
    n_offsets = tl.arange(0, BLOCK_N)
    k_offsets = tl.arange(0, BLOCK_K)
    t = tl.load(a_ptr + m_offsets[:, None] * x_stride_row + k_offsets[None, :], mask=k_offsets[None, :] < n, other=0.0)
    t_2 = tl.load(a_ptr + (n_offsets[:, None] * x_stride_row + n_offsets[None, :]), mask=n_offsets[None, :] < n, other=0.0)
    t_3 = tl.load(a_ptr + k_offsets[:, None] * x_stride_row + n_offsets[None, :])
    acc = tl.zeros([BLOCK_K, BLOCK_M], dtype=tl.float32)
    off = 0
    while off < n:
        t_4 = tl.load(b_ptr + ((off + n_offsets)[:, None] * x_stride_row + m_offsets[None, :]))
        acc = tl.dot(t_3, t_4, acc)
        off += BLOCK_M
    acc_2 = tl.zeros((BLOCK_M, BLOCK_M), tl.float32)
    for j in tl.range(0, tl.cdiv(n, BLOCK_N), num_stages=3, loop_unroll_factor=1, disable_licm=True, warp_specialize=WARP_SPECIALIZE):
        t_ptrs = b_ptr + ((j * BLOCK_N + k_offsets)[:, None] * x_stride_row + m_offsets[None, :])
        t_5 = tl.load(t_ptrs, mask=(j * BLOCK_N + k_offsets)[:, None] < n, other=0.0)
        acc_2 = tl.dot(tl.trans(acc).to(a_ptr.dtype.element_ty), t_5, acc=acc_2)
        tl.store(out_ptr + 4096 + j * BLOCK_N + (tl.expand_dims(k_offsets, 1) * x_stride_row + tl.expand_dims(m_offsets, 0)), acc.to(out_ptr.dtype.element_ty))
    acc_3 = tl.zeros((BLOCK_N, BLOCK_M), tl.float32)
    num_j_2 = tl.cdiv(n, BLOCK_N)
    for j_2 in tl.range(0, num_j_2):
        t_6 = tl.load(a_ptr + n_offsets[:, None] + (j_2 * BLOCK_N + m_offsets)[None, :] * x_stride_row)
        s = tl.dot(t_6, acc_2.to(a_ptr.dtype.element_ty))
        t_ptrs_2 = c_ptr + m_offsets[:, None] * x_stride_row + (j_2 * BLOCK_N + m_offsets)[None, :]
        t_7 = tl.load(t_ptrs_2)
        acc_3 = acc_3 * 0.5
        acc_3 = tl.dot(s.to(a_ptr.dtype.element_ty), t_7, acc_3)
        tl.store(out_ptr + 8192 + j_2 * BLOCK_N + (m_offsets[:, None] * x_stride_row + m_offsets[None, :]), acc_2.to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + 12288 + n_offsets[:, None] * x_stride_row + m_offsets[None, :], acc_3.to(out_ptr.dtype.element_ty))

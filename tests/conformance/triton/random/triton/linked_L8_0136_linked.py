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
    t_ptrs = b_ptr + k_offsets[:, None] + n_offsets[None, :] * x_stride_row
    t = tl.load(t_ptrs, mask=k_offsets[:, None] < n, other=0.0)
    acc = tl.zeros((BLOCK_N, BLOCK_K), dtype=tl.float32)
    for j in tl.range(0, tl.cdiv(n, BLOCK_K)):
        t_ptrs_2 = c_ptr + (tl.expand_dims(k_offsets, 1) * x_stride_row + tl.expand_dims((j * BLOCK_K + k_offsets), 0))
        t_2 = tl.load(t_ptrs_2, cache_modifier=".cg")
        s = tl.dot(tl.trans(t), t_2)
        s = tl.where(s > 0, s, 0.0)
        t_3 = tl.load(c_ptr + (k_offsets[:, None] * x_stride_row + (j * BLOCK_K + k_offsets)[None, :]))
        acc = acc + tl.dot(s.to(a_ptr.dtype.element_ty), t_3)
    t_4 = tl.load(c_ptr + k_offsets[:, None] * x_stride_row + m_offsets[None, :], mask=m_offsets[None, :] < n, other=0.0)
    p = tl.dot(acc.to(a_ptr.dtype.element_ty), t_4)
    tl.store(out_ptr + 4096 + n_offsets[:, None] * x_stride_row + m_offsets[None, :], p.to(out_ptr.dtype.element_ty))

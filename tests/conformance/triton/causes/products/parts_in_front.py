import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, c_ptr, out_ptr, n, x_stride_row, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr, num_stages: tl.constexpr,
):
    m_offsets = tl.arange(0, BLOCK_M)
    n_offsets = tl.arange(0, BLOCK_N)
    k_offsets = tl.arange(0, BLOCK_K)
    t_ptrs = b_ptr + k_offsets[:, None] * x_stride_row + n_offsets[None, :]
    t = tl.load(t_ptrs)
    t_2 = tl.load(b_ptr + k_offsets[:, None] * x_stride_row + m_offsets[None, :])
    v = t_2.to(tl.float32) * 0.125
    acc = tl.zeros([BLOCK_K, BLOCK_K], dtype=tl.float32)
    for j in tl.range(0, n, BLOCK_M, num_stages=num_stages):
        t_ptrs_2 = a_ptr + (j + m_offsets)[:, None] * x_stride_row + k_offsets[None, :]
        t_3 = tl.load(t_ptrs_2, mask=(j + m_offsets)[:, None] < n, other=0.0)
        acc = acc + tl.dot(v.to(a_ptr.dtype.element_ty), t_3, input_precision="tf32x3")
    tl.store(out_ptr + 4096 + (k_offsets[:, None] * x_stride_row + k_offsets[None, :]), acc.to(out_ptr.dtype.element_ty))

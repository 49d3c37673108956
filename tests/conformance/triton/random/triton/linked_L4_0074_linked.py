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
    t = tl.load(a_ptr + m_offsets[:, None] + m_offsets[None, :] * x_stride_row)
    t_2 = tl.load(a_ptr + k_offsets[:, None] * x_stride_row + m_offsets[None, :], mask=m_offsets[None, :] < n, other=0.0)
    acc = tl.zeros((BLOCK_M, BLOCK_M), dtype=tl.float32)
    off = 0
    while off < n:
        t_3 = tl.load(a_ptr + ((off + m_offsets)[:, None] * x_stride_row + m_offsets[None, :]))
        acc = tl.dot(t_3, t, acc=acc)
        off += BLOCK_M
    t_4 = tl.load(a_ptr + (n_offsets[:, None] * x_stride_row + m_offsets[None, :]))
    p = tl.dot(t_4, acc.to(a_ptr.dtype.element_ty))
    acc_2 = tl.zeros((BLOCK_K, BLOCK_M), tl.float32)
    for off_2 in tl.range(0, n, BLOCK_M, disallow_acc_multi_buffer=True, disable_licm=True):
        t_ptrs = b_ptr + k_offsets[:, None] * x_stride_row + (off_2 + n_offsets)[None, :]
        t_5 = tl.load(t_ptrs, mask=k_offsets[:, None] < n, other=0.0)
        acc_2 += tl.dot(t_5, p.to(a_ptr.dtype.element_ty), input_precision="tf32")
        tl.store(out_ptr + 4096 + off_2 + (k_offsets[:, None] * x_stride_row + m_offsets[None, :]), acc_2.to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + 8192 + k_offsets[:, None] * x_stride_row + m_offsets[None, :], acc_2.to(out_ptr.dtype.element_ty))

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
    t_ptrs = c_ptr + k_offsets[:, None] * x_stride_row + n_offsets[None, :]
    t = tl.load(t_ptrs)
    acc = tl.zeros((BLOCK_N, BLOCK_N), tl.float32)
    acc_2 = tl.zeros([BLOCK_N, BLOCK_N], tl.float32)
    for i in range(0, n, BLOCK_M):
        t_ptrs_2 = a_ptr + n_offsets[:, None] * x_stride_row + (i + k_offsets)[None, :]
        t_2 = tl.load(t_ptrs_2)
        acc = tl.dot(t_2, t, acc)
        t_3 = tl.load(b_ptr + (i + n_offsets)[:, None] * x_stride_row + k_offsets[None, :], mask=k_offsets[None, :] < n, other=0.0)
        acc_2 += tl.dot(t_3, t, allow_tf32=False)
        tl.store(out_ptr + 4096 + i + k_offsets[:, None] * x_stride_row + n_offsets[None, :], t.to(out_ptr.dtype.element_ty))
    h_2 = acc * acc_2
    t_ptrs_3 = b_ptr + n_offsets[:, None] + k_offsets[None, :] * x_stride_row
    t_4 = tl.load(t_ptrs_3)
    p = tl.dot(tl.trans(h_2).to(a_ptr.dtype.element_ty), t_4)
    tl.store(out_ptr + 8192 + n_offsets[:, None] * x_stride_row + k_offsets[None, :], p.to(out_ptr.dtype.element_ty))

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
    t = tl.load(b_ptr + (k_offsets[:, None] * x_stride_row + n_offsets[None, :]), mask=k_offsets[:, None] < n, other=0.0)
    v = t.to(tl.float32) * 0.125
    acc = tl.zeros([BLOCK_K, BLOCK_K], dtype=tl.float32)
    acc_2 = tl.zeros([BLOCK_K, BLOCK_K], dtype=tl.float32)
    num_off = tl.cdiv(n, BLOCK_M)
    for off in range(0, num_off):
        t_2 = tl.load(a_ptr + tl.expand_dims(n_offsets, 1) * x_stride_row + tl.expand_dims((off * BLOCK_M + k_offsets), 0), mask=n_offsets[:, None] < n, other=0.0)
        acc = acc * 0.5
        acc += tl.dot(v.to(a_ptr.dtype.element_ty), t_2)
        t_3 = tl.load(a_ptr + (off * BLOCK_M + n_offsets)[:, None] * x_stride_row + k_offsets[None, :], mask=(off * BLOCK_M + n_offsets)[:, None] < n, other=0.0)
        acc_2 = tl.dot(v.to(a_ptr.dtype.element_ty), t_3, acc=acc_2)
    h_2 = acc * acc_2
    tl.store(out_ptr + 4096 + k_offsets[:, None] * x_stride_row + k_offsets[None, :], h_2.to(out_ptr.dtype.element_ty))

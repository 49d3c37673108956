import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    out_ptr,
    n,
    stride_xrow,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
):
    offs_m = tl.arange(0, BLOCK_SIZE_M)
    offs_n = tl.arange(0, BLOCK_SIZE_N)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    t_ptrs = a_ptr + offs_m[:, None] * stride_xrow + offs_k[None, :]
    t = tl.load(t_ptrs, mask=offs_m[:, None] < n, other=0.0)
    t_2 = tl.load(c_ptr + offs_m[:, None] * stride_xrow + offs_k[None, :])
    t_3 = tl.load(c_ptr + offs_k[:, None] + offs_m[None, :] * stride_xrow, mask=offs_k[:, None] < n, other=0.0)
    p = tl.dot(t_2, t_3)
    t_ptrs_2 = a_ptr + offs_k[:, None] * stride_xrow + offs_m[None, :]
    t_4 = tl.load(t_ptrs_2, mask=offs_k[:, None] < n, other=0.0)
    p_2 = tl.dot(t_4, p.to(a_ptr.dtype.element_ty), allow_tf32=False)
    tl.store(out_ptr + 4096 + tl.expand_dims(offs_k, 1) * stride_xrow + tl.expand_dims(offs_m, 0), p_2.to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + 8192 + offs_m[:, None] * stride_xrow + offs_k[None, :], t.to(out_ptr.dtype.element_ty))

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
    t = tl.load(b_ptr + (offs_k[:, None] + offs_m[None, :] * stride_xrow), mask=offs_k[:, None] < n, other=0.0)
    t_ptrs = c_ptr + tl.expand_dims(offs_k, 1) * stride_xrow + tl.expand_dims(offs_n, 0)
    t_2 = tl.load(t_ptrs, mask=offs_k[:, None] < n, other=0.0)
    t_3 = tl.load(b_ptr + offs_m[:, None] + offs_n[None, :] * stride_xrow, mask=offs_m[:, None] < n, other=0.0)
    t_ptrs_2 = c_ptr + offs_m[:, None] * stride_xrow + offs_k[None, :]
    t_4 = tl.load(t_ptrs_2, mask=offs_m[:, None] < n, other=0.0)
    p = tl.dot(tl.trans(t_3), t_4)
    t_5 = tl.load(b_ptr + (offs_m[:, None] * stride_xrow + offs_n[None, :]), mask=offs_n[None, :] < n, other=0.0)
    p_2 = tl.dot(t_5, p.to(a_ptr.dtype.element_ty))
    acc = tl.zeros((BLOCK_SIZE_N, BLOCK_SIZE_M), tl.float32)
    for off in tl.range(0, n, BLOCK_SIZE_M, num_stages=2):
        t_6 = tl.load(a_ptr + (off + offs_n)[:, None] + offs_k[None, :] * stride_xrow, mask=offs_k[None, :] < n, other=0.0)
        acc += tl.dot(t_6, tl.trans(p_2).to(a_ptr.dtype.element_ty))
    tl.store(out_ptr + 4096 + (offs_n[:, None] * stride_xrow + offs_m[None, :]), acc.to(out_ptr.dtype.element_ty))

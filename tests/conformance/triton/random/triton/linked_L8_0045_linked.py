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
    t_ptrs = b_ptr + offs_k[:, None] * stride_xrow + offs_k[None, :]
    t = tl.load(t_ptrs, mask=offs_k[None, :] < n, other=0.0)
    t_2 = tl.load(c_ptr + offs_m[:, None] * stride_xrow + offs_n[None, :], mask=offs_n[None, :] < n, other=0.0)
    t_ptrs_2 = b_ptr + offs_m[:, None] + offs_m[None, :] * stride_xrow
    t_3 = tl.load(t_ptrs_2, mask=offs_m[:, None] < n, other=0.0)
    p = tl.dot(t_3, t_2)
    acc = tl.zeros((BLOCK_SIZE_N, BLOCK_SIZE_M), tl.float32)
    acc_2 = tl.zeros([BLOCK_SIZE_N, BLOCK_SIZE_M], tl.float32)
    for off in range(0, n, BLOCK_SIZE_K):
        t_4 = tl.load(c_ptr + (off + offs_m)[:, None] * stride_xrow + offs_m[None, :], mask=offs_m[None, :] < n, other=0.0)
        b = (tl.trans(p).to(a_ptr.dtype.element_ty) * 0.5).to(a_ptr.dtype.element_ty)
        acc = tl.dot(b, t_4, acc=acc, input_precision="tf32")
        t_ptrs_3 = c_ptr + (offs_m[:, None] * stride_xrow + (off + offs_m)[None, :])
        t_5 = tl.load(t_ptrs_3, mask=offs_m[:, None] < n, other=0.0)
        acc_2 += tl.dot(tl.trans(p).to(a_ptr.dtype.element_ty), t_5)
    h_2 = acc * acc_2
    acc_3 = tl.zeros((BLOCK_SIZE_N, BLOCK_SIZE_K), tl.float32)
    num_iters = tl.cdiv(n, BLOCK_SIZE_K)
    for i in range(0, num_iters):
        t_ptrs_4 = a_ptr + offs_m[:, None] * stride_xrow + (i * BLOCK_SIZE_K + offs_k)[None, :]
        t_6 = tl.load(t_ptrs_4, mask=offs_m[:, None] < n, other=0.0)
        s = tl.dot(h_2.to(a_ptr.dtype.element_ty), t_6)
        s = s * 0.5
        t_ptrs_5 = a_ptr + (i * BLOCK_SIZE_K + offs_k)[:, None] * stride_xrow + offs_k[None, :]
        t_7 = tl.load(t_ptrs_5)
        acc_3 = acc_3 + tl.dot(s.to(a_ptr.dtype.element_ty), t_7, input_precision="tf32x3")
    tl.store(out_ptr + 4096 + offs_n[:, None] * stride_xrow + offs_k[None, :], acc_3.to(out_ptr.dtype.element_ty))

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
    t_ptrs = a_ptr + (offs_m[:, None] * stride_xrow + offs_k[None, :])
    t = tl.load(t_ptrs)
    t_ptrs_2 = c_ptr + offs_n[:, None] * stride_xrow + offs_m[None, :]
    t_2 = tl.load(t_ptrs_2, mask=offs_m[None, :] < n, other=0.0)
    acc = tl.zeros([BLOCK_SIZE_N, BLOCK_SIZE_M], tl.float32)
    for off in range(0, n, BLOCK_SIZE_K):
        t_3 = tl.load(a_ptr + offs_n[:, None] * stride_xrow + (off + offs_n)[None, :], mask=(off + offs_n)[None, :] < n, other=0.0)
        acc = acc + tl.dot(t_3, t_2, allow_tf32=True)
    acc_2 = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_K), dtype=tl.float32)
    k_tiles = tl.cdiv(n, BLOCK_SIZE_K)
    for off_2 in range(0, k_tiles):
        t_ptrs_3 = a_ptr + (off_2 * BLOCK_SIZE_K + offs_n)[:, None] * stride_xrow + offs_k[None, :]
        t_4 = tl.load(t_ptrs_3)
        acc_2 = tl.dot(tl.trans(acc).to(a_ptr.dtype.element_ty), t_4, acc_2, input_precision="tf32x3")
        tl.store(out_ptr + 4096 + off_2 * BLOCK_SIZE_K + offs_m[:, None] * stride_xrow + offs_k[None, :], acc_2.to(out_ptr.dtype.element_ty))
    acc_3 = tl.zeros((BLOCK_SIZE_N, BLOCK_SIZE_K), tl.float32)
    for i in range(0, n, BLOCK_SIZE_K):
        t_5 = tl.load(c_ptr + (i + offs_n)[:, None] + offs_m[None, :] * stride_xrow, mask=offs_m[None, :] < n, other=0.0)
        acc_3 += tl.dot(t_5, t)
        tl.store(out_ptr + 8192 + i + (offs_m[:, None] * stride_xrow + offs_k[None, :]), acc_2.to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + 12288 + offs_n[:, None] * stride_xrow + offs_k[None, :], acc_3.to(out_ptr.dtype.element_ty))

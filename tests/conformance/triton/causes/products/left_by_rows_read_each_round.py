import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, c_ptr, out_ptr, n, stride_xrow, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
):
    offs_m = tl.arange(0, BLOCK_SIZE_M)
    offs_n = tl.arange(0, BLOCK_SIZE_N)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    t = tl.load(b_ptr + (offs_m[:, None] * stride_xrow + offs_k[None, :]), mask=offs_k[None, :] < n, other=0.0)
    acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_M), tl.float32)
    acc_2 = tl.zeros([BLOCK_SIZE_M, BLOCK_SIZE_M], dtype=tl.float32)
    for off in range(0, tl.cdiv(n, BLOCK_SIZE_N)):
        t_ptrs = c_ptr + (tl.expand_dims((off * BLOCK_SIZE_N + offs_k), 1) + tl.expand_dims(offs_m, 0) * stride_xrow)
        t_2 = tl.load(t_ptrs)
        acc += tl.dot(t, t_2)
        t_3 = tl.load(a_ptr + offs_k[:, None] * stride_xrow + (off * BLOCK_SIZE_N + offs_m)[None, :], mask=offs_k[:, None] < n, other=0.0)
        acc_2 += tl.dot(t, t_3)
    h_2 = acc * acc_2
    acc_3 = tl.zeros((BLOCK_SIZE_N, BLOCK_SIZE_N), tl.float32)
    for j in tl.range(0, n, BLOCK_SIZE_K):
        t_4 = tl.load(b_ptr + offs_n[:, None] * stride_xrow + (j + offs_m)[None, :])
        t_5 = tl.load(b_ptr + offs_m[:, None] * stride_xrow + (j + offs_n)[None, :], mask=offs_m[:, None] < n, other=0.0)
        acc_3 = tl.dot(t_4, t_5, acc=acc_3)
        tl.store(out_ptr + 4096 + j + offs_n[:, None] * stride_xrow + offs_n[None, :], acc_3.to(out_ptr.dtype.element_ty))
    tl.store(out_ptr + 8192 + (offs_n[:, None] * stride_xrow + offs_n[None, :]), acc_3.to(out_ptr.dtype.element_ty))

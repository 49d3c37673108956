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
    t_ptrs = a_ptr + tl.expand_dims(offs_k, 1) * stride_xrow + tl.expand_dims(offs_n, 0)
    t = tl.load(t_ptrs)
    t_ptrs_2 = a_ptr + (tl.expand_dims(offs_m, 1) * stride_xrow + tl.expand_dims(offs_k, 0))
    t_2 = tl.load(t_ptrs_2, mask=offs_k[None, :] < n, other=0.0)
    t_3 = tl.load(a_ptr + (offs_n[:, None] * stride_xrow + offs_m[None, :]))
    v = tl.exp(t_3.to(tl.float32) - tl.max(t_3.to(tl.float32), axis=1)[:, None])
    v = v / tl.sum(v, axis=1)[:, None]
    t_4 = tl.load(c_ptr + (offs_m[:, None] * stride_xrow + offs_k[None, :]), mask=offs_m[:, None] < n, other=0.0)
    p = tl.dot(v.to(a_ptr.dtype.element_ty), t_4, input_precision="tf32x3")
    tl.store(out_ptr + 4096 + offs_n[:, None] * stride_xrow + offs_k[None, :], p.to(out_ptr.dtype.element_ty))

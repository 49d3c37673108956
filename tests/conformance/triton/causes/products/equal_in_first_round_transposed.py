import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr, b_ptr, c_ptr, out_ptr, n, stride_xrow, BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr, STAGES: tl.constexpr,
):
    offs_m = tl.arange(0, BLOCK_SIZE_M)
    offs_n = tl.arange(0, BLOCK_SIZE_N)
    offs_k = tl.arange(0, BLOCK_SIZE_K)
    t_ptrs = b_ptr + offs_k[:, None] * stride_xrow + offs_n[None, :]
    t = tl.load(t_ptrs, mask=offs_n[None, :] < n, other=0.0)
    t_ptrs_2 = b_ptr + offs_k[:, None] * stride_xrow + offs_k[None, :]
    t_2 = tl.load(t_ptrs_2, mask=offs_k[None, :] < n, other=0.0)
    t_3 = tl.load(c_ptr + offs_k[:, None] + offs_k[None, :] * stride_xrow, eviction_policy="evict_last")
    v = t_2.to(tl.float32) * tl.sigmoid(t_3.to(tl.float32))
    acc = tl.zeros([BLOCK_SIZE_K, BLOCK_SIZE_M], tl.float32)
    acc_2 = tl.zeros((BLOCK_SIZE_K, BLOCK_SIZE_M), tl.float32)
    for i in tl.range(0, tl.cdiv(n, BLOCK_SIZE_N), num_stages=STAGES):
        t_ptrs_3 = c_ptr + offs_k[:, None] * stride_xrow + (i * BLOCK_SIZE_N + offs_m)[None, :]
        t_4 = tl.load(t_ptrs_3)
        acc += tl.dot(tl.trans(v).to(a_ptr.dtype.element_ty), t_4, input_precision="ieee")
        t_5 = tl.load(c_ptr + tl.expand_dims((i * BLOCK_SIZE_N + offs_k), 1) * stride_xrow + tl.expand_dims(offs_m, 0))
        acc_2 += tl.dot(tl.trans(v).to(a_ptr.dtype.element_ty), t_5)
    h_2 = acc * acc_2
    tl.store(out_ptr + 4096 + offs_k[:, None] * stride_xrow + offs_m[None, :], h_2.to(out_ptr.dtype.element_ty))

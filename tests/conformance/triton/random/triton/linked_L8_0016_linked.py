import triton
import triton.language as tl


@triton.jit
def kernel(
    A,
    B,
    C,
    OUT,
    n,
    stride_xrow,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    offs_m = tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    t_block = C + offs_k[:, None] * stride_xrow + offs_m[None, :]
    t_val = tl.load(t_block, mask=offs_m[None, :] < n, other=0.0, eviction_policy="evict_last")
    t_val_2 = tl.load(A + offs_k[:, None] + offs_n[None, :] * stride_xrow)
    acc = tl.zeros((BLOCK_K, BLOCK_K), tl.float32)
    k_tiles = tl.cdiv(n, BLOCK_K)
    for i in range(0, k_tiles):
        t_block_2 = C + offs_n[:, None] + (i * BLOCK_K + offs_k)[None, :] * stride_xrow
        t_val_3 = tl.load(t_block_2, mask=offs_n[:, None] < n, other=0.0)
        acc = tl.dot(t_val_2, t_val_3, acc)
    acc_2 = tl.zeros((BLOCK_K, BLOCK_K), dtype=tl.float32)
    for i_2 in range(0, n, BLOCK_M):
        t_block_3 = A + ((i_2 + offs_k)[:, None] * stride_xrow + offs_k[None, :])
        t_val_4 = tl.load(t_block_3, mask=offs_k[None, :] < n, other=0.0)
        acc_2 = tl.dot(t_val_4, acc.to(A.dtype.element_ty), acc_2, input_precision="tf32x3")
        tl.store(OUT + 4096 + i_2 + (offs_k[:, None] * stride_xrow + offs_k[None, :]), acc.to(OUT.dtype.element_ty))
    tl.store(OUT + 8192 + offs_k[:, None] * stride_xrow + offs_k[None, :], acc_2.to(OUT.dtype.element_ty))

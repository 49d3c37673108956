import triton
import triton.language as tl


@triton.jit
def kernel(
    A, B, C, OUT, n, stride_xrow, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):
    offs_m = tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    t_block = B + offs_n[:, None] * stride_xrow + offs_n[None, :]
    t_val = tl.load(t_block)
    t_block_2 = A + tl.expand_dims(offs_k, 1) * stride_xrow + tl.expand_dims(offs_m, 0)
    t_val_2 = tl.load(t_block_2, mask=offs_m[None, :] < n, other=0.0)
    acc = tl.zeros([BLOCK_K, BLOCK_M], dtype=tl.float32)
    j = 0
    while j < n:
        t_val_3 = tl.load(C + offs_k[:, None] * stride_xrow + (j + offs_k)[None, :], mask=(j + offs_k)[None, :] < n, other=0.0)
        acc += tl.dot(t_val_3, t_val_2, allow_tf32=True)
        j += BLOCK_M
    v = tl.exp(acc.to(tl.float32) - tl.max(acc.to(tl.float32), axis=1)[:, None])
    v = v / tl.sum(v, axis=1)[:, None]
    tl.store(OUT + 4096 + offs_k[:, None] * stride_xrow + offs_m[None, :], v.to(OUT.dtype.element_ty))

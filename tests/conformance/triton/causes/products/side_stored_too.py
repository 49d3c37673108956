import triton
import triton.language as tl


@triton.jit
def kernel(
    a, b, c, out, n, s_x_row, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WARP_SPECIALIZE: tl.constexpr,
):
    o_m = tl.arange(0, BM)
    o_n = tl.arange(0, BN)
    o_k = tl.arange(0, BK)
    p_t = c + (o_n[:, None] * s_x_row + o_k[None, :])
    b_t = tl.load(p_t, eviction_policy="evict_last")
    p_t_2 = a + o_n[:, None] * s_x_row + o_m[None, :]
    b_t_2 = tl.load(p_t_2)
    acc = tl.zeros((BK, BM), tl.float32)
    for off in tl.range(0, n, BK, num_stages=2):
        b_t_3 = tl.load(b + ((off + o_k)[:, None] * s_x_row + o_n[None, :]), mask=o_n[None, :] < n, other=0.0)
        acc = tl.dot(b_t_3, b_t_2, acc)
    acc_2 = tl.zeros([BM, BM], dtype=tl.float32)
    for j in tl.range(0, n, BN, flatten=True, warp_specialize=WARP_SPECIALIZE):
        p_t_3 = a + (o_m[:, None] * s_x_row + (j + o_k)[None, :])
        b_t_4 = tl.load(p_t_3, mask=(j + o_k)[None, :] < n, other=0.0)
        acc_2 += tl.dot(b_t_4, acc.to(a.dtype.element_ty), input_precision="tf32")
        tl.store(out + 4096 + j + o_k[:, None] * s_x_row + o_m[None, :], acc.to(out.dtype.element_ty))
    tl.store(out + 8192 + o_m[:, None] * s_x_row + o_m[None, :], acc_2.to(out.dtype.element_ty))
    tl.store(out + 12288 + o_n[:, None] * s_x_row + o_k[None, :], b_t.to(out.dtype.element_ty))

import triton
import triton.language as tl


@triton.jit
def kernel(
    a, b, c, out, n, s_x_row, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    o_m = tl.arange(0, BM)
    o_n = tl.arange(0, BN)
    o_k = tl.arange(0, BK)
    b_t = tl.load(a + o_k[:, None] + o_n[None, :] * s_x_row, mask=o_k[:, None] < n, other=0.0, eviction_policy="evict_last")
    acc = tl.zeros([BN, BN], dtype=tl.float32)
    i = 0
    while i < n:
        p_t = b + (i + o_n)[:, None] * s_x_row + o_k[None, :]
        b_t_2 = tl.load(p_t)
        s = tl.dot(b_t_2, b_t)
        b_t_3 = tl.load(a + (o_n[:, None] * s_x_row + (i + o_n)[None, :]), cache_modifier=".ca")
        acc += tl.dot(s.to(a.dtype.element_ty), b_t_3)
        i += BN
    b_t_4 = tl.load(c + (o_n[:, None] * s_x_row + o_k[None, :]), mask=o_k[None, :] < n, other=0.0)
    p = tl.dot(acc.to(a.dtype.element_ty), b_t_4, input_precision="ieee")
    tl.store(out + 4096 + o_n[:, None] * s_x_row + o_k[None, :], p.to(out.dtype.element_ty))

import triton
import triton.language as tl


@triton.jit
def kernel(
    k, v, h_2, T, g, ht, USE_G: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr,
    K: tl.constexpr, V: tl.constexpr,
):
    i_k, i_v, i_bh = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    o_k = i_k * BK + tl.arange(0, BK)
    o_v = i_v * BV + tl.arange(0, BV)
    o_t = tl.arange(0, BT)
    b_h = tl.zeros((BK, BV), dtype=tl.float32)
    for i_t in tl.range(tl.cdiv(T, BT)):
        tt = i_t * BT + o_t
        tl.store(h_2 + i_t * K * V + o_k[:, None] * V + o_v[None, :], b_h.to(h_2.dtype.element_ty))
        p_kT = k + (o_k[:, None] + tt[None, :] * K)
        b_kT = tl.load(p_kT)
        p_v = v + tt[:, None] * V + o_v[None, :]
        b_v = tl.load(p_v)
        if USE_G:
            g_last = tl.load(g + (i_t + 1) * BT - 1)
            b_h *= tl.exp(g_last)
            g_t = tl.load(g + tt)
            b_v = (b_v * tl.exp(g_last - g_t)[:, None]).to(b_v.dtype)
        b_h += tl.dot(b_kT, b_v, allow_tf32=False)
    tl.store(ht + o_k[:, None] * V + o_v[None, :], b_h)

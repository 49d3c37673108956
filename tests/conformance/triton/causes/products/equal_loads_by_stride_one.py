import triton
import triton.language as tl


@triton.jit
def kernel(
    a,
    b,
    c,
    out,
    n,
    s_x_row,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    o_m = tl.arange(0, BM)
    o_n = tl.arange(0, BN)
    o_k = tl.arange(0, BK)
    p_t = a + o_n[:, None] * s_x_row + o_m[None, :]
    b_t = tl.load(p_t, mask=o_m[None, :] < n, other=0.0)
    p_t_2 = a + o_m[:, None] + o_m[None, :] * s_x_row
    b_t_2 = tl.load(p_t_2, mask=o_m[None, :] < n, other=0.0)
    p_t_3 = a + (o_m[:, None] * s_x_row + o_n[None, :])
    b_t_3 = tl.load(p_t_3)
    p = tl.dot(b_t_2, b_t_3)
    p_2 = tl.dot(p.to(a.dtype.element_ty), b_t)
    tl.store(out + 4096 + o_m[:, None] * s_x_row + o_m[None, :], p_2.to(out.dtype.element_ty))
    tl.store(out + 8192 + o_n[:, None] * s_x_row + o_m[None, :], b_t.to(out.dtype.element_ty))

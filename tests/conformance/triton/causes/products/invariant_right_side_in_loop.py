import triton
import triton.language as tl


@triton.jit()
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
    b_t = tl.load(a + o_n[:, None] + o_n[None, :] * s_x_row)
    p_t = a + o_n[:, None] * s_x_row + o_k[None, :]
    b_t_2 = tl.load(p_t)
    b_t_3 = tl.load(a + o_n[:, None] * s_x_row + o_k[None, :], mask=o_k[None, :] < n, other=0.0)
    b_t_4 = tl.load(a + o_k[:, None] * s_x_row + o_n[None, :], mask=o_k[:, None] < n, other=0.0)
    p = tl.dot(b_t_3, b_t_4)
    b_t_5 = tl.load(a + o_n[:, None] * s_x_row + o_n[None, :])
    p_2 = tl.dot(p.to(a.dtype.element_ty), b_t_5, input_precision="tf32")
    acc = tl.zeros((BN, BN), tl.float32)
    for i in tl.range(0, n, BM):
        p_t_2 = c + (i + o_n)[:, None] * s_x_row + o_n[None, :]
        b_t_6 = tl.load(p_t_2, mask=(i + o_n)[:, None] < n, other=0.0)
        acc = tl.dot(b_t_6, p_2.to(a.dtype.element_ty), acc)
        tl.store(out + 4096 + i + o_n[:, None] * s_x_row + o_n[None, :], acc.to(out.dtype.element_ty))
    tl.store(out + 8192 + o_n[:, None] * s_x_row + o_n[None, :], acc.to(out.dtype.element_ty))

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
    STAGES: tl.constexpr,
):
    o_m = tl.arange(0, BM)
    o_n = tl.arange(0, BN)
    o_k = tl.arange(0, BK)
    b_t = tl.load(b + (o_m[:, None] + o_n[None, :] * s_x_row))
    p_t = b + o_m[:, None] * s_x_row + o_n[None, :]
    b_t_2 = tl.load(p_t)
    p_t_2 = c + (o_m[:, None] + o_k[None, :] * s_x_row)
    b_t_3 = tl.load(p_t_2)
    acc = tl.zeros((BM, BK), dtype=tl.float32)
    for i in range(0, n, BK):
        b_t_4 = tl.load(c + (tl.expand_dims((i + o_k), 1) * s_x_row + tl.expand_dims(o_k, 0)))
        acc += tl.dot(b_t_3, b_t_4, input_precision="tf32x3")
    acc_2 = tl.zeros([BM, BK], dtype=tl.float32)
    for off in tl.range(0, n, BM, num_stages=STAGES):
        p_t_3 = b + (off + o_k)[:, None] * s_x_row + o_k[None, :]
        b_t_5 = tl.load(p_t_3, mask=(off + o_k)[:, None] < n, other=0.0)
        acc_2 += tl.dot(acc.to(a.dtype.element_ty), b_t_5)
    acc_3 = tl.zeros((BM, BM), tl.float32)
    for j in tl.range(0, n, BM, disable_licm=True):
        b_t_6 = tl.load(a + (o_k[:, None] * s_x_row + (j + o_m)[None, :]), mask=o_k[:, None] < n, other=0.0)
        acc_3 = tl.dot(acc_2.to(a.dtype.element_ty), b_t_6, acc_3)
        tl.store(out + 4096 + j + o_m[:, None] * s_x_row + o_m[None, :], acc_3.to(out.dtype.element_ty))
    tl.store(out + 8192 + (o_m[:, None] * s_x_row + o_m[None, :]), acc_3.to(out.dtype.element_ty))

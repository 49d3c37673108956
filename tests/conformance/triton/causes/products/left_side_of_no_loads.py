import triton
import triton.language as tl


@triton.jit
def max_combine(left, right):
    return tl.maximum(left, right)


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def kernel(
    n,
    a,
    b,
    c,
    out,
    vec,
    s_x_row,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    o_m = tl.arange(0, BM)
    o_n = tl.arange(0, BN)
    b_t = tl.load(b + o_m[:, None] * s_x_row + o_n[None, :], mask=o_n[None, :] < n, other=0)
    p_t = a + o_m[:, None] + o_m[None, :] * s_x_row
    b_t_2 = tl.load(p_t)
    p = tl.dot(tl.trans(b_t), b_t)
    v = b_t.to(tl.float32) * b_t
    p_2 = tl.dot(v.to(a.dtype.element_ty), tl.trans(b_t))
    w = tl.load(vec + o_n)
    acc = tl.zeros([BN,], dtype=tl.float32)
    acc_2 = tl.zeros([BN, BM], dtype=tl.float32)
    for j in range(0, n, BM):
        b_t_3 = tl.load(a + ((j + o_m)[:, None] * s_x_row + o_m[None, :]), mask=o_m[None, :] < n)
        b_t_4 = tl.load(a + o_m[:, None] * s_x_row + (j + o_m)[None, :], mask=(j + o_m)[None, :] < n, other=0.0)
        e = p.to(a.dtype.element_ty)
        lo, hi = tl.split(tl.reshape(p_2, (BM, BM // 2, 2)))
        g = tl.interleave(lo, hi)
        e_2 = p_2.to(a.dtype.element_ty)
        r = tl.reduce(b_t_2.to(tl.float32), 0, max_combine)
        u = silu(p_2)
        acc = tl.max(b_t.to(tl.float32), axis=0)
        acc_2 = acc_2 * 0.5 + 1.0
    v_2 = v.to(tl.float32) * v
    u_2 = tl.maximum(acc_2, 0.0)
    acc_3 = tl.zeros([BM, BM], tl.float32)
    num_iters = tl.cdiv(n, BM)
    for i in tl.range(0, num_iters, disallow_acc_multi_buffer=True):
        p_t_2 = a + (o_m[:, None] * s_x_row + (i * BM + o_n)[None, :])
        b_t_5 = tl.load(p_t_2, mask=o_m[:, None] < n, other=0.0)
        b_t_6 = tl.load(c + (i * BM + o_m)[:, None] * s_x_row + o_n[None, :], mask=o_n[None, :] < n, other=0.0)
        h_2 = tl.where(o_m[:, None] >= o_n[None, :], b_t_5.to(tl.float32), 0.0)
        acc_3 += tl.dot(tl.trans(u_2).to(a.dtype.element_ty), tl.trans(b_t_5))
    tl.store(out + 4096 + o_m[:, None] * s_x_row + o_n[None, :], v_2.to(out.dtype.element_ty))
    tl.store(out + 8192 + o_m[:, None] * s_x_row + o_m[None, :], acc_3.to(out.dtype.element_ty))

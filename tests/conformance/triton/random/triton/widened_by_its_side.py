import triton
import triton.language as tl


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def kernel(
    n, a, b, c, out, vec, s_x_row, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):
    floor_at = 1.0e-20
    bias_by = -1
    o_m = tl.arange(0, BM)
    o_n = tl.arange(0, BN)
    o_k = tl.arange(0, BK)
    b_t = tl.load(a + o_n[:, None] + o_k[None, :] * s_x_row)
    b_t = b_t * floor_at
    p_t = a + o_k[:, None] * s_x_row + o_k[None, :]
    b_t_2 = tl.load(p_t, mask=o_k[:, None] < n, other=0)
    b_t_2 = b_t_2 * bias_by
    v = b_t.to(tl.float32) + b_t
    acc = tl.zeros([BM,], dtype=tl.float32)
    acc_2 = tl.zeros((BN,), dtype=tl.float32)
    i = 0
    while i < n:
        p_t_2 = c + o_m[:, None] * s_x_row + (i + o_m)[None, :]
        b_t_3 = tl.load(p_t_2, mask=o_m[:, None] < n)
        b_t_4 = tl.load(a + (o_n[:, None] + (i + o_n)[None, :] * s_x_row))
        r = tl.sum(b_t_2, axis=0)
        u = tl.exp(r)
        r_2 = tl.sum(b_t_3, axis=0)
        acc += tl.max(b_t_3.to(tl.float32), axis=1)
        acc_2 += tl.max(b_t_4.to(tl.float32), axis=1)
        tl.store(out + 4096 + i + o_k[:, None] * s_x_row + o_k[None, :], b_t_2.to(out.dtype.element_ty))
        i += BK
    v_2 = b_t.to(tl.float32) * v
    tl.atomic_add(vec + o_m, acc)
    tl.store(vec + o_n, acc_2)
    tl.store(out + 16384 + o_n[:, None] * s_x_row + o_k[None, :], v_2.to(out.dtype.element_ty))

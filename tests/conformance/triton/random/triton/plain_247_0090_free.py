import triton
import triton.language as tl


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def kernel(
    n,
    pa,
    pb,
    pc,
    pout,
    pvec,
    sx_row,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
):
    rm = tl.arange(0, TILE_M)
    rn = tl.arange(0, TILE_N)
    rk = tl.arange(0, TILE_K)
    ptr_t = pc + rn[:, None] + rm[None, :] * sx_row
    t_tile = tl.load(ptr_t)
    t_tile_2 = tl.load(pc + rm[:, None] + rn[None, :] * sx_row)
    w = tl.load(pvec + rm)
    u = tl.exp(t_tile_2.to(tl.float32))
    v = u.to(tl.float32) + u
    r = tl.min(t_tile_2.to(tl.float32), axis=1).to(tl.float32)
    acc = tl.zeros([TILE_M,], dtype=tl.float32)
    for i in range(0, tl.cdiv(n, TILE_K)):
        ptr_t_2 = pb + (i * TILE_K + rn)[:, None] + rn[None, :] * sx_row
        t_tile_3 = tl.load(ptr_t_2)
        ptr_t_3 = pb + tl.expand_dims((i * TILE_K + rk), 1) + tl.expand_dims(rn, 0) * sx_row
        t_tile_4 = tl.load(ptr_t_3)
        ptr_t_4 = pc + rn[:, None] * sx_row + (i * TILE_K + rm)[None, :]
        t_tile_5 = tl.load(ptr_t_4)
        p = tl.dot(tl.trans(t_tile_3), tl.trans(t_tile_4))
        v_2 = t_tile_2.to(tl.float32) - w[:, None]
        acc += tl.sum(t_tile_5.to(tl.float32), axis=0)
    r_2 = tl.sum(u, axis=0)
    p_2 = tl.dot(u.to(pa.dtype.element_ty), tl.trans(u).to(pa.dtype.element_ty))
    u_2 = r_2 * 2.0
    tl.store(pvec + rm, acc)
    tl.store(pout + 8192 + rm[:, None] * sx_row + rm[None, :], p_2.to(pout.dtype.element_ty))
    tl.atomic_add(pvec + rn, u_2)

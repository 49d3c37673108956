import triton
import triton.language as tl


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
):
    rm = tl.arange(0, TILE_M)
    rn = tl.arange(0, TILE_N)
    ptr_t = pb + rm[:, None] * sx_row + rm[None, :]
    t_tile = tl.load(ptr_t)
    t_tile_2 = tl.load(pa + tl.expand_dims(rn, 1) * sx_row + tl.expand_dims(rm, 0), mask=rn[:, None] < n, other=0)
    p = tl.dot(t_tile_2, t_tile)
    e = p.to(pa.dtype.element_ty)
    acc = tl.zeros((TILE_N, TILE_N), dtype=tl.float32)
    acc_2 = tl.zeros([TILE_N, TILE_N], tl.float32)
    for i in range(0, n, TILE_M):
        t_tile_3 = tl.load(pb + (i + rm)[:, None] * sx_row + rm[None, :], mask=(i + rm)[:, None] < n, other=0)
        p_2 = tl.dot(t_tile_2, tl.trans(e))
        acc = tl.dot(p_2.to(pa.dtype.element_ty), tl.trans(p_2).to(pa.dtype.element_ty), acc)
        acc_2 += p_2
    r = tl.min(t_tile_2.to(tl.float32), axis=1).to(tl.float32)
    v = acc.to(tl.float32) + r[:, None]
    v_2 = v.to(tl.float32) - r[:, None]
    tl.store(pout + 4096 + rn[:, None] * sx_row + rn[None, :], acc_2.to(pout.dtype.element_ty))
    tl.store(pout + 8192 + tl.expand_dims(rn, 1) * sx_row + tl.expand_dims(rn, 0), v_2.to(pout.dtype.element_ty))

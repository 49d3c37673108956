import triton
import triton.language as tl


@triton.jit
def kernel(
    pa,
    pb,
    pc,
    pout,
    n,
    sx_row,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
):
    rm = tl.arange(0, TILE_M)
    rn = tl.arange(0, TILE_N)
    rk = tl.arange(0, TILE_K)
    t_tile = tl.load(pb + (rn[:, None] * sx_row + rm[None, :]))
    t_tile_2 = tl.load(pb + rk[:, None] * sx_row + rk[None, :], mask=rk[None, :] < n, other=0.0)
    t_tile_3 = tl.load(pc + rk[:, None] * sx_row + rk[None, :], mask=rk[:, None] < n, other=0.0)
    v = t_tile_2.to(tl.float32) * tl.sigmoid(t_tile_3.to(tl.float32))
    ptr_t = pa + (rk[:, None] * sx_row + rk[None, :])
    t_tile_4 = tl.load(ptr_t, mask=rk[:, None] < n, other=0.0)
    p = tl.dot(t_tile_4, v.to(pa.dtype.element_ty))
    acc = tl.zeros([TILE_M, TILE_K], dtype=tl.float32)
    i = 0
    while i < n:
        t_tile_5 = tl.load(pb + (rm[:, None] * sx_row + (i + rk)[None, :]))
        acc = acc * 0.5
        acc += tl.dot(t_tile_5, p.to(pa.dtype.element_ty))
        i += TILE_K
    tl.store(pout + 4096 + rm[:, None] * sx_row + rk[None, :], acc.to(pout.dtype.element_ty))

import triton
import triton.language as tl


@triton.jit
def kernel(
    pa, pb, pc, pout, n, sx_row, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):
    rm = tl.arange(0, TILE_M)
    rn = tl.arange(0, TILE_N)
    rk = tl.arange(0, TILE_K)
    ptr_t = pa + tl.expand_dims(rk, 1) * sx_row + tl.expand_dims(rn, 0)
    t_tile = tl.load(ptr_t, eviction_policy="evict_first")
    acc = tl.zeros([TILE_M, TILE_K], dtype=tl.float32)
    for j in tl.range(0, tl.cdiv(n, TILE_N), disable_licm=True):
        ptr_t_2 = pb + (j * TILE_N + rm)[:, None] * sx_row + rn[None, :]
        t_tile_2 = tl.load(ptr_t_2, mask=(j * TILE_N + rm)[:, None] < n, other=0.0)
        acc = tl.dot(t_tile_2, tl.trans(t_tile), acc=acc)
    acc_2 = tl.zeros([TILE_M, TILE_K], tl.float32)
    for j_2 in range(0, n, TILE_K):
        ptr_t_3 = pc + tl.expand_dims(rk, 1) * sx_row + tl.expand_dims((j_2 + rk), 0)
        t_tile_3 = tl.load(ptr_t_3, mask=rk[:, None] < n, other=0.0)
        b = (acc.to(pa.dtype.element_ty) * 0.5).to(pa.dtype.element_ty)
        acc_2 = tl.dot(b, t_tile_3, acc=acc_2)
    tl.store(pout + 4096 + (tl.expand_dims(rm, 1) * sx_row + tl.expand_dims(rk, 0)), acc_2.to(pout.dtype.element_ty))

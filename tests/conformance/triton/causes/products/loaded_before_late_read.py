import triton
import triton.language as tl


@triton.jit
def kernel(
    pa, pb, pc, pout, n, sx_row, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):
    rm = tl.arange(0, TILE_M)
    rn = tl.arange(0, TILE_N)
    rk = tl.arange(0, TILE_K)
    t_tile = tl.load(pb + (rk[:, None] + rm[None, :] * sx_row), mask=rk[:, None] < n, other=0.0)
    t_tile_2 = tl.load(pc + rk[:, None] * sx_row + rm[None, :], mask=rm[None, :] < n, other=0.0)
    p = tl.dot(tl.trans(t_tile), t_tile_2)
    t_tile_3 = tl.load(pb + (rk[:, None] + rm[None, :] * sx_row))
    p_2 = tl.dot(t_tile_3, p.to(pa.dtype.element_ty))
    ptr_t = pa + rm[:, None] * sx_row + rn[None, :]
    t_tile_4 = tl.load(ptr_t)
    p_3 = tl.dot(p_2.to(pa.dtype.element_ty), t_tile_4, input_precision="tf32")
    tl.store(pout + 4096 + (rk[:, None] * sx_row + rn[None, :]), p_3.to(pout.dtype.element_ty))

import triton
import triton.language as tl


@triton.jit()
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
    WARP_SPECIALIZE: tl.constexpr,
):
    rm = tl.arange(0, TILE_M)
    rn = tl.arange(0, TILE_N)
    rk = tl.arange(0, TILE_K)
    ptr_t = pa + rk[:, None] * sx_row + rn[None, :]
    t_tile = tl.load(ptr_t, mask=rn[None, :] < n, other=0.0)
    ptr_t_2 = pc + rn[:, None] * sx_row + rm[None, :]
    t_tile_2 = tl.load(ptr_t_2)
    ptr_t_3 = pa + (rm[:, None] * sx_row + rn[None, :])
    t_tile_3 = tl.load(ptr_t_3)
    p = tl.dot(t_tile_2, t_tile_3)
    acc = tl.zeros((TILE_N, TILE_M), dtype=tl.float32)
    for off in tl.range(0, tl.cdiv(n, TILE_M), loop_unroll_factor=2, warp_specialize=WARP_SPECIALIZE):
        ptr_t_4 = pb + ((off * TILE_M + rn)[:, None] * sx_row + rm[None, :])
        t_tile_4 = tl.load(ptr_t_4)
        t_tile_5 = tl.load(pa + (rm[:, None] * sx_row + (off * TILE_M + rm)[None, :]))
        acc = tl.dot(t_tile_4, t_tile_5, acc, input_precision="tf32")
        tl.store(pout + 4096 + off * TILE_M + (rn[:, None] * sx_row + rm[None, :]), acc.to(pout.dtype.element_ty))
    tl.store(pout + 8192 + rn[:, None] * sx_row + rm[None, :], acc.to(pout.dtype.element_ty))

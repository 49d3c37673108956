import triton
import triton.language as tl


@triton.jit
def kernel(
    px,
    py,
    pw,
    T,
    D,
    TILE_T: tl.constexpr,
    TILE_D: tl.constexpr,
):
    factor = 1.0e-20
    p_x_t = tl.make_block_ptr(px, (T, D), (D, 1), (tl.program_id(0) * TILE_T, tl.program_id(1) * TILE_D), (TILE_T, TILE_D), (1, 0))
    b_x = tl.load(p_x_t, boundary_check=(0,))
    b_x = b_x - factor
    p_w_t = tl.make_block_ptr(pw, (T,), (D,), (tl.program_id(0) * TILE_T,), (TILE_T,), (0,))
    b_w = tl.load(p_w_t)
    b_c = tl.cumsum(b_w.to(tl.float32), axis=0)
    p_y_t = tl.make_block_ptr(py, (T, D), (D, 1), (tl.program_id(0) * TILE_T, 0), (TILE_T, TILE_D), (1, 0))
    tl.store(p_y_t, (b_x.to(tl.float32) * tl.exp(b_c)[:, None]).to(py.dtype.element_ty), boundary_check=(0, 1))

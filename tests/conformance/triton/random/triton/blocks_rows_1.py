import triton
import triton.language as tl


@triton.jit
def kernel(
    px, py, pw, T, D, TILE_T: tl.constexpr, TILE_D: tl.constexpr,
):
    p_x_t = tl.make_block_ptr(px, [T, D], [D, 1], [tl.program_id(0) * TILE_T, tl.program_id(1) * TILE_D], [TILE_T, TILE_D], [1, 0])
    b_x = tl.load(p_x_t, boundary_check=(0, 1))
    e = tl.exp(b_x.to(tl.float32) - tl.max(b_x.to(tl.float32), 1)[:, None])
    p_y_t = tl.make_block_ptr(py, [T, D], [D, 1], [tl.program_id(0) * TILE_T, 0], [TILE_T, TILE_D], [1, 0])
    tl.store(p_y_t, (e / tl.sum(e, 1)[:, None]).to(py.dtype.element_ty))

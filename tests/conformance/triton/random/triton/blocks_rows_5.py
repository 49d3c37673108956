import triton
import triton.language as tl


@triton.jit
def kernel(
    px,
    py,
    pw,
    T,
    D: tl.constexpr,
    TILE_T: tl.constexpr,
    TILE_D: tl.constexpr,
):
    p_x_t = tl.make_block_ptr(base=px, shape=(T, D), strides=(D, 1), offsets=(tl.program_id(0) * TILE_T, 0), block_shape=(TILE_T, TILE_D), order=(1, 0))
    b_x = tl.load(p_x_t, boundary_check=(1,))
    p_z_t = tl.make_block_ptr(base=pw, shape=(T, D), strides=(1, T), offsets=(tl.program_id(0) * TILE_T, 0), block_shape=(TILE_T, TILE_D), order=(1, 0))
    b_z = tl.load(p_z_t, boundary_check=(0, 1), padding_option="zero")
    p_y_t = tl.make_block_ptr(base=py, shape=(T, D), strides=(D, 1), offsets=(tl.program_id(0) * TILE_T, 0), block_shape=(TILE_T, TILE_D), order=(1, 0))
    tl.store(p_y_t, (b_x + b_z).to(py.dtype.element_ty), boundary_check=(0, 1))

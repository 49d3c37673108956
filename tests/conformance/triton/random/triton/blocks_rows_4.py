import triton
import triton.language as tl


@triton.jit
def kernel(
    x_ptr, y_ptr, w_ptr, T, D, BLOCK_SIZE_T: tl.constexpr, BLOCK_SIZE_D: tl.constexpr,
):
    p_x_t = tl.make_block_ptr(x_ptr, (T, D), (D, 1), (tl.program_id(0) * BLOCK_SIZE_T, 0), (BLOCK_SIZE_T, BLOCK_SIZE_D), (1, 0))
    b_x = tl.load(p_x_t, boundary_check=(1,))
    p_t_y = tl.make_block_ptr(y_ptr, (D, T), (T, 1), (0, tl.program_id(0) * BLOCK_SIZE_T), (BLOCK_SIZE_D, BLOCK_SIZE_T), (1, 0))
    tl.store(p_t_y, tl.trans(b_x).to(y_ptr.dtype.element_ty), boundary_check=(1,))

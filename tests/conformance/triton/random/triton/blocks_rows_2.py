import triton
import triton.language as tl


@triton.jit
def kernel(
    X,
    Y,
    W,
    T,
    D: tl.constexpr,
    BLOCK_T: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    p_x_t = tl.make_block_ptr(X, (T, D), (D, 1), (tl.program_id(0) * BLOCK_T, tl.program_id(1) * BLOCK_D), (BLOCK_T, BLOCK_D), (1, 0))
    b_x = tl.load(p_x_t, boundary_check=(1,))
    p_t_y = tl.make_block_ptr(Y, (D, T), (T, 1), (0, tl.program_id(0) * BLOCK_T), (BLOCK_D, BLOCK_T), (0, 1))
    tl.store(p_t_y, tl.trans(b_x).to(Y.dtype.element_ty), boundary_check=(0, 1))

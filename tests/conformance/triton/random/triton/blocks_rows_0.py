import triton
import triton.language as tl


@triton.jit
def kernel(
    x_ptr,
    y_ptr,
    w_ptr,
    T,
    D,
    BLOCK_T: tl.constexpr,
    BLOCK_D: tl.constexpr,
):
    p_x_t = tl.make_block_ptr(x_ptr, [T, D], [D, 1], [tl.program_id(0) * BLOCK_T, 0], [BLOCK_T, BLOCK_D], [1, 0])
    b_x = tl.load(p_x_t, boundary_check=(0, 1))
    e = tl.exp(b_x.to(tl.float32) - tl.max(b_x.to(tl.float32), 1)[:, None])
    p_y_t = tl.make_block_ptr(y_ptr, [T, D], [D, 1], [tl.program_id(0) * BLOCK_T, 0], [BLOCK_T, BLOCK_D], [1, 0])
    tl.store(p_y_t, (e / tl.sum(e, 1)[:, None]).to(y_ptr.dtype.element_ty), boundary_check=(0, 1))

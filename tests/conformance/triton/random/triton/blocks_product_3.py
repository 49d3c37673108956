import triton
import triton.language as tl


@triton.jit
def kernel(
    A, B, C, M, N, K, stride_am, stride_ak, stride_cm, stride_cn, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    p_a = tl.make_block_ptr(base=A, shape=[M, K], strides=[stride_am, stride_ak], offsets=[tl.program_id(0) * BLOCK_M, 0], block_shape=[BLOCK_M, BLOCK_K], order=[1, 0])
    p_b = tl.make_block_ptr(base=B, shape=[K, N], strides=[N, 1], offsets=[0, tl.program_id(1) * BLOCK_N], block_shape=[BLOCK_K, BLOCK_N], order=[1, 0])
    acc = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    for kk in range(0, K, BLOCK_K):
        b_a = tl.load(p_a, boundary_check=(0, 1), padding_option="zero")
        b_b = tl.load(p_b)
        acc += tl.dot(b_a, b_b, input_precision="ieee")
        p_a = tl.advance(p_a, [0, BLOCK_K])
        p_b = tl.advance(p_b, [BLOCK_K, 0])
    p_c = tl.make_block_ptr(base=C, shape=[M, N], strides=[stride_cm, stride_cn], offsets=[tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N], block_shape=[BLOCK_M, BLOCK_N], order=[1, 0])
    tl.store(p_c, acc.to(C.dtype.element_ty))

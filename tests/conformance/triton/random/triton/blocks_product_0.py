import triton
import triton.language as tl


@triton.jit
def kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_bk,
    stride_bn,
    stride_abatch,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
):
    a_of = a_ptr + tl.program_id(2) * M * K
    acc = tl.zeros([BLOCK_SIZE_M, BLOCK_SIZE_N], tl.float32)
    for kk in range(0, K, BLOCK_SIZE_K):
        p_a = tl.make_block_ptr(a_of, (M, K), (K, 1), (tl.program_id(0) * BLOCK_SIZE_M, kk), (BLOCK_SIZE_M, BLOCK_SIZE_K), (1, 0))
        p_b = tl.make_block_ptr(b_ptr, (K, N), (stride_bk, stride_bn), (kk, tl.program_id(1) * BLOCK_SIZE_N), (BLOCK_SIZE_K, BLOCK_SIZE_N), (1, 0))
        b_a = tl.load(p_a, boundary_check=(0,), padding_option="zero")
        b_b = tl.load(p_b, boundary_check=(0,), padding_option="zero")
        acc += tl.dot(b_a, b_b)
    p_c = tl.make_block_ptr(c_ptr, (M, N), (N, 1), (tl.program_id(0) * BLOCK_SIZE_M, tl.program_id(1) * BLOCK_SIZE_N), (BLOCK_SIZE_M, BLOCK_SIZE_N), (1, 0))
    tl.store(p_c, acc.to(c_ptr.dtype.element_ty), boundary_check=(0,))

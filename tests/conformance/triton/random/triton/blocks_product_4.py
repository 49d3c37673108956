import triton
import triton.language as tl


@triton.jit()
def kernel(
    A,
    B,
    C,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for kk in tl.range(0, K, BLOCK_K):
        p_a = tl.make_block_ptr(A, (M, K), (stride_am, stride_ak), (tl.program_id(0) * BLOCK_M, kk), (BLOCK_M, BLOCK_K), (1, 0))
        p_b = tl.make_block_ptr(B, (K, N), (stride_bk, stride_bn), (kk, tl.program_id(1) * BLOCK_N), (BLOCK_K, BLOCK_N), (1, 0))
        b_a = tl.load(p_a)
        b_b = tl.load(p_b, boundary_check=(0,))
        acc = tl.dot(b_a, b_b, acc)
    p_c = tl.make_block_ptr(C, (M, N), (stride_cm, stride_cn), (tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N), (BLOCK_M, BLOCK_N), (1, 0))
    tl.store(p_c, acc.to(C.dtype.element_ty), boundary_check=(0, 1))

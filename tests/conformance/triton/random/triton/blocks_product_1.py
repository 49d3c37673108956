import triton
import triton.language as tl


@triton.jit
def kernel(
    A,
    B,
    C,
    M,
    N,
    K,
    stride_cm,
    stride_cn,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
):
    bias_by = 2
    p_a = tl.make_block_ptr(A, [M, K], [K, 1], [tl.program_id(0) * BLOCK_M, 0], [BLOCK_M, BLOCK_K], [1, 0])
    p_b = tl.make_block_ptr(B, [K, N], [N, 1], [0, tl.program_id(1) * BLOCK_N], [BLOCK_K, BLOCK_N], [1, 0])
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for kk in range(tl.cdiv(K, BLOCK_K)):
        b_a = tl.load(p_a, boundary_check=(0, 1))
        b_b = tl.load(p_b, boundary_check=(1,))
        b_b = b_b * bias_by
        acc = tl.dot(b_a, b_b, acc)
        p_a = tl.advance(p_a, [0, BLOCK_K])
        p_b = tl.advance(p_b, [BLOCK_K, 0])
    p_c = tl.make_block_ptr(C, [M, N], [stride_cm, stride_cn], [tl.program_id(0) * BLOCK_M, tl.program_id(1) * BLOCK_N], [BLOCK_M, BLOCK_N], [1, 0])
    tl.store(p_c, acc.to(C.dtype.element_ty), boundary_check=(1,))

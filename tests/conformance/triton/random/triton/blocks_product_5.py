import triton
import triton.language as tl


@triton.jit
def kernel(
    pa,
    pb,
    pc,
    M,
    N,
    K,
    sb_k,
    sb_n,
    sc_m,
    sc_n,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
):
    p_a = tl.make_block_ptr(pa, [M, K], [K, 1], [tl.program_id(0) * TILE_M, 0], [TILE_M, TILE_K], [1, 0])
    p_b = tl.make_block_ptr(pb, [K, N], [sb_k, sb_n], [0, tl.program_id(1) * TILE_N], [TILE_K, TILE_N], [1, 0])
    acc = tl.zeros((TILE_M, TILE_N), tl.float32)
    for kk in range(0, K, TILE_K):
        b_a = tl.load(p_a, boundary_check=(0,))
        b_b = tl.load(p_b, boundary_check=(1,))
        acc = tl.dot(b_a, b_b, acc, input_precision="tf32x3")
        p_a = tl.advance(p_a, [0, TILE_K])
        p_b = p_b.advance([TILE_K, 0])
    p_c = tl.make_block_ptr(pc, [M, N], [sc_m, sc_n], [tl.program_id(0) * TILE_M, tl.program_id(1) * TILE_N], [TILE_M, TILE_N], [1, 0])
    tl.store(p_c, acc.to(pc.dtype.element_ty), boundary_check=(0, 1))

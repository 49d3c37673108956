import triton
import triton.language as tl


@triton.jit
def kernel(
    pa, pb, pc, M, N, K, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):
    acc = tl.zeros((TILE_M, TILE_N), dtype=tl.float32)
    for kk in range(0, tl.cdiv(K, TILE_K)):
        p_a = tl.make_block_ptr(pa, [M, K], [K, 1], [tl.program_id(0) * TILE_M, kk * TILE_K], [TILE_M, TILE_K], [1, 0])
        p_b = tl.make_block_ptr(pb, [K, N], [N, 1], [kk * TILE_K, tl.program_id(1) * TILE_N], [TILE_K, TILE_N], [1, 0])
        b_a = tl.load(p_a)
        b_b = tl.load(p_b, boundary_check=(0,))
        acc = tl.dot(b_a, b_b, acc, input_precision="ieee")
    p_c = tl.make_block_ptr(pc, [M, N], [N, 1], [tl.program_id(0) * TILE_M, tl.program_id(1) * TILE_N], [TILE_M, TILE_N], [1, 0])
    tl.store(p_c, acc.to(pc.dtype.element_ty))

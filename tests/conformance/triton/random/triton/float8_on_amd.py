import triton
import triton.language as tl


@triton.jit
def kernel(
    pa, pb, pc, pstarts, N, K, sa_m, sb_k, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):
    rm = tl.arange(0, TILE_M)
    rn = tl.arange(0, TILE_N)
    rk = tl.arange(0, TILE_K)
    start = tl.load(pstarts + tl.program_id(0)).to(tl.int32)
    start_of = start // 2
    m_at = start_of + rm
    acc = tl.zeros([TILE_M, TILE_N], tl.float32)
    for kk in range(0, K, TILE_K):
        k_at = kk + rk
        ptr_a = pa + (m_at[:, None] * sa_m + k_at[None, :])
        a_tile = tl.load(ptr_a)
        b_tile = tl.load(pb + (k_at[:, None] * sb_k + rn[None, :]))
        acc = tl.dot(a_tile, b_tile, acc)
    tl.store(pc + (rm[:, None] * N + rn[None, :]), acc.to(pc.dtype.element_ty), mask=rn[None, :] < N)

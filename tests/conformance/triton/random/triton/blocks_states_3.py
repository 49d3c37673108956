import triton
import triton.language as tl


@triton.jit
def kernel(
    pq, pk, pv, ph, po, T, K: tl.constexpr, V: tl.constexpr, TILE_T: tl.constexpr, TILE_K: tl.constexpr,
    TILE_V: tl.constexpr,
):
    i_k, i_v = tl.program_id(0), tl.program_id(1)
    b_h = tl.zeros((TILE_K, TILE_V), tl.float32)
    for i_t in range(0, T, TILE_T):
        p_k_t = tl.make_block_ptr(pk, (K, T), (1, K), (i_k * TILE_K, i_t), (TILE_K, TILE_T), (0, 1))
        p_v_t = tl.make_block_ptr(pv + tl.program_id(2) * K, (T, V), (V, 1), (i_t, i_v * TILE_V), (TILE_T, TILE_V), (1, 0))
        p_h_t = tl.make_block_ptr(ph + i_t * K * V, (K, V), (V, 1), (i_k * TILE_K, i_v * TILE_V), (TILE_K, TILE_V), (1, 0))
        tl.store(p_h_t, b_h.to(p_h_t.dtype.element_ty), boundary_check=(1,))
        b_k = tl.load(p_k_t)
        b_v = tl.load(p_v_t, boundary_check=(0, 1), padding_option="zero")
        b_h = b_h + tl.dot(b_k, b_v)
    p_ht = tl.make_block_ptr(ph, (K, V), (V, 1), (i_k * TILE_K, i_v * TILE_V), (TILE_K, TILE_V), (1, 0))
    tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), boundary_check=(0, 1))

import triton
import triton.language as tl


@triton.jit
def kernel(
    pq, pk, pv, ph, po, T, K: tl.constexpr, V: tl.constexpr, H: tl.constexpr, TILE_T: tl.constexpr,
    TILE_K: tl.constexpr, TILE_V: tl.constexpr,
):
    num = tl.constexpr(2.0)
    i_k, i_v = tl.program_id(0), tl.program_id(1)
    b_h = tl.zeros([TILE_K, TILE_V], tl.float32)
    for i_t in range(0, T, TILE_T):
        p_k_t = tl.make_block_ptr(pk, [K, T], [1, H * K], [i_k * TILE_K, i_t], [TILE_K, TILE_T], [0, 1])
        p_v_t = tl.make_block_ptr(pv, [T, V], [H * V, 1], [i_t, i_v * TILE_V], [TILE_T, TILE_V], [1, 0])
        b_k = tl.load(p_k_t)
        b_v = tl.load(p_v_t, boundary_check=(1,), padding_option="zero")
        p_q_t = tl.make_block_ptr(pq, [T, K], [H * K, 1], [i_t, i_k * TILE_K], [TILE_T, TILE_K], [1, 0])
        b_q = tl.load(p_q_t, boundary_check=(0,), padding_option="zero")
        b_out = tl.dot(b_q, b_h.to(b_q.dtype))
        b_out += tl.dot(tl.dot(b_q, b_k).to(b_v.dtype), b_v)
        p_o_t = tl.make_block_ptr(po, [T, V], [H * V, 1], [i_t, i_v * TILE_V], [TILE_T, TILE_V], [1, 0])
        tl.store(p_o_t, b_out.to(p_o_t.dtype.element_ty), boundary_check=(0,))
        b_h = tl.dot(b_k, (b_v * num).to(b_k.dtype), b_h)
    p_ht = tl.make_block_ptr(ph, [K, V], [V, 1], [i_k * TILE_K, i_v * TILE_V], [TILE_K, TILE_V], [1, 0])
    tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), boundary_check=(0, 1))

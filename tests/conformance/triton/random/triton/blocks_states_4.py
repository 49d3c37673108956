import triton
import triton.language as tl


@triton.jit
def kernel(
    q, k, v, h_2, o, T, K: tl.constexpr, V: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr,
):
    lim_c = 2.0
    factor = -1
    i_k, i_v = tl.program_id(0), tl.program_id(1)
    b_h = tl.zeros((BK, BV), dtype=tl.float32)
    for i_t in range(0, T, BT):
        p_k_t = tl.make_block_ptr(k, (K, T), (1, K), (i_k * BK, i_t), (BK, BT), (0, 1))
        p_v_t = tl.make_block_ptr(v + tl.program_id(2) * T * K, (T, V), (V, 1), (i_t, i_v * BV), (BT, BV), (1, 0))
        b_k = tl.load(p_k_t, boundary_check=(1,))
        b_k += factor
        b_v = tl.load(p_v_t, boundary_check=(0, 1))
        p_q_t = tl.make_block_ptr(q, (T, K), (K, 1), (i_t, i_k * BK), (BT, BK), (1, 0))
        b_q = tl.load(p_q_t, boundary_check=(0, 1), padding_option="zero")
        b_out = tl.dot(b_q, b_h.to(b_q.dtype))
        b_out += tl.dot(tl.dot(b_q, b_k).to(b_v.dtype), b_v)
        p_o_t = tl.make_block_ptr(o, (T, V), (V, 1), (i_t, i_v * BV), (BT, BV), (1, 0))
        tl.store(p_o_t, b_out.to(p_o_t.dtype.element_ty), boundary_check=(0, 1))
        b_h = tl.dot(b_k, (b_v * lim_c).to(b_k.dtype), b_h)
    p_ht = tl.make_block_ptr(h_2, (K, V), (V, 1), (i_k * BK, i_v * BV), (BK, BV), (1, 0))
    tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), boundary_check=(0, 1))

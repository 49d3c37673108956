import triton
import triton.language as tl


@triton.jit
def kernel(
    q_ptr, k_ptr, v_ptr, h_ptr, o_ptr, T, K: tl.constexpr, V: tl.constexpr, H: tl.constexpr,
    BLOCK_T: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_V: tl.constexpr,
):
    i_k, i_v = tl.program_id(0), tl.program_id(1)
    b_h = tl.zeros([BLOCK_K, BLOCK_V], dtype=tl.float32)
    p_h0 = tl.make_block_ptr(h_ptr, (K, V), (V, 1), (i_k * BLOCK_K, i_v * BLOCK_V), (BLOCK_K, BLOCK_V), (1, 0))
    b_h0 = tl.load(p_h0, boundary_check=(0,))
    b_h += b_h0.to(tl.float32)
    for i_t in range(0, T, BLOCK_T):
        p_k_t = tl.make_block_ptr(k_ptr, (K, T), (1, H * K), (i_k * BLOCK_K, i_t), (BLOCK_K, BLOCK_T), (0, 1))
        p_v_t = tl.make_block_ptr(v_ptr + tl.program_id(2) * T * K, (T, V), (H * V, 1), (i_t, i_v * BLOCK_V), (BLOCK_T, BLOCK_V), (1, 0))
        b_k = tl.load(p_k_t)
        b_v = tl.load(p_v_t, boundary_check=(0,))
        p_q_t = tl.make_block_ptr(q_ptr, (T, K), (H * K, 1), (i_t, i_k * BLOCK_K), (BLOCK_T, BLOCK_K), (1, 0))
        b_q = tl.load(p_q_t)
        b_out = tl.dot(b_q, b_h.to(b_q.dtype))
        p_o_t = tl.make_block_ptr(o_ptr, (T, V), (H * V, 1), (i_t, i_v * BLOCK_V), (BLOCK_T, BLOCK_V), (1, 0))
        tl.store(p_o_t, b_out.to(p_o_t.dtype.element_ty), boundary_check=(0,))
        b_h = b_h + tl.dot(b_k, b_v)
    p_ht = tl.make_block_ptr(h_ptr, (K, V), (V, 1), (i_k * BLOCK_K, i_v * BLOCK_V), (BLOCK_K, BLOCK_V), (1, 0))
    tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), boundary_check=(1,))

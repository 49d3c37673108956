import triton
import triton.language as tl


@triton.jit
def kernel(
    q_ptr, k_ptr, v_ptr, h_ptr, o_ptr, T, K: tl.constexpr, V: tl.constexpr, BLOCK_T: tl.constexpr,
    BLOCK_K: tl.constexpr, BLOCK_V: tl.constexpr,
):
    floor_at = False
    i_k, i_v = tl.program_id(0), tl.program_id(1)
    b_h = tl.zeros([BLOCK_K, BLOCK_V], tl.float32)
    p_h0 = tl.make_block_ptr(h_ptr, (K, V), (V, 1), (i_k * BLOCK_K, i_v * BLOCK_V), (BLOCK_K, BLOCK_V), (1, 0))
    b_h0 = tl.load(p_h0, boundary_check=(0, 1), padding_option="zero")
    b_h0 += floor_at
    b_h += b_h0.to(tl.float32)
    for i_t in range(0, T, BLOCK_T):
        p_k_t = tl.make_block_ptr(k_ptr, (K, T), (1, K), (i_k * BLOCK_K, i_t), (BLOCK_K, BLOCK_T), (0, 1))
        p_v_t = tl.make_block_ptr(v_ptr, (T, V), (V, 1), (i_t, i_v * BLOCK_V), (BLOCK_T, BLOCK_V), (1, 0))
        p_h_t = tl.make_block_ptr(h_ptr + i_t * K * V, (K, V), (V, 1), (i_k * BLOCK_K, i_v * BLOCK_V), (BLOCK_K, BLOCK_V), (1, 0))
        tl.store(p_h_t, b_h.to(p_h_t.dtype.element_ty), boundary_check=(1,))
        b_k = tl.load(p_k_t, boundary_check=(0,), padding_option="zero")
        b_v = tl.load(p_v_t, boundary_check=(0, 1))
        b_h += tl.dot(b_k, b_v)
    p_ht = tl.make_block_ptr(h_ptr, (K, V), (V, 1), (i_k * BLOCK_K, i_v * BLOCK_V), (BLOCK_K, BLOCK_V), (1, 0))
    tl.store(p_ht, b_h.to(p_ht.dtype.element_ty))

import triton
import triton.language as tl


@triton.jit
def kernel(
    Q, K, V, H, O, T, K_2: tl.constexpr, V_2: tl.constexpr, BLOCK_T: tl.constexpr, BLOCK_K: tl.constexpr,
    BLOCK_V: tl.constexpr,
):
    i_k, i_v = tl.program_id(0), tl.program_id(1)
    b_h = tl.zeros([BLOCK_K, BLOCK_V], tl.float32)
    p_h0 = tl.make_block_ptr(base=H, shape=(K_2, V_2), strides=(V_2, 1), offsets=(i_k * BLOCK_K, i_v * BLOCK_V), block_shape=(BLOCK_K, BLOCK_V), order=(1, 0))
    b_h0 = tl.load(p_h0, boundary_check=(0,), padding_option="zero")
    b_h += b_h0.to(tl.float32)
    for i_t in tl.range(0, T, BLOCK_T):
        p_k_t = tl.make_block_ptr(base=K + tl.program_id(2) * K_2, shape=(K_2, T), strides=(1, K_2), offsets=(i_k * BLOCK_K, i_t), block_shape=(BLOCK_K, BLOCK_T), order=(0, 1))
        p_v_t = tl.make_block_ptr(base=V + tl.program_id(2) * K_2, shape=(T, V_2), strides=(V_2, 1), offsets=(i_t, i_v * BLOCK_V), block_shape=(BLOCK_T, BLOCK_V), order=(1, 0))
        b_k = tl.load(p_k_t, boundary_check=(0, 1))
        b_v = tl.load(p_v_t, boundary_check=(1,), padding_option="zero")
        b_h = tl.dot(b_k, b_v, acc=b_h)
    p_ht = tl.make_block_ptr(base=H, shape=(K_2, V_2), strides=(V_2, 1), offsets=(i_k * BLOCK_K, i_v * BLOCK_V), block_shape=(BLOCK_K, BLOCK_V), order=(1, 0))
    tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), boundary_check=(0,))

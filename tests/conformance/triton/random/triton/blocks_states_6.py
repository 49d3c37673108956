import triton
import triton.language as tl


@triton.jit
def kernel(
    q_ptr, k_ptr, v_ptr, h_ptr, o_ptr, T, K: tl.constexpr, V: tl.constexpr, H: tl.constexpr,
    BLOCK_T: tl.constexpr, BLOCK_K: tl.constexpr, BLOCK_V: tl.constexpr,
):
    i_k, i_v = tl.program_id(0), tl.program_id(1)
    b_h = tl.zeros([BLOCK_K, BLOCK_V], dtype=tl.float32)
    for i_t in tl.range(0, T, BLOCK_T, num_stages=1, flatten=True):
        p_k_t = tl.make_block_ptr(base=k_ptr, shape=[K, T], strides=[1, H * K], offsets=[i_k * BLOCK_K, i_t], block_shape=[BLOCK_K, BLOCK_T], order=[0, 1])
        p_v_t = tl.make_block_ptr(base=v_ptr + tl.program_id(2) * K, shape=[T, V], strides=[H * V, 1], offsets=[i_t, i_v * BLOCK_V], block_shape=[BLOCK_T, BLOCK_V], order=[1, 0])
        b_k = tl.load(p_k_t, boundary_check=(1,))
        b_v = tl.load(p_v_t, boundary_check=(1,), padding_option="zero")
        p_q_t = tl.make_block_ptr(base=q_ptr + tl.program_id(2) * K, shape=[T, K], strides=[H * K, 1], offsets=[i_t, i_k * BLOCK_K], block_shape=[BLOCK_T, BLOCK_K], order=[1, 0])
        b_q = tl.load(p_q_t, boundary_check=(0, 1), padding_option="zero")
        b_out = tl.dot(b_q, b_h.to(b_q.dtype))
        p_o_t = tl.make_block_ptr(base=o_ptr, shape=[T, V], strides=[H * V, 1], offsets=[i_t, i_v * BLOCK_V], block_shape=[BLOCK_T, BLOCK_V], order=[1, 0])
        tl.store(p_o_t, b_out.to(p_o_t.dtype.element_ty), boundary_check=(0,))
        b_h += tl.dot(b_k, b_v)
    p_ht = tl.make_block_ptr(base=h_ptr, shape=[K, V], strides=[V, 1], offsets=[i_k * BLOCK_K, i_v * BLOCK_V], block_shape=[BLOCK_K, BLOCK_V], order=[1, 0])
    tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), boundary_check=(0,))

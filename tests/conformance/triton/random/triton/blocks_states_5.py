import triton
import triton.language as tl


@triton.jit
def kernel(
    q, k, v, h_2, o, T, K: tl.constexpr, V: tl.constexpr, H: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr,
    BV: tl.constexpr, STAGES: tl.constexpr,
):
    i_k, i_v = tl.program_id(0), tl.program_id(1)
    b_h = tl.zeros((BK, BV), tl.float32)
    p_h0 = tl.make_block_ptr(base=h_2, shape=[K, V], strides=[V, 1], offsets=[i_k * BK, i_v * BV], block_shape=[BK, BV], order=[1, 0])
    b_h0 = tl.load(p_h0, boundary_check=(0, 1))
    b_h += b_h0.to(tl.float32)
    for i_t in tl.range(0, T, BT, num_stages=STAGES):
        p_k_t = tl.make_block_ptr(base=k + tl.program_id(2) * T * K, shape=[K, T], strides=[1, H * K], offsets=[i_k * BK, i_t], block_shape=[BK, BT], order=[0, 1])
        p_v_t = tl.make_block_ptr(base=v, shape=[T, V], strides=[H * V, 1], offsets=[i_t, i_v * BV], block_shape=[BT, BV], order=[1, 0])
        b_k = tl.load(p_k_t, boundary_check=(1,), padding_option="zero")
        b_v = tl.load(p_v_t, boundary_check=(0,), padding_option="zero")
        b_h += tl.dot(b_k, b_v)
    p_ht = tl.make_block_ptr(base=h_2, shape=[K, V], strides=[V, 1], offsets=[i_k * BK, i_v * BV], block_shape=[BK, BV], order=[1, 0])
    tl.store(p_ht, b_h.to(p_ht.dtype.element_ty), boundary_check=(0,))

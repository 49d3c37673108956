import triton
import triton.language as tl


@triton.jit
def kernel(
    q_ptr, k_ptr, v_ptr, o_ptr, N_CTX, sm_scale, HEAD_DIM: tl.constexpr, BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
):
    start_m = tl.program_id(0)
    offset = tl.program_id(1).to(tl.int64) * N_CTX * HEAD_DIM
    p_q_m = tl.make_block_ptr(base=q_ptr + offset, shape=(N_CTX, HEAD_DIM), strides=(HEAD_DIM, 1), offsets=(start_m * BLOCK_M, 0), block_shape=(BLOCK_M, HEAD_DIM), order=(1, 0))
    p_k_n = tl.make_block_ptr(base=k_ptr + offset, shape=(HEAD_DIM, N_CTX), strides=(1, HEAD_DIM), offsets=(0, 0), block_shape=(HEAD_DIM, BLOCK_N), order=(0, 1))
    p_v_n = tl.make_block_ptr(base=v_ptr + offset, shape=(N_CTX, HEAD_DIM), strides=(HEAD_DIM, 1), offsets=(0, 0), block_shape=(BLOCK_N, HEAD_DIM), order=(1, 0))
    b_q = tl.load(p_q_m, boundary_check=(0,))
    acc = tl.zeros((BLOCK_M, HEAD_DIM), dtype=tl.float32)
    m_i = tl.full((BLOCK_M,), float('-inf'), tl.float32)
    l_i = tl.zeros((BLOCK_M,), tl.float32)
    for start_n in range(0, N_CTX, BLOCK_N):
        b_k = tl.load(p_k_n, boundary_check=(0,))
        s = tl.dot(b_q, b_k)
        m_new = tl.maximum(m_i, tl.max(s, 1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(s - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        b_v = tl.load(p_v_n)
        acc += tl.dot(p.to(b_v.dtype), b_v)
        m_i = m_new
        p_k_n = tl.advance(p_k_n, (0, BLOCK_N))
        p_v_n = tl.advance(p_v_n, (BLOCK_N, 0))
    p_o_m = tl.make_block_ptr(base=o_ptr + offset, shape=(N_CTX, HEAD_DIM), strides=(HEAD_DIM, 1), offsets=(start_m * BLOCK_M, 0), block_shape=(BLOCK_M, HEAD_DIM), order=(1, 0))
    tl.store(p_o_m, (acc / l_i[:, None]).to(o_ptr.dtype.element_ty), boundary_check=(0, 1))

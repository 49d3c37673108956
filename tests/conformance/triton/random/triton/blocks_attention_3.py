import triton
import triton.language as tl


@triton.jit(do_not_specialize=[])
def kernel(
    pq, pk, pv, po, N_CTX, sm_scale, HEAD_DIM: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):
    start_m = tl.program_id(0)
    offset = tl.program_id(1).to(tl.int64) * N_CTX * HEAD_DIM
    p_q_m = tl.make_block_ptr(pq + offset, (N_CTX, HEAD_DIM), (HEAD_DIM, 1), (start_m * TILE_M, 0), (TILE_M, HEAD_DIM), (1, 0))
    p_k_n = tl.make_block_ptr(pk + offset, (HEAD_DIM, N_CTX), (1, HEAD_DIM), (0, 0), (HEAD_DIM, TILE_N), (0, 1))
    p_v_n = tl.make_block_ptr(pv + offset, (N_CTX, HEAD_DIM), (HEAD_DIM, 1), (0, 0), (TILE_N, HEAD_DIM), (1, 0))
    b_q = tl.load(p_q_m, boundary_check=(1,), padding_option="zero")
    acc = tl.zeros([TILE_M, HEAD_DIM], dtype=tl.float32)
    m_i = tl.full((TILE_M,), float('-inf'), tl.float32)
    l_i = tl.zeros((TILE_M,), tl.float32)
    for start_n in range(0, N_CTX, TILE_N):
        b_k = tl.load(p_k_n)
        s = tl.dot(b_q, b_k)
        m_new = tl.maximum(m_i, tl.max(s, 1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(s - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        b_v = tl.load(p_v_n)
        acc = acc + tl.dot(p.to(b_v.dtype), b_v)
        m_i = m_new
        p_k_n = p_k_n.advance((0, TILE_N))
        p_v_n = p_v_n.advance((TILE_N, 0))
    p_o_m = tl.make_block_ptr(po + offset, (N_CTX, HEAD_DIM), (HEAD_DIM, 1), (start_m * TILE_M, 0), (TILE_M, HEAD_DIM), (1, 0))
    tl.store(p_o_m, (acc / l_i[:, None]).to(po.dtype.element_ty), boundary_check=(0, 1))

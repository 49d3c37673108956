import triton
import triton.language as tl


@triton.jit
def kernel(
    q, k, v, o, N_CTX, sm_scale, BLOCK_D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):
    start_m = tl.program_id(0)
    offset = tl.program_id(1).to(tl.int64) * N_CTX * BLOCK_D
    p_q_m = tl.make_block_ptr(q + offset, (N_CTX, BLOCK_D), (BLOCK_D, 1), (start_m * BM, 0), (BM, BLOCK_D), (1, 0))
    p_k_n = tl.make_block_ptr(k + offset, (BLOCK_D, N_CTX), (1, BLOCK_D), (0, 0), (BLOCK_D, BN), (0, 1))
    p_v_n = tl.make_block_ptr(v + offset, (N_CTX, BLOCK_D), (BLOCK_D, 1), (0, 0), (BN, BLOCK_D), (1, 0))
    b_q = tl.load(p_q_m, boundary_check=(1,), padding_option="zero")
    acc = tl.zeros((BM, BLOCK_D), dtype=tl.float32)
    m_i = tl.full((BM,), float('-inf'), tl.float32)
    l_i = tl.zeros((BM,), tl.float32)
    for start_n in range(0, N_CTX, BN):
        b_k = tl.load(p_k_n, boundary_check=(0, 1))
        s = tl.dot(b_q, b_k)
        m_new = tl.maximum(m_i, tl.max(s, 1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(s - m_new[:, None])
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        b_v = tl.load(p_v_n, boundary_check=(0, 1), padding_option="zero")
        acc = tl.dot(p.to(b_v.dtype), b_v, acc)
        m_i = m_new
        p_k_n = p_k_n.advance((0, BN))
        p_v_n = tl.advance(p_v_n, (BN, 0))
    p_o_m = tl.make_block_ptr(o + offset, (N_CTX, BLOCK_D), (BLOCK_D, 1), (start_m * BM, 0), (BM, BLOCK_D), (1, 0))
    tl.store(p_o_m, (acc / l_i[:, None]).to(o.dtype.element_ty), boundary_check=(0, 1))

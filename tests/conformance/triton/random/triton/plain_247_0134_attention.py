import triton
import triton.language as tl


@triton.jit
def tanh(x):
    # via the logistic function
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    lse_ptr,
    sm_scale,
    seqlen_k,
    q_stride_m,
    k_stride_n,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    D: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_hz = tl.program_id(1).to(tl.int64)
    m_offsets = start_m * BLOCK_M + tl.arange(0, BLOCK_M)
    n_offsets = tl.arange(0, BLOCK_N)
    d_offsets = tl.arange(0, D)
    q = tl.load(q_ptr + (m_offsets[:, None] * q_stride_m + d_offsets[None, :]))
    q = (q * sm_scale).to(q.dtype)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    for start_n in range(tl.cdiv(seqlen_k, BLOCK_N)):
        kv = start_n * BLOCK_N + n_offsets
        k_ptrs = k_ptr + d_offsets[:, None] + kv[None, :] * k_stride_n
        k = tl.load(k_ptrs)
        v_ptrs = v_ptr + (kv[:, None] * k_stride_n + d_offsets[None, :])
        v = tl.load(v_ptrs)
        qk = tl.dot(q, k)
        qk = qk * sm_scale
        qk = tanh(qk)
        m_new = tl.maximum(m_i, tl.max(qk, axis=1))
        p = tl.exp(qk - m_new[:, None])
        alpha = tl.exp(m_i - m_new)
        l_new = l_i * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(v_ptr.dtype.element_ty), v, acc)
        m_i = m_new
        l_i = l_new
    acc = acc / l_i[:, None]
    m_i += tl.log(l_i)
    tl.store(lse_ptr + off_hz * seqlen_k + m_offsets, m_i)
    tl.store(o_ptr + m_offsets[:, None] * q_stride_m + d_offsets[None, :], acc.to(o_ptr.dtype.element_ty))

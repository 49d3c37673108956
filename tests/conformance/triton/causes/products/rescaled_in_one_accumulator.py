import triton
import triton.language as tl


@triton.jit
def kernel(
    q_ptr,
    k_ptr,
    v_ptr,
    o_ptr,
    lse_ptr,
    sm_scale,
    T,
    stride_qm,
    stride_kn,
    ct_ptr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    HEAD_DIM: tl.constexpr,
    CAUSAL: tl.constexpr,
    NUM_STAGES: tl.constexpr,
):
    start_m = tl.program_id(0)
    off_hz = tl.program_id(1)
    offs_m = start_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = tl.arange(0, BLOCK_SIZE_N)
    offs_d = tl.arange(0, HEAD_DIM)
    q = tl.load(q_ptr + offs_m[:, None] * stride_qm + offs_d[None, :])
    q = (q * sm_scale).to(q.dtype)
    m_i = tl.full((BLOCK_SIZE_M,), float("-inf"), tl.float32)
    l_i = tl.zeros([BLOCK_SIZE_M], dtype=tl.float32)
    acc = tl.zeros((BLOCK_SIZE_M, HEAD_DIM), tl.float32)
    hi = min((start_m + 1) * BLOCK_SIZE_M, T) if CAUSAL else T
    for i_s in tl.range(0, hi, BLOCK_SIZE_N, num_stages=NUM_STAGES, flatten=True, disallow_acc_multi_buffer=True):
        kv = i_s + offs_n
        k_ptrs = k_ptr + (offs_d[:, None] + kv[None, :] * stride_kn)
        k = tl.load(k_ptrs, mask=kv[None, :] < T, other=0.0)
        v = tl.load(v_ptr + kv[:, None] * stride_kn + offs_d[None, :], mask=kv[:, None] < T, other=0.0)
        qk = tl.dot(q, k)
        qk = qk * sm_scale
        if CAUSAL:
            qk = tl.where(offs_m[:, None] >= kv[None, :], qk, float("-inf"))
        qk = tl.where(kv[None, :] < T, qk, float("-inf"))
        m_new = tl.maximum(m_i, tl.max(qk, 1))
        alpha = tl.exp(m_i - m_new)
        p = tl.exp(qk - m_new[:, None])
        l_new = l_i * alpha + tl.sum(p, axis=1)
        acc = acc * alpha[:, None]
        acc = tl.dot(p.to(v.dtype), v, acc)
        m_i = m_new
        l_i = l_new
    acc = acc / l_i[:, None]
    m_i += tl.math.log2(l_i)
    tl.store(lse_ptr + off_hz * T + offs_m, m_i)
    tl.store(ct_ptr + (offs_d[:, None] * stride_qm + offs_m[None, :]), tl.trans(acc).to(ct_ptr.dtype.element_ty))
    tl.store(o_ptr + offs_m[:, None] * stride_qm + offs_d[None, :], acc)

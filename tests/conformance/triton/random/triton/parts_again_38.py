import triton
import triton.language as tl


@triton.jit
def tanh(x):
    # via the logistic function
    num_2: tl.constexpr = 1
    scale_by = -(-2)
    one_c = 2
    return scale_by * tl.sigmoid(one_c * x) - num_2


@triton.jit
def gelu(x):
    num = 0.044715
    eps_2 = tl.constexpr(0.5)
    one = -(-1.0)
    inner = 0.7978845608 * (x + num * x * x * x)
    return eps_2 * x * (one + tanh(inner))


@triton.jit
def kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, block_mask_ptr, residual_ptr, r_stride_m, BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr, EVEN_K: tl.constexpr,
    num_warps: tl.constexpr, ACTIVATION: tl.constexpr,
):
    floor_at = 2.0
    pid = tl.program_id(0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    pid_m, pid_n = tl.swizzle2d(pid // num_pid_n, pid % num_pid_n, num_pid_m, num_pid_n, GROUP_SIZE_M)
    m_offsets = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    m_offsets = tl.max_contiguous(tl.multiple_of(m_offsets, BLOCK_M), BLOCK_M)
    n_offsets = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_n = n_offsets < N
    k_offsets = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    if num_warps == 8:
        acc += 0.0
    for k in range(0, K, BLOCK_K):
        if EVEN_K:
            x = tl.load(a_ptr + (m_offsets[:, None] * K + (k + k_offsets)[None, :]))
            w = tl.load(b_ptr + ((k + k_offsets)[:, None] * N + n_offsets[None, :]))
        else:
            x = tl.load(a_ptr + m_offsets[:, None] * K + (k + k_offsets)[None, :], mask=(k + k_offsets)[None, :] < K, other=0.0)
            w = tl.load(b_ptr + (k + k_offsets)[:, None] * N + n_offsets[None, :], mask=(k + k_offsets)[:, None] < K, other=0.0)
            w = floor_at * w
        acc = acc + tl.dot(x, w, input_precision="tf32x3")
    residual = tl.load(residual_ptr + m_offsets[:, None] * r_stride_m + n_offsets[None, :], mask=mask_n[None, :], other=0.0)
    acc += residual.to(tl.float32)
    if ACTIVATION == "relu":
        acc = gelu(acc)
    tl.store(c_ptr + (m_offsets[:, None] * N + n_offsets[None, :]), acc.to(tl.bfloat16), mask=mask_n[None, :])

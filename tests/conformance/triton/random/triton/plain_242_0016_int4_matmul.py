import triton
import triton.language as tl


@triton.jit
def grouped_pids(pid, num_pid_m, num_pid_n, GROUP_M: tl.constexpr):
    width = GROUP_M * num_pid_n
    group = pid // width
    first = group * GROUP_M
    size = tl.minimum(num_pid_m - first, GROUP_M)
    return first + (pid % width) % size, (pid % width) // size


@triton.jit
def relu(x):
    return tl.maximum(x, 0.0)


@triton.jit
def kernel(
    a_ptr, qweight_ptr, c_ptr, scales_ptr, M, N, K, a_stride_m, b_stride_k, bias_ptr, GROUP_SIZE: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr,
    ACTIVATION: tl.constexpr,
):
    pid = tl.program_id(axis=0)
    num_pid_m = tl.cdiv(M, BLOCK_M)
    num_pid_n = tl.cdiv(N, BLOCK_N)
    pid_m, pid_n = grouped_pids(pid, num_pid_m, num_pid_n, GROUP_SIZE_M)
    m_offsets = (pid_m * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    m_offsets = tl.max_contiguous(tl.multiple_of(m_offsets, BLOCK_M), BLOCK_M)
    n_offsets = pid_n * BLOCK_N + tl.arange(0, BLOCK_N)
    mask_n = n_offsets < N
    k_offsets = tl.arange(0, BLOCK_K)
    accumulator = tl.zeros([BLOCK_M, BLOCK_N], tl.float32)
    packed_offsets = tl.arange(0, BLOCK_K // 2)
    for k in range(0, K, BLOCK_K):
        x_ptrs = a_ptr + m_offsets[:, None] * a_stride_m + (k_offsets + k)[None, :]
        x = tl.load(x_ptrs)
        q = tl.load(qweight_ptr + (k // 2 + packed_offsets[:, None]) * b_stride_k + n_offsets[None, :], eviction_policy="evict_first")
        low = (q & 0xF).to(tl.float32)
        high = ((q >> 4) & 0xF).to(tl.float32)
        w = tl.reshape(tl.permute(tl.join(low, high), (0, 2, 1)), (BLOCK_K, BLOCK_N))
        scale = tl.load(scales_ptr + (k // GROUP_SIZE) * N + n_offsets)
        w = (w - 8.0) * scale[None, :].to(tl.float32)
        accumulator += tl.dot(x, w.to(a_ptr.dtype.element_ty))
    if bias_ptr is not None:
        accumulator += tl.load(bias_ptr + n_offsets, mask=mask_n, other=0.0).to(tl.float32)[None, :]
    if ACTIVATION == "relu":
        accumulator = relu(accumulator)
    tl.store(c_ptr + (m_offsets[:, None] * N + n_offsets[None, :]), accumulator.to(c_ptr.dtype.element_ty), mask=mask_n[None, :])

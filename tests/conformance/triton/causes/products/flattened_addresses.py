import triton
import triton.language as tl


@triton.jit
def relu(x):
    return tl.maximum(x, 0.0)


@triton.jit
def kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    stride_bk,
    stride_cm,
    stride_cn,
    bias_ptr,
    K: tl.constexpr,
    BLOCK_SIZE_M: tl.constexpr,
    BLOCK_SIZE_N: tl.constexpr,
    BLOCK_SIZE_K: tl.constexpr,
    NUM_SMS: tl.constexpr,
    STAGES: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    start_pid = tl.program_id(0)
    num_tiles = tl.cdiv(M, BLOCK_SIZE_M) * tl.cdiv(N, BLOCK_SIZE_N)
    for tile_id in tl.range(start_pid, num_tiles, NUM_SMS, num_stages=STAGES, flatten=True):
        num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
        num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
        num_pid_in_group = GROUP_M * num_pid_n
        group_id = tile_id // num_pid_in_group
        first_pid_m = group_id * GROUP_M
        group_size_m = min(num_pid_m - first_pid_m, GROUP_M)
        pid_m = first_pid_m + ((tile_id % num_pid_in_group) % group_size_m)
        pid_n = (tile_id % num_pid_in_group) // group_size_m
        offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
        m_mask = offs_m < M
        offs_n = (pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)) % N
        offs_k = tl.arange(0, BLOCK_SIZE_K)
        accumulator = tl.zeros([BLOCK_SIZE_M, BLOCK_SIZE_N], dtype=tl.float32)
        for k in range(0, K, BLOCK_SIZE_K):
            kk = k + offs_k
            a = tl.load(a_ptr + offs_m[:, None] * K + kk[None, :], mask=m_mask[:, None], other=0.0)
            b = tl.load(b_ptr + kk[:, None] * stride_bk + offs_n[None, :])
            accumulator += tl.dot(a, b)
        offs_cn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
        cn_mask = offs_cn < N
        if bias_ptr is not None:
            accumulator += tl.load(bias_ptr + offs_cn, mask=cn_mask, other=0.0).to(tl.float32)[None, :]
        accumulator = relu(accumulator)
        out = accumulator.to(c_ptr.dtype.element_ty)
        tl.store(c_ptr + (offs_m[:, None] * stride_cm + offs_cn[None, :] * stride_cn), out, mask=m_mask[:, None] & cn_mask[None, :])

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
def leaky_relu(x, slope: tl.constexpr = 0.01):
    return tl.where(x >= 0, x, slope * x)


@triton.jit
def kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_am, stride_ak, stride_bk, stride_cm, row_scale_ptr,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, NUM_SMS: tl.constexpr,
    GROUP_M: tl.constexpr,
):
    start_pid = tl.program_id(0)
    num_tiles = tl.cdiv(M, BLOCK_SIZE_M) * tl.cdiv(N, BLOCK_SIZE_N)
    for tile_id in tl.range(start_pid, num_tiles, NUM_SMS):
        num_pid_m = tl.cdiv(M, BLOCK_SIZE_M)
        num_pid_n = tl.cdiv(N, BLOCK_SIZE_N)
        pid_m, pid_n = grouped_pids(tile_id, num_pid_m, num_pid_n, GROUP_M)
        offs_m = (pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)) % M
        offs_n = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
        offs_n = offs_n.to(tl.int64)
        n_mask = offs_n < N
        offs_k = tl.arange(0, BLOCK_SIZE_K)
        acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32)
        k_tiles = tl.cdiv(K, BLOCK_SIZE_K)
        for k in range(0, k_tiles):
            kk = k * BLOCK_SIZE_K + offs_k
            a = tl.load(a_ptr + tl.expand_dims(offs_m, 1) * stride_am + tl.expand_dims(kk, 0) * stride_ak, mask=kk[None, :] < K, other=0.0, eviction_policy="evict_last")
            b = tl.load(b_ptr + kk[:, None] * stride_bk + offs_n[None, :], mask=kk[:, None] < K, other=0.0)
            a = relu(a.to(tl.float32)).to(b_ptr.dtype.element_ty)
            acc += tl.dot(a, b)
        offs_cm = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
        cm_mask = offs_cm < M
        offs_cn = pid_n * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
        cn_mask = offs_cn < N
        row_scale = tl.load(row_scale_ptr + offs_cm, mask=cm_mask, other=1.0)
        acc *= row_scale[:, None]
        acc = leaky_relu(acc)
        tl.store(c_ptr + (offs_cm[:, None] * stride_cm + offs_cn[None, :]), acc, mask=cm_mask[:, None] & cn_mask[None, :])

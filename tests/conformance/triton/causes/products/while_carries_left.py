import triton
import triton.language as tl


@triton.jit
def leaky_relu(x, slope: tl.constexpr = 0.01):
    return tl.where(x >= 0, x, slope * x)


@triton.jit
def kernel(
    pa,
    pb,
    pc,
    M,
    N,
    K,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
    TILE_K: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
):
    pid = tl.program_id(0)
    num_pid_m = tl.cdiv(M, TILE_M)
    num_pid_n = tl.cdiv(N, TILE_N)
    pid_m, pid_n = tl.swizzle2d(pid // num_pid_n, pid % num_pid_n, num_pid_m, num_pid_n, GROUP_SIZE_M)
    rm = pid_m * TILE_M + tl.arange(0, TILE_M)
    mm = rm < M
    rn = pid_n * TILE_N + tl.arange(0, TILE_N)
    mn = rn < N
    rk = tl.arange(0, TILE_K)
    a_at = pa + rm[:, None] * K + rk[None, :]
    b_at = pb + tl.expand_dims(rk, 1) * N + tl.expand_dims(rn, 0)
    x = tl.load(a_at)
    w = tl.load(b_at)
    acc = tl.zeros([TILE_M, TILE_N], tl.float32)
    k = 0
    while k < K - TILE_K:
        a_at += TILE_K
        b_at += TILE_K * N
        next_x = tl.load(a_at)
        acc = tl.dot(x, w, acc)
        x = next_x
        w = tl.load(b_at)
        k += TILE_K
    acc += tl.dot(x, w)
    acc = leaky_relu(acc)
    out_tile = acc.to(pc.dtype.element_ty)
    tl.store(pc + rm[:, None] * N + rn[None, :], out_tile, mask=(mm[:, None]) & (mn[None, :]))

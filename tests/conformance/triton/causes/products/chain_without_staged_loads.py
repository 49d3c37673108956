import triton
import triton.language as tl


@triton.jit
def kernel(
    c,
    M,
    N,
    K,
    a,
    s_a_m,
    s_a_k,
    b,
    d,
    s_d_k,
    s_d_n,
    e,
    s_e_m,
    f,
    s_f_k,
    bias,
    total,
    s_c_m,
    s_c_n,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP_SIZE_M: tl.constexpr,
):
    pid = tl.program_id(0)
    num_pid_m = tl.cdiv(M, BM)
    num_pid_n = tl.cdiv(N, BN)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = tl.minimum(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    o_m = pid_m * BM + tl.arange(0, BM)
    m_m = o_m < M
    o_n = pid_n * BN + tl.arange(0, BN)
    m_n = o_n < N
    o_k = tl.arange(0, BK)
    accumulator = tl.zeros((BM, BN), dtype=tl.float32)
    acc_2 = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        kk = k + o_k
        a_tile = tl.load(a + o_m[:, None] * s_a_m + kk[None, :] * s_a_k)
        b_tile = tl.load(b + kk[:, None] * N + o_n[None, :])
        d_tile = tl.load(d + (kk[:, None] * s_d_k + o_n[None, :] * s_d_n))
        e_tile = tl.load(e + (o_m[:, None] * s_e_m + kk[None, :]))
        f_tile = tl.load(f + kk[:, None] * s_f_k + o_n[None, :])
        accumulator = tl.dot(a_tile, b_tile, acc=accumulator)
        acc_2 = tl.dot(a_tile, d_tile, acc_2)
        acc_2 += tl.dot(e_tile, f_tile)
    accumulator = accumulator + acc_2
    if bias is not None:
        accumulator += tl.load(bias + o_n, mask=m_n, other=0.0).to(tl.float32)[None, :]
    tl.atomic_add(total, tl.sum(accumulator))
    b_out = accumulator.to(c.dtype.element_ty)
    tl.store(c + o_m[:, None] * s_c_m + o_n[None, :] * s_c_n, b_out, mask=(m_m[:, None]) & (m_n[None, :]))

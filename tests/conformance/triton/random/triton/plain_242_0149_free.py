import triton
import triton.language as tl


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def kernel(
    n, A, B, C, OUT, VEC, stride_xrow, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
    STAGES: tl.constexpr,
):
    offs_m = tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    offs_k = tl.arange(0, BLOCK_K)
    t_block = A + offs_m[:, None] * stride_xrow + offs_k[None, :]
    t_val = tl.load(t_block)
    t_val_2 = tl.load(A + (offs_n[:, None] * stride_xrow + offs_m[None, :]))
    v = t_val_2.to(tl.float32) + t_val_2
    acc = tl.zeros([BLOCK_M, BLOCK_K], tl.float32)
    acc_2 = tl.zeros((BLOCK_N, BLOCK_K), dtype=tl.float32)
    for off in tl.range(0, tl.cdiv(n, BLOCK_N), num_stages=4):
        t_val_3 = tl.load(B + ((off * BLOCK_N + offs_m)[:, None] + offs_m[None, :] * stride_xrow))
        x = tl.trans(t_val)
        h_2 = tl.where(offs_m[:, None] >= offs_m[None, :], t_val_3.to(tl.float32), 0.0)
        v_2 = t_val.to(tl.float32) + t_val
        acc = tl.dot(t_val_3, tl.trans(x), acc=acc)
        acc_2 += tl.dot(v.to(A.dtype.element_ty), t_val)
        tl.store(OUT + 4096 + off * BLOCK_N + offs_n[:, None] * stride_xrow + offs_m[None, :], t_val_2.to(OUT.dtype.element_ty))
    u = silu(acc)
    e = v.to(A.dtype.element_ty)
    v_3 = u.to(tl.float32) - t_val
    acc_3 = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for off_2 in tl.range(0, tl.cdiv(n, BLOCK_K), num_stages=STAGES):
        t_val_4 = tl.load(B + offs_n[:, None] * stride_xrow + (off_2 * BLOCK_K + offs_n)[None, :])
        t_val_5 = tl.load(B + offs_m[:, None] * stride_xrow + (off_2 * BLOCK_K + offs_n)[None, :], mask=(off_2 * BLOCK_K + offs_n)[None, :] < n, other=0)
        v_4 = t_val_5.to(tl.float32) + t_val_5
        p = tl.dot(tl.trans(v).to(A.dtype.element_ty), acc_2.to(A.dtype.element_ty), allow_tf32=False)
        acc_3 = tl.dot(tl.trans(e), tl.trans(t_val_4), acc_3)
        if off_2 * BLOCK_K > 64:
            acc_3 = acc_3 * 0.5
    e_2 = acc.to(A.dtype.element_ty)
    x_2 = tl.trans(acc_3)
    p_2 = tl.dot(acc_2.to(A.dtype.element_ty), tl.trans(u).to(A.dtype.element_ty), input_precision="tf32")
    tl.store(OUT + 8192 + offs_m[:, None] * stride_xrow + offs_k[None, :], v_3.to(OUT.dtype.element_ty))
    tl.store(OUT + 12288 + (offs_m[:, None] * stride_xrow + offs_k[None, :]), e_2.to(OUT.dtype.element_ty))
    tl.store(OUT + 16384 + offs_n[:, None] * stride_xrow + offs_m[None, :], x_2.to(OUT.dtype.element_ty))
    tl.store(OUT + 20480 + (offs_n[:, None] * stride_xrow + offs_m[None, :]), p_2.to(OUT.dtype.element_ty))

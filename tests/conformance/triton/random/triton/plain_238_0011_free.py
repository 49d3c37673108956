import triton
import triton.language as tl


@triton.jit
def silu(x):
    return x * tl.sigmoid(x)


@triton.jit
def kernel(
    n,
    pa,
    pb,
    pc,
    pout,
    pvec,
    sx_row,
    TILE_M: tl.constexpr,
    TILE_N: tl.constexpr,
):
    rm = tl.arange(0, TILE_M)
    rn = tl.arange(0, TILE_N)
    ptr_t = pa + rm[:, None] * sx_row + rm[None, :]
    t_tile = tl.load(ptr_t)
    t_tile_2 = tl.load(pa + (rm[:, None] * sx_row + rn[None, :]), mask=rn[None, :] < n)
    ptr_t_2 = pb + (rm[:, None] * sx_row + rn[None, :])
    t_tile_3 = tl.load(ptr_t_2, mask=rn[None, :] < n, other=0.0, cache_modifier=".ca")
    p = tl.dot(tl.trans(t_tile_2), t_tile_2)
    v = t_tile_2.to(tl.float32) - t_tile_2
    u = -t_tile_3.to(tl.float32)
    v_2 = p.to(tl.float32) * p
    acc = tl.zeros((TILE_N, TILE_M), dtype=tl.float32)
    for j in range(0, n, TILE_M):
        ptr_t_3 = pa + ((j + rn)[:, None] * sx_row + rm[None, :])
        t_tile_4 = tl.load(ptr_t_3, mask=(j + rn)[:, None] < n, other=0)
        p_2 = tl.dot(u.to(pa.dtype.element_ty), tl.trans(p).to(pa.dtype.element_ty))
        z = tl.max(t_tile.to(tl.float32))
        acc += t_tile_4.to(tl.float32)
        if j > 64:
            acc = acc * 0.5
    p_3 = tl.dot(tl.trans(v).to(pa.dtype.element_ty), t_tile)
    acc_2 = tl.zeros([TILE_M, TILE_M], tl.float32)
    for i in range(0, n, TILE_M):
        t_tile_5 = tl.load(pb + tl.expand_dims(rn, 1) * sx_row + tl.expand_dims((i + rm), 0))
        ptr_t_4 = pb + (rn[:, None] * sx_row + (i + rn)[None, :])
        t_tile_6 = tl.load(ptr_t_4, mask=rn[:, None] < n, other=0.0)
        v_3 = t_tile_3.to(tl.float32) - u
        g = tl.argmax(p, axis=1).to(tl.float32)
        w = tl.load(pvec + rm)
        p_4 = tl.dot(tl.trans(t_tile_6), t_tile_5, input_precision="tf32x3")
        p_5 = tl.dot(acc.to(pa.dtype.element_ty), v_3.to(pa.dtype.element_ty), input_precision="tf32x3")
        acc_2 += t_tile.to(tl.float32)
    p_6 = tl.dot(t_tile_3, p_3.to(pa.dtype.element_ty))
    p_7 = tl.dot(tl.trans(p_3).to(pa.dtype.element_ty), acc.to(pa.dtype.element_ty), allow_tf32=True)
    tl.store(pout + 4096 + rn[:, None] * sx_row + rn[None, :], v_2.to(pout.dtype.element_ty))
    tl.store(pout + 8192 + rm[:, None] * sx_row + rm[None, :], acc_2.to(pout.dtype.element_ty))
    tl.store(pout + 12288 + rm[:, None] * sx_row + rm[None, :], p_6.to(pout.dtype.element_ty))
    tl.store(pout + 16384 + (rm[:, None] * sx_row + rm[None, :]), p_7.to(pout.dtype.element_ty))

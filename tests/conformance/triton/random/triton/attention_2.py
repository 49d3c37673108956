import triton
import triton.language as tl


@triton.jit
def kernel(q_ptr, k_ptr, v_ptr, o_ptr, l_ptr, stride_m, n, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    c = tl.arange(0, BN)
    h = tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * stride_m + h[None, :])
    q = (q * scale).to(q_ptr.dtype.element_ty)
    high = tl.full((BM, ), -float('inf'), tl.float32)
    total = tl.zeros((BM, ), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, n, BN):
        k = tl.load(k_ptr + (start + c)[:, None] * stride_m + h[None, :])
        s = tl.dot(q, tl.trans(k)) * scale
        s = s + tl.load(l_ptr + m[:, None] * stride_m + (start + c)[None, :])
        new = tl.maximum(high, tl.max(s, 1))
        p = tl.exp2(s - new[:, None])
        alpha = tl.exp2(high - new)
        total = total * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = tl.load(v_ptr + (start + c)[:, None] * stride_m + h[None, :])
        acc = tl.dot(p.to(v.dtype), v, acc)
        high = new
    tl.store(o_ptr + m[:, None] * stride_m + h[None, :], (acc / total[:, None]).to(o_ptr.dtype.element_ty))

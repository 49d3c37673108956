import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((32, 16, ), tl.float16, 1, storage=tlx.storage_kind.smem)
    v2 = tlx.local_load(b1[0])
    w3 = b1[0]
    v4 = tl.load(x_ptr + offs(128, 16))
    for i5 in tl.static_range(3):
        v6 = tlx.local_load(w3)
        v7 = v6 + v6
        b8 = tlx.local_alloc((128, 64), tl.bfloat16, 1)
        b9 = tlx.local_alloc((64, 64), tl.bfloat16, 1)
        v11 = tl.zeros([64, 64], tl.bfloat16)
        tlx.local_store(b9[0], v11)
        v10 = tl.zeros((128, 64), tl.float32)
        v10 = tlx.async_dot(b8[0], b9[0], v10)
        tok12 = tlx.async_load(x_ptr + offs(32, 16), b1[(i5 + 1) % 1])
        tlx.async_load_commit_group([tok12])
        tlx.async_load_wait_group(0)
        v10 = tlx.async_dot_wait(0, v10)
        v2 = v2 + v2
    tl.store(y_ptr + offs(32, 16), v2.to(tl.float32))
    tl.store(y_ptr + offs(128, 16), v4.to(tl.float32), mask=offs(128, 16) < n)

import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((32, 16, ), tl.float16, 1)
    v2 = tl.load(x_ptr + offs(32, 16), mask=offs(32, 16) < n, other=0.0)
    tlx.local_store(tlx.local_view(b1, 0), v2)
    v3 = tlx.local_load(b1[0])
    v4 = tlx.local_load(b1[0])
    tok5 = tlx.async_load(x_ptr + offs(32, 16), b1[0])
    tlx.async_load_commit_group()
    tlx.async_load_wait_group(0)
    v6 = v4 + v2
    v7 = v2 - v6
    v8 = tlx.local_load(b1[0])
    v9 = tl.reshape(v8, [512])
    b10 = tlx.local_alloc((64, 64), tl.bfloat16, 1)
    b11 = tlx.local_alloc((64, 32), tl.bfloat16, 1)
    v12 = tl.zeros((64, 32), tl.float32)
    v12 = tlx.async_dot(b10[0], b11[0], v12)
    v12 = tlx.async_dot_wait(0, v12)
    tl.store(y_ptr + offs(32, 16), v7.to(tl.float32))
    tl.store(y_ptr + offs(32, 16), v6.to(tl.float32))

import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def put(buffer, x):
    tlx.local_store(buffer, x)


@triton.jit
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((4, 16, 16, ), tl.float32, 3)
    v2 = tl.load(x_ptr + (tl.arange(0, 4)[:, None, None] * 256 + tl.arange(0, 16)[None, :, None] * 16 + tl.arange(0, 16)[None, None, :])).to(tl.float32)
    put(b1[1], v2)
    v3 = tl.max(v2, 1)
    with tlx.async_tasks():
        with tlx.async_task("default"):
            b4 = tlx.local_alloc((4, 16, 32, ), tl.bfloat16, 2)
            tl.store(y_ptr, n.to(tl.float32))
        with tlx.async_task(num_warps=4, replicate=2):
            v5 = tl.load(x_ptr + offs(64, 64), mask=offs(64, 64) < n)
            v6 = tl.load(x_ptr + offs(128, 32))
            v7 = tlx.local_load(b1[1])
            tl.store(y_ptr + offs(64, 64), v5.to(tl.float32))
    b8 = tlx.local_alloc((128, 64), tl.float16, 1)
    b9 = tlx.local_alloc((64, 128), tl.float16, 1)
    v11 = tl.load(x_ptr + offs(128, 64))
    tlx.local_store(b8[0], v11)
    v12 = tl.full([64, 128], n, tl.float16)
    tlx.local_store(b9[0], v12)
    v10 = tl.zeros((128, 128), tl.float32)
    for i13 in range(n):
        v10 = tlx.async_dot(b8[0], b9[0], v10)
        v10 = tlx.async_dot_wait(0, v10)
    tlx.local_store(b8[0], v11)
    b14 = tlx.local_alloc((128, 32), tl.bfloat16, 1)
    b15 = tlx.local_alloc((32, 32), tl.bfloat16, 1)
    v17 = tl.load(x_ptr + offs(128, 32)).to(tl.bfloat16)
    tlx.local_store(b14[0], v17)
    v18 = tl.load(x_ptr + offs(32, 32)).to(tl.bfloat16)
    tlx.local_store(b15[0], v18)
    v16 = tl.zeros((128, 32), tl.float32)
    v16 = tlx.async_dot(b14[0], b15[0], v16)
    tlx.local_store(b9[0], v12)
    v16 = tlx.async_dot_wait(0, v16)
    tl.store(y_ptr + offs(128, 64), v11.to(tl.float32))
    tl.store(y_ptr + offs(128, 128), v10)

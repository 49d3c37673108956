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
def stage(buffer, x):
    tlx.local_store(buffer, x)
    return tlx.local_load(buffer)


@triton.jit
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((16, 32, ), tl.float8e5, 1)
    b2 = tlx.local_alloc((64, 128, ), tl.float8e5, 3, layout=tlx.swizzled_shared_layout_encoding.make_default(rank=2))
    v3 = tl.load(x_ptr + offs(16, 32)).to(tl.float8e5)
    tlx.local_store(b1[0], v3)
    with tlx.async_tasks():
        with tlx.async_task("default"):
            v4 = tl.load(x_ptr + offs(16, 32))
            put(b1[0], v4.to(tl.float8e5))
            v5 = tlx.local_load(tlx.local_view(b1, 0))
            b6 = tlx.local_alloc((16, 32, ), tl.float32, 3)
            tl.store(y_ptr + offs(16, 32), v5.to(tl.float32))
        with tlx.async_task(num_warps=1):
            bar7 = tlx.alloc_barriers(num_barriers=2)
            tlx.barrier_wait(bar7[0], n & 1)
        with tlx.async_task(num_warps=4, replicate=2):
            v8 = tl.load(x_ptr + offs(16, 32))
            v9 = tl.load(x_ptr + offs(16, 32))
            v10 = tl.zeros([64, 128], tl.float8e5)
            v11 = stage(b2[2], v10)
            v12 = tl.load(x_ptr + offs(16, 32))
            v13 = tl.trans(v8)
            tl.store(y_ptr + offs(32, 16), v13.to(tl.float32))
    dd14 = tl.make_tensor_descriptor(x_ptr, shape=[n, 32], strides=[32, 1], block_shape=[16, 32])
    dd14.store([0, 0], v3.to(tl.bfloat16))
    tl.store(y_ptr + offs(16, 32), v3.to(tl.float32))
    b15 = tlx.local_alloc((32, 16, ), tl.bfloat16, 3)
    v16 = tlx.local_load(b1[0])
    w17 = tlx.local_reinterpret(b15[1], tl.float16)
    v18 = tl.load(x_ptr + offs(64, 128)).to(tl.float8e5)
    tlx.local_store(b2[2], v18)
    bar19 = tlx.alloc_barriers(num_barriers=4)
    tlx.barrier_wait(bar19[2], n & 1)
    w20 = tlx.local_slice(b2[2], [32, 0], [32, 128])
    v21 = v18.to(tl.float32)
    tl.store(y_ptr + offs(16, 32), v16.to(tl.float32), mask=offs(16, 32) < n)
    tl.store(y_ptr + offs(64, 128), v18.to(tl.float32))

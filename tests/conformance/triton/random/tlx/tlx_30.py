import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def stage(buffer, x):
    tlx.local_store(buffer, x)
    return tlx.local_load(buffer)


@triton.jit
def kernel(x_ptr, y_ptr, n, d3, C0: tl.constexpr):
    b1 = tlx.local_alloc((16, 16, ), tl.float32, 1)
    v2 = tl.load(x_ptr + offs(16, 16))
    tlx.local_store(b1[0], v2)
    tok3 = tlx.async_load(x_ptr + offs(16, 16), b1[0])
    tlx.async_load_commit_group([tok3])
    tlx.async_load_wait_group(0)
    tlx.local_store(tlx.local_view(b1, 0), v2)
    if C0 > 0:
        v4 = v2 - v2
        v5 = tlx.local_load(b1[0])
        v6 = tl.sum(v5, 0)
        v2 = v5 * 2
    b7 = tlx.local_alloc((16, 16), tl.int32, 1, reuse=b1)
    v8 = stage(b7[0], v2.to(tl.int32))
    v9 = tlx.local_load(b7[0])
    v10 = tlx.local_load(b1[0])
    for i11 in tl.static_range(1):
        w12 = tlx.local_trans(b7[(i11 + 1) % 1])
        tlx.local_store(w12, v8)
        b13 = tlx.local_alloc((16, 16, ), tl.float8e5, 2, storage=tlx.storage_kind.smem)
        v14 = tl.reshape(v2, [256])
        t15 = tlx.local_alloc((128, 32), tl.float16, 2, tlx.storage_kind.tmem)
        v9 = v9 + v8
    b16 = tlx.local_alloc((16, 128), tlx.dtype_of(d3), 2)
    bar17 = tlx.alloc_barriers(num_barriers=2)
    tlx.barrier_expect_bytes(bar17[0], 4096)
    tlx.async_descriptor_load(d3, b16[1], [0, 0], bar17[0])
    tlx.barrier_wait(bar17[0], 0)
    tl.store(y_ptr + offs(16, 16), v10)
    tl.store(y_ptr + offs(16, 16), v9.to(tl.float32))

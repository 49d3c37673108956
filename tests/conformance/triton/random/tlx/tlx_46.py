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
def through(x, M: tl.constexpr, N: tl.constexpr, DT: tl.constexpr):
    tile = tlx.local_alloc((M, N), DT, 1)
    tlx.local_store(tile[0], x.to(DT))
    return tlx.local_load(tile[0])


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((64, 64, ), tl.float32, 1)
    v2 = tlx.local_load(b1[0])
    v3 = v2.to(tl.bfloat16)
    with tlx.async_tasks():
        with tlx.async_task("default"):
            v4 = tl.load(x_ptr + offs(128, 16))
            v5 = tlx.local_load(b1[0])
            for i6 in range(n - 1):
                b7 = tlx.local_alloc((64, 64), tlx.dtype_of(d3), 3)
                v8 = tl.load(x_ptr + i6 * 4096 + offs(64, 64)).to(tl.int8)
                tlx.local_store(b7[(i6 + 1) % 3], v8)
                tlx.fence_async_shared()
                tlx.async_descriptor_store(d3, tlx.local_view(b7, i6 % 3), [i6, 0])
                bar9 = tlx.alloc_barriers(1, arrive_count=2)
                tlx.barrier_arrive(bar9[i6 % 1], 1)
                v10 = through(v8, 64, 64, tl.float16)
                v11 = tlx.local_load(b7[(i6 + 1) % 3])
                pass
            tl.store(y_ptr + offs(128, 16), v4.to(tl.float32))
        with tlx.async_task(num_warps=1):
            bar12 = tlx.alloc_barriers(num_barriers=2)
            tlx.barrier_arrive(bar12[0], 1)
    spec13 = tlx.storage_alias_spec(storage=tlx.storage_kind.smem)
    b14 = tlx.local_alloc((32, 32), tl.float16, 1, tlx.storage_kind.smem, reuse=spec13)
    b15 = tlx.local_alloc((32, 32), tl.bfloat16, 1, tlx.storage_kind.smem, reuse=spec13)
    spec13.set_buffer_overlap(tlx.reuse_group(b14, b15, group_type=tlx.reuse_group_type.shared))
    v16 = tl.load(x_ptr + offs(32, 32))
    put(b14[0], v16)
    v17 = tl.load(x_ptr + offs(64, 64)).to(tl.int32)
    d3.store([0, 0], v17.to(tl.int8))
    b18 = tlx.local_alloc((128, 64), tl.bfloat16, 1)
    b19 = tlx.local_alloc((64, 64), tl.bfloat16, 1)
    v21 = tl.load(x_ptr + offs(128, 64)).to(tl.bfloat16)
    tlx.local_store(b18[0], v21)
    v22 = tl.load(x_ptr + offs(64, 64)).to(tl.bfloat16)
    tlx.local_store(b19[0], v22)
    v20 = tl.zeros((128, 64), tl.float32)
    v20 = tlx.async_dot(b18[0], b19[0], v20)
    v20 = tlx.async_dot_wait(0, v20)
    tl.store(y_ptr + offs(64, 64), v17.to(tl.float32))
    tl.store(y_ptr + offs(128, 64), v20)

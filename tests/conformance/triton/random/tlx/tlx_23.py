import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((128, 16, ), tl.float32, 3)
    b2 = tlx.local_alloc((128, 128), tlx.dtype_of(d3), 3)
    tlx.async_descriptor_store(d3, b2[0], [0, 0])
    v3 = tlx.local_load(b1[1])
    v4 = tl.load(x_ptr + offs(128, 16))
    bar5 = tlx.alloc_barriers(num_barriers=3)
    tlx.barrier_expect_bytes(bar5[2], 32768)
    tlx.async_descriptor_load(d3, tlx.local_view(b2, 1), [0, 0], bar5[2])
    tlx.barrier_wait(bar5[2], 0)
    v6 = v4.to(tl.int32)
    for i7 in tl.static_range(1):
        b8 = tlx.local_alloc((128, 32), tl.float16, 1)
        b9 = tlx.local_alloc((32, 128), tl.float16, 1)
        v11 = tl.load(x_ptr + i7 * 4096 + offs(32, 128), mask=offs(32, 128) < n)
        tlx.local_store(b9[0], v11)
        v10 = tl.zeros((128, 128), tl.float32)
        v10 = tlx.async_dot(b8[0], b9[0], v10)
        tok12 = tlx.async_load(x_ptr + offs(128, 32), b8[i7 % 1])
        tlx.async_load_commit_group([tok12])
        tlx.async_load_wait_group(0)
        v10 = tlx.async_dot_wait(0, v10)
        b13 = tlx.local_alloc((32, 128), tl.bfloat16, 1, reuse=b9)
        tlx.local_store(tlx.local_view(b13, i7 % 1), v11.to(tl.bfloat16))
        v14 = tlx.local_load(b1[i7 % 3])
        pass
    tlx.barrier_expect_bytes(bar5[0], 32768)
    tlx.async_descriptor_load(d3, b2[2], [0, 0], bar5[0])
    tlx.barrier_wait(bar5[0], 0)
    tl.store(y_ptr + offs(128, 16), v6.to(tl.float32))
    tl.store(y_ptr + offs(128, 16), v3)

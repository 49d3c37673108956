import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((256, ), tl.int8, 1)
    v2 = tl.load(x_ptr + offs(64, 128))
    for i3 in tl.static_range(1):
        v4 = tl.load(x_ptr + i3 * 256 + tl.arange(0, 256)).to(tl.int8)
        tlx.local_store(b1[i3 % 1], v4)
        b5 = tlx.local_alloc((64, 32, ), tl.bfloat16, 3)
        pass
    v6 = v2.to(tl.int32)
    v7 = tl.sum(v6, 0)
    b8 = tlx.local_alloc((64, 32), tlx.dtype_of(d3), 3)
    bar9 = tlx.alloc_barriers(4, arrive_count=2)
    tlx.barrier_expect_bytes(bar9[3], 4096)
    tlx.async_descriptor_load(d3, b8[1], [0, 0], bar9[3])
    tlx.barrier_wait(bar9[3], 0)
    v10 = tl.sum(v6, 0)
    tl.store(y_ptr + offs(64, 128), v6.to(tl.float32))
    tl.store(y_ptr + tl.arange(0, 128), v7.to(tl.float32))

import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n, d3):
    b1 = tlx.local_alloc((128, ), tl.float32, 1)
    v2 = tl.full([128], n, tl.float32)
    tlx.local_store(b1[0], v2)
    b3 = tlx.local_alloc((16, 16, ), tl.float8e5, 1)
    s4 = tl.atomic_add(y_ptr, 1.0)
    b5 = tlx.local_alloc((64, 16), tlx.dtype_of(d3), 1)
    bar6 = tlx.alloc_barriers(4, arrive_count=2)
    tlx.barrier_expect_bytes(bar6[0], 2048)
    tlx.async_descriptor_load(d3, b5[0], [0, 0], bar6[0])
    tlx.barrier_wait(bar6[0], 0)
    v7 = tlx.local_load(b3[0])
    for i8 in range(0, n, 2):
        v9 = tl.load(x_ptr + i8 * 4096 + offs(64, 64)).to(tl.int32)
        v7 = v7
    bar10 = tlx.alloc_barriers(num_barriers=3)
    v11 = v2 * 2
    v12 = tlx.local_load(b1[0])
    v13 = tl.zeros([64, 16], tl.float16)
    tlx.local_store(b5[0], v13)
    v14 = tl.reshape(v7, [256])
    tl.store(y_ptr + tl.arange(0, 128), v11)
    tl.store(y_ptr + offs(64, 16), v13.to(tl.float32))

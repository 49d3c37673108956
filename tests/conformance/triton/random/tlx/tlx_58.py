import triton
import triton.language as tl
import triton.language.extra.tlx as tlx


@triton.jit
def offs(M: tl.constexpr, N: tl.constexpr):
    return tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]


@triton.jit
def kernel(x_ptr, y_ptr, n):
    b1 = tlx.local_alloc((128, 16, ), tl.float16, 2)
    v2 = tl.load(x_ptr + offs(128, 16)).to(tl.bfloat16)
    for i3 in range(4):
        v4 = tl.load(x_ptr + offs(64, 128))
        v5 = tlx.local_load(tlx.local_view(b1, i3 % 2))
        for i6 in range(0, n, 2):
            b7 = tlx.local_alloc((16, 32, ), tl.float32, 2)
            v8 = tlx.local_load(b7[i3 % 2])
            v9 = tl.min(v5, 0)
            b10 = tlx.local_alloc((512, ), tl.float8e5, 1)
            pass
        b11 = tlx.local_alloc((128, 64, ), tl.float16, 1)
        pass
    v12 = tlx.local_load(tlx.local_view(b1, 0))
    s13 = tl.atomic_add(y_ptr, 1.0)
    tl.store(y_ptr + 1, s13)
    b14 = tlx.local_alloc((64, 16, ), tl.int8, 3)
    v15 = tl.load(x_ptr + offs(64, 16)).to(tl.int8)
    tlx.local_store(b14[1], v15)
    v16 = tlx.local_load(b14[0])
    tl.store(y_ptr + offs(64, 16), v15.to(tl.float32))
    tl.store(y_ptr + offs(64, 16), v16.to(tl.float32))

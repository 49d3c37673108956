import triton
import triton.language as tl
import triton.language.extra.tlx as tlx
from triton.language.extra import libdevice


@triton.jit
def clipped(value, most):
    if value > most:
        return most
    else:
        return value


@triton.jit
def both(value, most):
    return value + most, value - most


@triton.jit
def instruction(value):
    return tl.inline_asm_elementwise("sqrt.approx.f32 $0, $1;", "=f,f", [value], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def other_instruction(value):
    return tl.inline_asm_elementwise("lg2.approx.f32 $0, $1;", "=f,f", [value], dtype=tl.float32, is_pure=True, pack=1)


@triton.jit
def kernel(x_ptr, y_ptr, n, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    stage = tlx.local_alloc((M, N), tl.float32, 1)
    tlx.local_store(stage[0], tl.load(x_ptr + at))
    value = tlx.local_load(stage[0])
    low = tlx.local_alloc((M, N), tl.float16, 1)
    tlx.local_store(low[0], tl.map_elementwise(clipped, value, value * 0.5).to(tl.float16))
    one, two = tl.map_elementwise(both, value, value * 2)
    wide = tlx.local_alloc((M, N), tl.float32, 2)
    tlx.local_store(wide[0], instruction(one))
    tlx.local_store(wide[1], other_instruction(one) + libdevice.rsqrt(two))
    total = tlx.local_load(wide[0]) + tlx.local_load(wide[1]) + libdevice.tanh(tlx.local_load(low[0]).to(tl.float32))
    tl.store(y_ptr + at, total)

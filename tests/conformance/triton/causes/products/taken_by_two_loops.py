import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, out, s, T, BC: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    rows = tl.arange(0, BK)
    inner = tl.arange(0, BC)
    columns = tl.arange(0, BV)
    state = tl.zeros([BK, BV], dtype=tl.float32)
    x = tl.load(a + rows[:, None] * BC + inner[None, :])
    for t in range(T):
        v = tl.load(c + (t * BC + inner)[:, None] * BV + columns[None, :])
        state += tl.dot(x, v)
        tl.store(out + t, t)
    for t in range(T):
        v = tl.load(b + (t * BC + inner)[:, None] * BV + columns[None, :])
        v = (v * s).to(v.dtype)
        state += tl.dot(x, v)
    tl.store(out + rows[:, None] * BV + columns[None, :], state)

import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, out, s, T, BC: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    rows = tl.arange(0, BK)
    inner = tl.arange(0, BC)
    columns = tl.arange(0, BV)
    state = tl.zeros([BK, BV], dtype=tl.float32)
    for t in range(T):
        tl.store(out + t * BK * BV + rows[:, None] * BV + columns[None, :], state.to(tl.float16))
        o = t * BC + inner
        x = tl.load(a + o[:, None] * BK + rows[None, :])
        y = tl.load(b + rows[:, None] + o[None, :] * BK)
        v = tl.load(c + o[:, None] * BV + columns[None, :])
        v += tl.dot(x, state.to(tl.float16)).to(tl.float16)
        tl.store(c + o[:, None] * BV + columns[None, :], v)
        state += tl.dot(y, v)
    tl.store(out + rows[:, None] * BV + columns[None, :], state)

import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, out, s, T, BC: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    rows = tl.arange(0, BK)
    inner = tl.arange(0, BC)
    columns = tl.arange(0, BV)
    state = tl.zeros([BK, BV], dtype=tl.float32)
    for t in range(T):
        o = t * BC + inner
        x = tl.load(a + rows[:, None] * BC + o[None, :])
        v = tl.load(c + o[:, None] * BV + columns[None, :])
        state += tl.dot(x, v, allow_tf32=False)
    square = tl.dot(state, tl.trans(state))
    tl.store(out + rows[:, None] * BK + rows[None, :], square)
    tl.store(out + rows[:, None] * BV + columns[None, :], state)

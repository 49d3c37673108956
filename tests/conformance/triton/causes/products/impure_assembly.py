import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, out, s, T, BC: tl.constexpr, BK: tl.constexpr, BV: tl.constexpr):
    rows = tl.arange(0, BK)
    inner = tl.arange(0, BC)
    columns = tl.arange(0, BV)
    state = tl.zeros([BK, BV], dtype=tl.float32)
    x = tl.load(a + rows[:, None] * BC + inner[None, :])
    y = tl.load(b + rows[:, None] * BC + inner[None, :])
    v = tl.load(c + inner[:, None] * BV + columns[None, :])
    state += tl.dot(x, v)
    tl.inline_asm_elementwise("bar.sync 0;", "=r", [], dtype=tl.int32, is_pure=False, pack=1)
    state += tl.dot(y, v)
    tl.store(out + rows[:, None] * BV + columns[None, :], state)

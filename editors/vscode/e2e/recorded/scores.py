import triton
import triton.language as tl
from tuning import tiles


@triton.jit
def scores(q, k, out, D, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    depth = tl.arange(0, DEPTH)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for at in range(0, D, DEPTH):
        left = tl.load(q + rows[:, None] * D + at + depth[None, :])
        right = tl.load(k + columns[None, :] * D + at + depth[:, None])
        total += tl.dot(left, right)
    tl.store(out + rows[:, None] * 4096 + columns[None, :], total)


def score(q, k, out, depth):
    return scores[(32, 32)](q, k, out, depth, **tiles(depth))

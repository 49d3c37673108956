"""Double buffering by hand: a declared allocation with two slots, one chosen by each iteration."""

import pypto.language as pl

ROWS, COLS = 512, 128
BLOCK = 64
BUFFERS = pl.MemRef(slots=2)


@pl.program
class PingPong:
    @pl.function(type=pl.FunctionType.InCore)
    def exponent(
        self,
        a: pl.Tensor[[ROWS, COLS], pl.FP32],
        out: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
    ) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        for i in pl.range(0, ROWS // BLOCK):
            x: pl.Tile[[BLOCK, COLS], pl.FP32, BUFFERS[i % 2], pl.Mem.Vec] = pl.load(a, [i * BLOCK, 0], [BLOCK, COLS])
            y = pl.exp(x)
            out = pl.store(y, [i * BLOCK, 0], out)
        return out
# ---- the dump
AIV exponent
    BUFFERS = tile.alloc(Vec, 65536, pinned=True)
    mem_vec_2 = tile.alloc(Vec, 32768)
    for i in range(0, 8, 1) (out.2 = out -> out.3):
        x: Tile[[64, 128], FP32, MemRef(BUFFERS, 0, 32768), BUFFERS[(i % 2)], Vec] = tile.load(a, [(i * 64), 0], [64, 128], [64, 128], target_memory=Vec, clamp=false)
        y: Tile[[64, 128], FP32, MemRef(mem_vec_2, 65536, 32768), Vec] = tile.exp(x)
        out.4: Out Tensor[[512, 128], FP32] = tile.store(y, [(i * 64), 0], out.2, atomic=0)
        yield out.4
    return out.3

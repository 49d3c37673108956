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

# A kernel that fits: 144 of the 184 KiB of Vec are live at once. Type 256 over the 192 and watch the lens and the squiggle.

import pypto.language as pl

ROWS, COLS = 64, 192


@pl.program
class Gate:
    @pl.function(type=pl.FunctionType.InCore)
    def gate(
        self,
        x: pl.Tensor[[ROWS, COLS], pl.FP32],
        g: pl.Tensor[[ROWS, COLS], pl.FP32],
        out: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
    ) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        value = pl.load(x, [0, 0], [ROWS, COLS])
        gate = pl.load(g, [0, 0], [ROWS, COLS])
        squashed = pl.exp(gate)
        gated = pl.mul(value, squashed)
        mixed = pl.add(gated, gate)
        result = pl.add(mixed, value)
        out = pl.store(result, [0, 0], out)
        return out

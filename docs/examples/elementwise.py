"""out = a * scale + b, sixteen rows of a wide matrix at a time."""

import pypto.language as pl

ROWS, COLS = 256, 1024
BLOCK = 16


@pl.program
class ScaleAdd:
    @pl.function(type=pl.FunctionType.InCore)
    def scale_add(
        self,
        a: pl.Tensor[[ROWS, COLS], pl.FP32],
        b: pl.Tensor[[ROWS, COLS], pl.FP32],
        scale: pl.Scalar[pl.FP32],
        out: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
    ) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        for row in pl.range(0, ROWS, BLOCK):
            x = pl.load(a, [row, 0], [BLOCK, COLS])
            y = pl.load(b, [row, 0], [BLOCK, COLS])
            scaled = pl.mul(x, scale)
            total = pl.add(scaled, y)
            out = pl.store(total, [row, 0], out)
        return out

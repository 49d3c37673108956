"""A bias that is optional at run time: both branches leave their result in one buffer."""

import pypto.language as pl

ROWS, COLS = 64, 256


@pl.program
class OptionalBias:
    @pl.function(type=pl.FunctionType.InCore)
    def apply(
        self,
        x: pl.Tensor[[ROWS, COLS], pl.FP32],
        bias: pl.Tensor[[1, COLS], pl.FP32],
        has_bias: pl.Scalar[pl.INT64],
        out: pl.Out[pl.Tensor[[ROWS, COLS], pl.FP32]],
    ) -> pl.Tensor[[ROWS, COLS], pl.FP32]:
        value = pl.load(x, [0, 0], [ROWS, COLS])
        if has_bias > 0:
            row = pl.load(bias, [0, 0], [1, COLS])
            biased = pl.col_expand_add(value, row)
        else:
            biased = pl.add(value, 0.0)
        result = pl.maximum(biased, 0.0)
        out = pl.store(result, [0, 0], out)
        return out

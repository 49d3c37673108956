"""Softmax over the rows of a matrix; one scratch tile serves both reductions."""

import pypto.language as pl

BATCH, WIDTH = 512, 256
ROWS = 32


@pl.program
class Softmax:
    @pl.function(type=pl.FunctionType.InCore)
    def softmax(
        self,
        x: pl.Tensor[[BATCH, WIDTH], pl.FP32],
        out: pl.Out[pl.Tensor[[BATCH, WIDTH], pl.FP32]],
    ) -> pl.Tensor[[BATCH, WIDTH], pl.FP32]:
        for row in pl.range(0, BATCH, ROWS):
            logits = pl.load(x, [row, 0], [ROWS, WIDTH])
            scratch = pl.create_tile([ROWS, WIDTH], dtype=pl.FP32)
            largest = pl.row_max(logits, scratch)
            shifted = pl.row_expand_sub(logits, largest)
            weights = pl.exp(shifted)
            norm = pl.row_sum(weights, scratch)
            probs = pl.row_expand_div(weights, norm)
            out = pl.store(probs, [row, 0], out)
        return out

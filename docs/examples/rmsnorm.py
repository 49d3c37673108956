"""RMS normalisation of BF16 rows with FP32 arithmetic and a learned gain."""

import pypto.language as pl

TOKENS, HIDDEN = 128, 1024
ROWS = 8
EPS = 1e-6


@pl.program
class RmsNorm:
    @pl.function(type=pl.FunctionType.InCore)
    def rmsnorm(
        self,
        x: pl.Tensor[[TOKENS, HIDDEN], pl.BF16],
        gain: pl.Tensor[[1, HIDDEN], pl.BF16],
        out: pl.Out[pl.Tensor[[TOKENS, HIDDEN], pl.BF16]],
    ) -> pl.Tensor[[TOKENS, HIDDEN], pl.BF16]:
        gain_raw = pl.load(gain, [0, 0], [1, HIDDEN])
        gain_row = pl.cast(gain_raw, pl.FP32)
        for token in pl.range(0, TOKENS, ROWS):
            raw = pl.load(x, [token, 0], [ROWS, HIDDEN])
            value = pl.cast(raw, pl.FP32)
            square = pl.mul(value, value)
            scratch = pl.create_tile([ROWS, HIDDEN], dtype=pl.FP32)
            power = pl.row_sum(square, scratch)
            power_row = pl.reshape(power, [1, ROWS])
            mean = pl.mul(power_row, 1.0 / HIDDEN)
            shifted = pl.add(mean, EPS)
            inverse_row = pl.rsqrt(shifted)
            inverse = pl.reshape(inverse_row, [ROWS, 1])
            normed = pl.row_expand_mul(value, inverse)
            scaled = pl.col_expand_mul(normed, gain_row)
            narrow = pl.cast(scaled, pl.BF16)
            out = pl.store(narrow, [token, 0], out)
        return out

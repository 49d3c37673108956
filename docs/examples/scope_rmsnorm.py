"""RMS normalisation written on tensors: the compiler makes the tiles, a block of rows for each core."""

import pypto.language as pl

TOKENS, HIDDEN = 128, 2048
ROWS, COLUMNS = 16, 512
EPS = 1e-6


@pl.jit
def rmsnorm(
    x: pl.Tensor[[TOKENS, HIDDEN], pl.BF16],
    gain: pl.Tensor[[1, HIDDEN], pl.FP32],
    out: pl.Out[pl.Tensor[[TOKENS, HIDDEN], pl.BF16]],
):
    for block in pl.spmd(TOKENS // ROWS, name_hint="rmsnorm"):
        token = block * ROWS
        power = pl.full([1, ROWS], dtype=pl.FP32, value=0.0)
        for column in pl.pipeline(0, HIDDEN, COLUMNS, stage=2):
            value = pl.cast(x[token : token + ROWS, column : column + COLUMNS], pl.FP32)
            part = pl.row_sum(pl.mul(value, value))
            power = pl.add(power, pl.reshape(part, [1, ROWS]))
        inverse = pl.reshape(pl.rsqrt(pl.add(pl.mul(power, 1.0 / HIDDEN), EPS)), [ROWS, 1])
        for column in pl.pipeline(0, HIDDEN, COLUMNS, stage=2):
            value = pl.cast(x[token : token + ROWS, column : column + COLUMNS], pl.FP32)
            normed = pl.row_expand_mul(value, inverse)
            scaled = pl.col_expand_mul(normed, gain[:, column : column + COLUMNS])
            out[token : token + ROWS, column : column + COLUMNS] = pl.cast(scaled, pl.BF16)
    return out

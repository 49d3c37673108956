# A branch of a scope that is never taken (the number comes through an inlined function, cast to INT32): what only it reads is no
# parameter of the scope, what only it writes does not leave it, and buffers are numbered without them.
import pypto.language as pl


@pl.jit.inline
def part(
    x: pl.Tensor[[16, 64], pl.FP32],
    bias: pl.Tensor[[1, 64], pl.FP32],
    scores: pl.Tensor[[16, 64], pl.FP32],
    biased: pl.Tensor[[16, 64], pl.FP32],
    layer: pl.Scalar[pl.INT32],
):
    for block in pl.spmd(2, name_hint="gate"):
        row = block * 8
        window = pl.reshape(bias[0:1, 0:64], [1, 64])
        score = pl.exp(pl.mul(x[row : row + 8, :], x[row : row + 8, :]))
        scores[row : row + 8, :] = score
        if layer >= 3:
            biased[row : row + 8, :] = pl.col_expand_mul(score, window)
    return scores


@pl.jit
def entry(
    x: pl.Tensor[[16, 64], pl.FP32],
    bias: pl.Tensor[[1, 64], pl.FP32],
    scores: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
    biased: pl.Out[pl.Tensor[[16, 64], pl.FP32]],
):
    part(x, bias, scores, biased, pl.cast(0, pl.INT32))
    part(x, bias, scores, biased, pl.cast(3, pl.INT32))
    return scores

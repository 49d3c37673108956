# A condition inside a scope on a number that the code around it computes from the index of its loop: proved where the scope stands.
import pypto.language as pl


@pl.jit
def entry(
    x: pl.Tensor[[64, 64], pl.FP32],
    bias: pl.Tensor[[4, 64], pl.FP32],
    out: pl.Out[pl.Tensor[[64, 64], pl.FP32]],
):
    for i in pl.range(4):
        layer: pl.Scalar[pl.INT32] = pl.cast(i * 2 + 3, pl.INT32)
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="shift"):
            window = x[i * 16 : i * 16 + 16, :]
            score = pl.exp(window)
            if layer >= 3:
                score = pl.add(score, window)
                score = pl.mul(score, window)
            scaled = pl.add(pl.neg(score), score)
            out[i * 16 : i * 16 + 16, :] = scaled
    return out

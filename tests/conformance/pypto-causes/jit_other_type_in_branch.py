# In a branch a name stays the variable that it was, which has one type.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Tensor[[32, 64], pl.FP32], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
        t = pl.exp(x)
        o[0:64, 0:64] = t
        t = pl.exp(y)
        if n > 1:
            t = pl.exp(x)
    return o

# What holds around a scope is known inside of it: branches, and the bounds of loops.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[128, 256], pl.FP32], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[128, 256], pl.FP32]]):
    if n > 1:
        with pl.at(level=pl.Level.CORE_GROUP):
            if not n < 2:
                a = pl.exp(x[0:32, 0:64])
            else:
                b = pl.minimum(x, x)
            o[0:32, 0:64] = pl.exp(x[0:32, 64:128])
    for i in pl.range(4):
        with pl.at(level=pl.Level.CORE_GROUP):
            c = x[i * 32:i * 32 + 32, 0:128]
            if i < 4:
                c = pl.exp(c)
            else:
                d = pl.minimum(x, x)
            o[i * 32:i * 32 + 32, 0:128] = c
    return o

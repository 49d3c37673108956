# Nor are lists.
import pypto.language as pl

SHAPE = [16, 64]

@pl.jit
def entry(x0: pl.Tensor[[128, 64], pl.FP32], o1: pl.Out[pl.Tensor[[128, 64], pl.FP16]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="part"):
        t = x0[0:16, 0:64]
        u = pl.cast(pl.slice(x0, SHAPE, [0, 0]), pl.FP16)
        o1[0:16, 0:64] = u
    return o1

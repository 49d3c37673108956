# Annotations are evaluated by Python, with all names of the module.
import pypto.language as pl

SHAPE = [128, 64]
FP = pl.FP32
N: int = 16


@pl.jit
def entry(x0: pl.Tensor[SHAPE, FP], o1: pl.Out[pl.Tensor[[128, 64], pl.FP32]]):
    rows = N
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
        t = x0[0:rows, 0:64]
        o1[0:rows, 0:64] = t
    return o1

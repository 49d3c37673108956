# A constant that a loop or branch assigns keeps its name: a pipeline over it has a remainder.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[128, 128], pl.FP32], o: pl.Out[pl.Tensor[[128, 128], pl.FP32]]):
    for r in pl.range(2):
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="k"):
            n = 8 // 2
            for i in pl.pipeline(n, stage=2):
                o[r * 64 + i * 16 : r * 64 + i * 16 + 16, :] = pl.exp(x[r * 64 + i * 16 : r * 64 + i * 16 + 16, :])
    return o

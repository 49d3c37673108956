# Carries are in the order of the compiler's names: `t30` before `t3_v1`.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[64, 64], pl.FP32], y: pl.Tensor[[32, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]], p: pl.Out[pl.Tensor[[32, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
        t3 = pl.exp(x)
        t30 = pl.exp(y)
        t3 = pl.neg(t3)
        for i in pl.range(4):
            a = pl.add(t3, x)
            t3 = pl.recip(a)
            b = pl.add(t30, y)
            t30 = pl.recip(b)
        o[0:64, 0:64] = t3
        p[0:32, 0:64] = t30
    return o, p

# Names of the module that are no numbers are not written into the text that a @pl.jit function is specialised to.
import pypto.language as pl

DT = pl.FP16


@pl.jit
def entry(x0: pl.Tensor[[128, 64], pl.FP32], o1: pl.Out[pl.Tensor[[128, 64], pl.FP16]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="part"):
        t = x0[0:16, 0:64]
        u = pl.cast(t, DT)
        o1[0:16, 0:64] = u
    return o1

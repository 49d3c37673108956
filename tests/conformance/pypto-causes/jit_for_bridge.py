# The loop reads the `t` that the branches assigned and assigns it: the compiler puts `t_v1 = t` in front of it. `s` is made anew in it.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
        u = pl.exp(x)
        if n > 1:
            t = pl.neg(u)
            s = pl.abs(u)
        else:
            t = pl.abs(u)
            s = pl.neg(u)
        for i in pl.range(4):
            t = pl.add(t, u)
            s = pl.exp(t)
            t = pl.mul(t, s)
        o[0:64, 0:64] = t
    return o

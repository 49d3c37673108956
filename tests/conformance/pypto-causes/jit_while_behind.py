# The `t` that the `while` assigns is another name to the compiler, `t_v1`, and has no value behind it.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
        t = x[0:64, 0:64]
        k = pl.const(0, pl.INT64)
        while k < n:
            t = pl.div(t, t)
            k = k + 1
        o[0:64, 0:64] = t
    return o

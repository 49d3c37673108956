# Both branches of the second `if` assign another name than the first one did, and not the same.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
        if n > 1:
            t = pl.exp(x)
        else:
            t = pl.abs(x)
        o[0:64, 0:64] = t
        if n > 2:
            t = pl.exp(x)
        else:
            t = pl.abs(x)
        o[0:64, 0:64] = t
    return o

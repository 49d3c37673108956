# Of a scope behind which nothing stands, the compiler hands out every value.
import pypto.language as pl


@pl.jit
def entry(x: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]):
    with pl.at(level=pl.Level.CORE_GROUP):
        a = pl.exp(x)
        b = pl.col_sum(a)
        c = b[0:1, 6:12]
        d = pl.abs(a)
        o[0:64, 0:64] = d

# What one branch alone assigns has no value behind it.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        t = pl.load(x, [0, 0], [64, 64])
        if n > 3:
            u = pl.exp(t)
        elif n > 1:
            v = pl.exp(t)
            u = pl.exp(v)
        o = pl.store(u, [0, 0], o)
        return o

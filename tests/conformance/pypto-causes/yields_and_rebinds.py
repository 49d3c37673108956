# Branches that yield cannot rebind a name as well.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        t = pl.load(x, [0, 0], [64, 64])
        if n > 2:
            t = pl.exp(t)
            y = pl.yield_(t)
        else:
            u = pl.abs(t)
            y = pl.yield_(u)
        o = pl.store(y, [0, 0], o)
        return o

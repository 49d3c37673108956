# A loop that hands on what is assigned again yields nothing besides.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        t = pl.load(x, [0, 0], [64, 64])
        for i in pl.range(4):
            t = pl.exp(t)
            y = pl.yield_(t)
        o = pl.store(t, [0, 0], o)
        return o

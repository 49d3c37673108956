# An index is not negative, so that what is more than one is more than nothing: the branch for less is gone.
import pypto.language as pl

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], m: pl.Scalar[pl.INDEX], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        for i in pl.range(0, m):
            if m < n:
                if n > 0:
                    t = pl.load(x, [0, 0], [64, 64])
                    o = pl.store(t, [0, 0], o)
                else:
                    u = pl.load(x, [0, 0], [32, 64])
                    o = pl.store(u, [0, 0], o)
        return o

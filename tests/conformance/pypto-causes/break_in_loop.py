# In a loop of another loop it is none.
import pypto.language as pl


@pl.program
class Random:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x0: pl.Tensor[[512, 64], pl.FP32], n: pl.Scalar[pl.INT64], m: pl.Scalar[pl.INDEX], o1: pl.Out[pl.Tensor[[512, 64], pl.FP32]]) -> pl.Tensor[[512, 64], pl.FP32]:
        for i in pl.range(4):
            for j in pl.range(2):
                if n > 2:
                    break
                t = pl.load(x0, [i * 16, 0], [16, 64])
                o1 = pl.store(t, [j * 16, 0], o1)
        return o1

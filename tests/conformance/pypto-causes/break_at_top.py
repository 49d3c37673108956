# The flag of a loop with break is such a truth value.
import pypto.language as pl


@pl.program
class Random:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x0: pl.Tensor[[512, 64], pl.FP32], n: pl.Scalar[pl.INT64], m: pl.Scalar[pl.INDEX], o1: pl.Out[pl.Tensor[[512, 64], pl.FP32]]) -> pl.Tensor[[512, 64], pl.FP32]:
        for i in pl.range(4):
            t = pl.load(x0, [i * 16, 0], [16, 64])
            o1 = pl.store(t, [i * 16, 0], o1)
            if n > i:
                break
        return o1

# A truth value that is constant where the kernel begins: the compiler has no equality of truth values.
import pypto.language as pl


@pl.program
class Random:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x0: pl.Tensor[[512, 64], pl.FP32], n: pl.Scalar[pl.INT64], m: pl.Scalar[pl.INDEX], o1: pl.Out[pl.Tensor[[512, 64], pl.FP32]]) -> pl.Tensor[[512, 64], pl.FP32]:
        f = False
        t = pl.load(x0, [0, 0], [16, 64])
        if n > 2:
            f = True
        if f:
            o1 = pl.store(t, [0, 0], o1)
        return o1

# The variable in a sum is compared through a cast as well, so that nothing is learnt of an INT32.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[4096, 4096], pl.FP32], q: pl.Scalar[pl.INT32], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        a = pl.load(x, [0, 0], [64, 64])
        if q + 1 != 1:
            b = pl.load(x, [0, 64], [32, 64])
            b = pl.exp(b)
        elif q <= 1:
            c = pl.load(x, [64, 0], [32, 32])
            c = pl.exp(c)
        else:
            d = pl.load(x, [0, 64], [64, 128])
            d = pl.exp(d)
        if n + 1 != 1:
            e = pl.load(x, [0, 64], [32, 64])
            e = pl.exp(e)
        elif n <= 1:
            f = pl.load(x, [64, 0], [32, 32])
            f = pl.exp(f)
        else:
            g = pl.load(x, [0, 64], [64, 160])
            g = pl.exp(g)
        o = pl.store(a, [0, 0], o)
        return o

# Conditions that contradict themselves, alternatives that leave nothing out, and remainders that are what is divided.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[4096, 4096], pl.FP32], m: pl.Scalar[pl.INDEX], q: pl.Scalar[pl.INT32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        a = pl.load(x, [0, 0], [64, 64])
        if m < 1 and m > 0:
            b = pl.load(x, [0, 64], [64, 128])
            b = pl.exp(b)
        if q <= 3 and q > 3:
            c = pl.load(x, [0, 64], [64, 160])
            c = pl.exp(c)
        if q < 4 or 2 < q:
            d = pl.load(x, [0, 64], [32, 64])
            d = pl.exp(d)
        else:
            e = pl.load(x, [0, 64], [64, 192])
            e = pl.exp(e)
        if m == 1:
            f = pl.load(x, [64, 0], [32, 32])
            f = pl.exp(f)
            if m % 2 == 0:
                g = pl.load(x, [0, 64], [64, 256])
                g = pl.exp(g)
        o = pl.store(a, [0, 0], o)
        return o

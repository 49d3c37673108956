# What a loop carries is lost in `pl.unroll`.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[4096, 4096], pl.FP32], h: pl.Tensor[[4096, 4096], pl.FP16], w: pl.Tensor[[4096, 4096], pl.BF16], n: pl.Scalar[pl.INT64], m: pl.Scalar[pl.INT64], k: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]], outh: pl.Out[pl.Tensor[[4096, 4096], pl.FP16]]) -> pl.Tensor[[4096, 4096], pl.FP32]:
        a = pl.load(x, [0, 0], [32, 32])
        for i, (c, s) in pl.range(4, init_values=(a, 0)):
            for j in pl.unroll(2):
                t = pl.load(x, [s, 0], [32, 32])
            y = pl.exp(c)
            z, w2 = pl.yield_(y, s + 1)
        return out

# `y = x` of what a loop carries is a buffer of its own until loops and branches are repaired.
import pypto.language as pl


@pl.program
class Kernels:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[512, 512], pl.FP32], h: pl.Tensor[[512, 512], pl.FP16], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]) -> pl.Tensor[[512, 512], pl.FP32]:
        a = pl.load(x, [0, 0], [32, 64])
        b = pl.load(x, [64, 0], [32, 64])
        for i in pl.range(n):
            c = a
            a = pl.add(b, 1.0)
            b = c
        d = pl.mul(a, b)
        out = pl.store(d, [0, 0], out)
        return out

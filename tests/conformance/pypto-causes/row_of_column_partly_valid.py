# A partly valid column is computed with as a partly valid row.
import pypto.language as pl


@pl.program
class Kernels:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[512, 512], pl.FP32], h: pl.Tensor[[512, 512], pl.FP16], n: pl.Scalar[pl.INT64], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]) -> pl.Tensor[[512, 512], pl.FP32]:
        a = pl.load(x, [0, 0], [64, 1], valid_shape=[n, 1])
        b = pl.exp(a)
        t = pl.load(x, [0, 0], [64, 64])
        u = pl.exp(t)
        out = pl.store(u, [0, 0], out)
        out = pl.store(b, [0, 0], out)
        return out

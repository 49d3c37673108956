# What a while loop carries has three places under the sequential planner and no copy; DSA-RP has no memory for what stands behind the loop.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[256, 64], pl.FP32], h: pl.Tensor[[256, 256], pl.FP16], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[256, 64], pl.FP32]]) -> pl.Tensor[[256, 64], pl.FP32]:
        t = pl.load(x, [0, 0], [32, 64])
        s = pl.load(x, [32, 0], [32, 64])
        k = pl.const(0, pl.INT64)
        while k < n:
            u = pl.exp(t)
            t = pl.add(u, s)
            s = u
            k = k + 1
        u2 = pl.exp(t)
        v2 = pl.add(u2, s)
        o = pl.store(v2, [0, 0], o)
        return o

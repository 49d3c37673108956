# BF16 plus a number with a point is FP32.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, x: pl.Tensor[[64, 128], pl.FP32], y: pl.Tensor[[64, 128], pl.FP32], w: pl.Tensor[[64, 128], pl.BF16], n: pl.Scalar[pl.INT64], k: pl.Scalar[pl.INT32], o: pl.Out[pl.Tensor[[64, 128], pl.FP32]], ob: pl.Out[pl.Tensor[[64, 128], pl.BF16]]) -> pl.Tensor[[64, 128], pl.FP32]:
        v = pl.neg(w)
        v = pl.add(v, 1.0)
        o[0:64, 0:128] = v
        return o

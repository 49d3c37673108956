# A window of a tensor that leaves it.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, x: pl.Tensor[[64, 128], pl.FP32], y: pl.Tensor[[64, 128], pl.FP32], w: pl.Tensor[[64, 128], pl.BF16], n: pl.Scalar[pl.INT64], k: pl.Scalar[pl.INT32], o: pl.Out[pl.Tensor[[64, 128], pl.FP32]], ob: pl.Out[pl.Tensor[[64, 128], pl.BF16]]) -> pl.Tensor[[64, 128], pl.FP32]:
        v = pl.neg(x[32:96, 0:128])
        return o

# FP16 minus a number with a point stays FP16.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, x: pl.Tensor[[64, 128], pl.FP32], y: pl.Tensor[[64, 128], pl.FP32], w: pl.Tensor[[64, 128], pl.BF16], n: pl.Scalar[pl.INT64], k: pl.Scalar[pl.INT32], o: pl.Out[pl.Tensor[[64, 128], pl.FP32]], ob: pl.Out[pl.Tensor[[64, 128], pl.BF16]]) -> pl.Tensor[[64, 128], pl.FP32]:
        v = pl.cast(x, pl.FP16)
        u = pl.sub(v, 0.5)
        t = pl.minimum(v, u)
        t = pl.add(v, v)
        return o

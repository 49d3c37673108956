# The operands of a division are valid in the same part.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[4096, 4096], pl.FP32], h: pl.Tensor[[4096, 4096], pl.FP16], w: pl.Tensor[[4096, 4096], pl.BF16], n: pl.Scalar[pl.INT64], m: pl.Scalar[pl.INT64], k: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]], outh: pl.Out[pl.Tensor[[4096, 4096], pl.FP16]]) -> pl.Tensor[[4096, 4096], pl.FP32]:
        a = pl.load(x, [0, 0], [64, 64], valid_shape=[32, 64])
        b = pl.load(x, [0, 0], [64, 64])
        c = pl.div(a, b)
        return out

# An accumulator holds data wherever the product does.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[4096, 4096], pl.FP32], h: pl.Tensor[[4096, 4096], pl.FP16], w: pl.Tensor[[4096, 4096], pl.BF16], n: pl.Scalar[pl.INT64], m: pl.Scalar[pl.INT64], k: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]], outh: pl.Out[pl.Tensor[[4096, 4096], pl.FP16]]) -> pl.Tensor[[4096, 4096], pl.FP32]:
        a = pl.load(h, [0, 0], [64, 64], target_memory=pl.Mem.Mat, valid_shape=[32, 64])
        b = pl.load(h, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        c = pl.matmul(a, b)
        c = pl.matmul_acc(c, b, b)
        return out

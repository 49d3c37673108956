# A slot that is declared when a name is assigned again counts for nothing.
import pypto.language as pl

BUF = pl.MemRef(slots=4)


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[4096, 4096], pl.FP32], h: pl.Tensor[[4096, 4096], pl.FP16], w: pl.Tensor[[4096, 4096], pl.BF16], n: pl.Scalar[pl.INT64], m: pl.Scalar[pl.INT64], k: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]], outh: pl.Out[pl.Tensor[[4096, 4096], pl.FP16]]) -> pl.Tensor[[4096, 4096], pl.FP32]:
        d = pl.load(x, [0, 0], [64, 64])
        d: pl.Tile[[64, 64], pl.FP32, BUF[2], pl.Mem.Vec] = pl.exp(d)
        d = pl.neg(d)
        q = pl.exp(d)
        return out

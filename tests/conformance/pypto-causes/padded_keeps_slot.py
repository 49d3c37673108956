# What `fillpad` makes of a tile with a declared slot lies in that slot.
import pypto.language as pl

BUF = pl.MemRef(slots=4)


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[4096, 4096], pl.FP32], h: pl.Tensor[[4096, 4096], pl.FP16], w: pl.Tensor[[4096, 4096], pl.BF16], n: pl.Scalar[pl.INT64], m: pl.Scalar[pl.INT64], k: pl.Scalar[pl.INT32], out: pl.Out[pl.Tensor[[4096, 4096], pl.FP32]], outh: pl.Out[pl.Tensor[[4096, 4096], pl.FP16]]) -> pl.Tensor[[4096, 4096], pl.FP32]:
        d: pl.Tile[[64, 64], pl.FP32, BUF[1], pl.Mem.Vec] = pl.load(x, [0, 0], [64, 64])
        p = pl.fillpad(d)
        q = pl.exp(p)
        return out

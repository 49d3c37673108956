import pypto.language as pl

BUF = pl.MemRef(slots=2)

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[64, 64], pl.FP32], out: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        a: pl.Tile[[64, 64], pl.FP32, BUF[2], pl.Mem.Vec] = pl.load(x, [0, 0], [64, 64])
        out = pl.store(a, [0, 0], out)
        return out

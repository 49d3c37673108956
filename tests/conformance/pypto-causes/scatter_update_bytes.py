# What a scatter of rows becomes does not take every element type.
import pypto.language as pl
BUF = pl.MemRef(slots=2)

@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[64, 32], pl.UINT8], y: pl.Tensor[[64, 64], pl.INT32], o: pl.Out[pl.Tensor[[64, 32], pl.UINT8]]) -> pl.Tensor[[64, 32], pl.UINT8]:
        rows = pl.load(x, [0, 0], [64, 32])
        index = pl.load(y, [0, 0], [1, 16])
        new = pl.load(x, [0, 0], [16, 32])
        out = pl.tile.scatter_update(rows, index, new, dim=-2)
        more = pl.add(out, out)
        o = pl.store(more, [0, 0], o)
        return o

# A scatter of rows is one of elements by flat indices, and a choice by a mask that is scattered too; 16-bit indices for 16-bit data.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[64, 32], pl.INT16], y: pl.Tensor[[1, 64], pl.INT32], o: pl.Out[pl.Tensor[[64, 32], pl.INT16]]) -> pl.Tensor[[64, 32], pl.INT16]:
        rows = pl.load(x, [0, 0], [64, 32])
        index = pl.load(y, [0, 0], [1, 16])
        new = pl.load(x, [0, 0], [16, 32])
        out = pl.tile.scatter_update(rows, index, new, dim=-2)
        o = pl.store(out, [0, 0], o)
        return o

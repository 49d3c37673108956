# A load of no elements is refused where tiles get memory; a kernel for both cores has lost by then what nothing needs.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def vector(self, a: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        tile = pl.load(a, [0, 0], [4, 64])
        empty = pl.load(a, [0, 0], [4, 0])
        o = pl.store(tile, [0, 0], o)
        return o

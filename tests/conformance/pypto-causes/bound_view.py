# A view lies where its source does, so that it cannot be bound to a slot.
import pypto.language as pl


BUFFER = pl.MemRef(slots=2)


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[64, 64], pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        a: pl.Tile[[64, 64], pl.FP32, BUFFER[0], pl.Mem.Vec] = pl.load(x, [0, 0], [64, 64])
        a = pl.reshape(a, [64, 64])
        o = pl.store(a, [0, 0], o)
        return o

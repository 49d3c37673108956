# In the second unit's empty run a result that is deduced anew has no slot.
import pypto.language as pl

BUFFER = pl.MemRef(slots=2)


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[256, 128], pl.FP32], y: pl.Tensor[[64, 64], pl.BF16], o: pl.Out[pl.Tensor[[32, 64], pl.FP32]]) -> pl.Tensor[[32, 64], pl.FP32]:
        a: pl.Tile[[32, 64], pl.FP32, BUFFER[1], pl.Mem.Vec] = pl.load(x, [32, 0], [32, 64])
        b: pl.Tile[[32, 64], pl.FP32, BUFFER[0], pl.Mem.Vec] = pl.exp(a)
        c = pl.load(y, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        o = pl.store(b, [0, 0], o)
        return o

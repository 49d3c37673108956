# The author says how a tile lies in Vec that comes from Acc: nothing has to be laid out again for the exponential.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, b: pl.Tensor[[512, 512], pl.FP16], out: pl.Out[pl.Tensor[[512, 512], pl.FP32]]) -> pl.Tensor[[512, 512], pl.FP32]:
        x = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        y = pl.load(b, [0, 64], [64, 64], target_memory=pl.Mem.Mat)
        c = pl.matmul(x, y)
        v = pl.move(c, target_memory=pl.Mem.Vec, blayout=pl.TileLayout.row_major, slayout=pl.TileLayout.none_box)
        w = pl.exp(v)
        out = pl.store(w, [0, 0], out)
        return out

# What comes from the cube in halves goes back to it: one of them as it came, the other through the vector units.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore, attrs={"split": pl.SplitMode.UP_DOWN})
    def k(self, a: pl.Tensor[[256, 256], pl.BF16], b: pl.Tensor[[256, 256], pl.BF16], o: pl.Out[pl.Tensor[[256, 256], pl.FP32]]) -> pl.Tensor[[256, 256], pl.FP32]:
        x = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        w = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        c = pl.matmul(x, w)
        v = pl.move(c, target_memory=pl.Mem.Vec)
        t = pl.create_tile([64, 64], dtype=pl.FP32, target_memory=pl.Mem.Vec)
        s = pl.row_expand_sub(v, pl.row_max(v, t))
        p = pl.exp(s)
        m = pl.move(p, target_memory=pl.Mem.Mat)
        u = pl.move(v, target_memory=pl.Mem.Mat)
        d = pl.matmul(m, u)
        o = pl.store(d, [0, 0], o)
        return o

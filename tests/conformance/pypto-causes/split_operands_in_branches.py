# Each branch hands halves over to the cube: one is of a tile that is loaded in front of the loop, and goes to two memories.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore, attrs={"split": pl.SplitMode.UP_DOWN})
    def k(self, a: pl.Tensor[[256, 256], pl.BF16], b: pl.Tensor[[256, 256], pl.BF16], o: pl.Out[pl.Tensor[[256, 256], pl.FP32]]) -> pl.Tensor[[256, 256], pl.FP32]:
        w = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        z = pl.load(a, [64, 64], [64, 64])
        for i in pl.range(0, 4):
            x = pl.load(a, [i * 64, 0], [64, 64])
            if i > 1:
                y = pl.add(x, z)
                m = pl.move(y, target_memory=pl.Mem.Mat)
                c = pl.matmul(m, w)
                o = pl.store(c, [i * 64, 0], o)
            else:
                l = pl.move(z, target_memory=pl.Mem.Left)
                n = pl.move(z, target_memory=pl.Mem.Mat)
                r = pl.move(n, target_memory=pl.Mem.Right)
                d = pl.matmul(l, r)
                o = pl.store(d, [i * 64, 0], o)
        return o

# A tile that is padded lies in the slot of what it is made of, also where the second vector unit repeats it.
import pypto.language as pl

buffer = pl.MemRef(slots=2)


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def k(self, x: pl.Tensor[[64, 512], pl.FP16], a: pl.Tensor[[64, 64], pl.FP16], p: pl.Out[pl.Tensor[[64, 64], pl.FP32]], o: pl.Out[pl.Tensor[[64, 512], pl.FP16]]) -> tuple[pl.Tensor[[64, 64], pl.FP32], pl.Tensor[[64, 512], pl.FP16]]:
        l = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        c = pl.matmul(l, l)
        p = pl.store(c, [0, 0], p)
        s: pl.Tile[[1, 512], pl.FP16, buffer[0], pl.Mem.Vec] = pl.load(x, [3, 0], [1, 512])
        t = pl.fillpad_expand(s, [1, 512])
        o = pl.store(t, [1, 0], o)
        return p, o

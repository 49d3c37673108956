# The second vector unit of the 910B runs with empty tiles, whose types are deduced anew: a row and a column make a row there.
import pypto.language as pl


@pl.program
class Random:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x2: pl.Tensor[[4096, 4096], pl.FP16]) -> pl.Tensor[[4096, 4096], pl.FP16]:
        t5 = pl.load(x2, [0, 16], [32, 16], target_memory=pl.Mem.Mat)
        t9 = pl.tile.full([1, 32], dtype=pl.FP16, value=0.0)
        t16 = pl.load(x2, [96, 0], [32, 1])
        t17 = pl.add(t9, t16)
        return t17

# In a kernel for one core what is not said is Vec, whatever an annotation says.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.AIC)
    def kernel(self, x0: pl.Tensor[[128, 512], pl.BF16], o1: pl.Out[pl.Tensor[[32, 128], pl.FP32]]) -> pl.Tensor[[32, 128], pl.FP32]:
        t1: pl.Tile[[16, 64], pl.BF16, pl.Mem.Mat] = pl.load(x0, [32, 128], [16, 64])
        t2: pl.Tile[[16, 64], pl.BF16] = pl.load(x0, [32, 128], [16, 64])
        t3: pl.Tile[[16, 64], pl.BF16, pl.Mem.Mat] = pl.load(x0, [32, 128], [16, 64], target_memory=pl.Mem.Mat)
        t4 = pl.load(x0, [32, 128], [16, 64])
        return o1

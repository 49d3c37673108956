# A loop that the vector core goes through has the compiler declare its first value in Vec, where the cube makes it: what the vector core
# reads in front of the loop has memory that nothing is written to, and the loop begins with a second product.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, a: pl.Tensor[[64, 64], pl.FP16], b: pl.Tensor[[64, 64], pl.FP16], out: pl.Out[pl.Tensor[[128, 64], pl.FP32]]) -> pl.Tensor[[128, 64], pl.FP32]:
        x = pl.load(a, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        y = pl.load(b, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        z = pl.matmul(x, y)
        out = pl.store(z, [0, 0], out)
        for i, (c,) in pl.range(0, 4, init_values=(z,)):
            d = pl.abs(c)
            e = pl.yield_(d)
        out = pl.store(e, [64, 0], out)
        return out

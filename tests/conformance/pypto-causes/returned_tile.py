# A tile that a kernel returns is stored to a parameter that the compiler adds, which takes a number.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x0: pl.Tensor[[4096, 4096], pl.FP32], x1: pl.Tensor[[64, 64], pl.BF16], x2: pl.Tensor[[64, 64], pl.BF16], x3: pl.Tensor[[64, 64], pl.BF16], x4: pl.Tensor[[64, 64], pl.BF16], x5: pl.Tensor[[64, 64], pl.BF16], x6: pl.Tensor[[64, 64], pl.BF16], x7: pl.Tensor[[64, 64], pl.BF16]) -> pl.Tensor[[64, 64], pl.FP32]:
        a = pl.load(x0, [0, 0], [16, 16])
        b = pl.exp(a)
        c = pl.add(a, b)
        e = pl.load(x1, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        f = pl.load(x2, [0, 0], [64, 64], target_memory=pl.Mem.Mat)
        g = pl.matmul(e, f)
        h = pl.load(x0, [0, 0], [64, 64])
        i = pl.exp(h)
        return i

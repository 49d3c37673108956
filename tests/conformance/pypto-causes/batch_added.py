# Rows of an accumulator are no accumulator.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[8, 64, 64], pl.BF16], y: pl.Tensor[[8, 64, 64], pl.BF16], big: pl.Tensor[[16, 256, 256], pl.BF16], o: pl.Out[pl.Tensor[[8, 64, 64], pl.FP32]], p: pl.Out[pl.Tensor[[512, 64], pl.FP32]]) -> tuple[pl.Tensor[[8, 64, 64], pl.FP32], pl.Tensor[[512, 64], pl.FP32]]:
        a = pl.load(x, [1, 0, 0], [3, 32, 64], target_memory=pl.Mem.Mat)
        b = pl.load(y, [2, 0, 0], [3, 64, 64], target_memory=pl.Mem.Mat)
        c = pl.create_tile([3, 32, 64], dtype=pl.FP32, target_memory=pl.Mem.Acc)
        d = pl.tile.batch_matmul_acc(c, a, b)
        o = pl.store(d, [3, 0, 0], o)
        return o, p

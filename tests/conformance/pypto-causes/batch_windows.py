# A window with gaps between its rows is loaded batch by batch.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def kernel(self, x: pl.Tensor[[8, 64, 64], pl.BF16], y: pl.Tensor[[8, 64, 64], pl.BF16], big: pl.Tensor[[16, 256, 256], pl.BF16], o: pl.Out[pl.Tensor[[8, 64, 64], pl.FP32]], p: pl.Out[pl.Tensor[[512, 64], pl.FP32]]) -> tuple[pl.Tensor[[8, 64, 64], pl.FP32], pl.Tensor[[512, 64], pl.FP32]]:
        for i in pl.pipeline(4, stage=2):
            a = pl.load(x, [i, 0, 0], [3, 32, 64], target_memory=pl.Mem.Mat)
            b = pl.load(y, [i, 0, 0], [3, 64, 64], target_memory=pl.Mem.Mat)
            c = pl.tile.batch_matmul(a, b)
            o = pl.store(c, [i, 0, 0], o)
        return o, p

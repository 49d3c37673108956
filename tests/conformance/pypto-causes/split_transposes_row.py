# A row has one element along the axis that pl.split divides: it may be transposed.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Tensor[[64, 256], pl.BF16], w: pl.Tensor[[256, 64], pl.BF16], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            t = pl.transpose(x[0:1, 0:64], 1, 0)
            p = pl.matmul(y, w)
            o[0:64, 0:64] = p
        return o

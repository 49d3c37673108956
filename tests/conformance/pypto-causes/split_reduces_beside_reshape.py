# A reduction along the axis that pl.split divides, beside a reshape of another tile.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[64, 64], pl.FP32], y: pl.Tensor[[64, 256], pl.BF16], w: pl.Tensor[[256, 64], pl.BF16], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]):
            t = pl.reshape(x[0:32, 0:64], [64, 32])
            r = pl.row_max(x)
            p = pl.matmul(y, w)
            o[0:64, 0:64] = p
        return o

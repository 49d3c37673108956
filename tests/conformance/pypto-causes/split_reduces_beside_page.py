# The product of a page of three axes is reduced along the axis that pl.split divides; that the page was reshaped for the cube does not matter.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[192, 256], pl.BF16], b: pl.Tensor[[1, 256, 256], pl.BF16], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            x = a[128:192, 128:256]
            y = b[0, 128:192, 0:128]
            c = pl.matmul(x, y, out_dtype=pl.FP32, b_trans=True)
            t = pl.col_max(c)
            e = pl.exp(c)
            o = pl.assemble(o, e, [0, 0])
        return o

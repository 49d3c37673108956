# One row has no halves, so that the cube cannot put it together.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[1, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], o: pl.Out[pl.Tensor[[1, 64], pl.FP32]]) -> pl.Tensor[[1, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            y = pl.add(a, a)
            c = pl.matmul(y, b, out_dtype=pl.FP32)
            o = pl.assemble(o, c, [0, 0])
        return o

# Halves of columns go to the cube, which takes them out of the queue as one tile in Mat, and moves that; b_trans reads what was moved.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[64, 128], pl.BF16], b: pl.Tensor[[64, 128], pl.BF16], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]):
            x = pl.add(b, b)
            c = pl.matmul(a, x, b_trans=True, out_dtype=pl.FP32)
            o = pl.assemble(o, c, [0, 0])
        return o

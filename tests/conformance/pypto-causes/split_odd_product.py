# Halves of odd rows come from the cube: both units have 17 rows, of which the second uses 16.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[33, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], o: pl.Out[pl.Tensor[[33, 64], pl.FP32]]) -> pl.Tensor[[33, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            c = pl.matmul(a, b, out_dtype=pl.FP32)
            d = pl.add(c, c)
            o = pl.assemble(o, d, [0, 0])
        return o

# The cube puts together also what is valid in part, with lanes of 32 and 8 rows.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[64, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            x = pl.slice(a, [64, 128], [0, 0], valid_shape=[40, 128])
            y = pl.add(x, x)
            c = pl.matmul(y, b, out_dtype=pl.FP32)
            o = pl.assemble(o, c, [0, 0])
        return o

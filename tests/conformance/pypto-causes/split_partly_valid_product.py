# Of 40 valid rows each unit has 20, because nothing else is divided.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[64, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            x = pl.slice(a, [64, 128], [0, 0], valid_shape=[40, 128])
            c = pl.matmul(x, b, out_dtype=pl.FP32)
            d = pl.add(c, c)
            o = pl.assemble(o, d, [0, 0])
        return o

# What depends on the position is not divided between the vector units.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[64, 64], pl.BF16], b: pl.Tensor[[64, 64], pl.BF16], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]):
            c = pl.matmul(a, b, out_dtype=pl.FP32)
            d = pl.arange(0, [1, 64], dtype=pl.INT32)
            e = pl.exp(c)
            o = pl.assemble(o, e, [0, 0])
        return o

# What a loop carries stays whole, and does not go to the cube.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[64, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]):
            x = pl.add(a, a)
            for i in pl.range(0, 4):
                x = pl.add(x, a)
            c = pl.matmul(x, b, out_dtype=pl.FP32)
            o = pl.assemble(o, c, [0, 0])
        return o

# In front of a loop in a branch the cube computes again what the loop begins with, and with it what it has taken from the vector units: with
# halves the compiler stops.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[64, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], n: pl.Scalar[pl.INDEX], o: pl.Out[pl.Tensor[[192, 64], pl.FP32]]) -> pl.Tensor[[192, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            x = pl.abs(a)
            c = pl.matmul(x, b, out_dtype=pl.FP32)
            o = pl.assemble(o, c, [0, 0])
            if n > 1:
                for i in pl.range(2):
                    d = pl.matmul(a, b, out_dtype=pl.FP32)
                    o = pl.assemble(o, d, [i * 64 + 64, 0])
        return o

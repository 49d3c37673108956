# Within 0 and 1 the remainder of a division by 2 is the number, so that a condition on it says which of the two it is.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[64, 64], pl.FP32], n: pl.Scalar[pl.INT64], m: pl.Scalar[pl.INDEX], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
            a = x[0:32, 0:64]
            o[0:32, 0:64] = a
            if m <= 1:
                if m % 2 == 0:
                    if m + 1 == 2:
                        b = x[0:16, 0:64]
                        o[0:16, 0:64] = pl.exp(b)
        return o

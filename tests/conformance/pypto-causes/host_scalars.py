# Scalars of the host are combined by the rules of a kernel's.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[64, 64], pl.FP32], q: pl.Scalar[pl.FP32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        if q + 1 <= 3:
            with pl.at(level=pl.Level.CORE_GROUP):
                a = pl.exp(x)
                o = pl.assemble(o, a, [0, 0])
        return o

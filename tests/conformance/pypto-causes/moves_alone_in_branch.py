# A statement that stands alone in its branch gets no moves.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[32, 64], pl.FP16], b: pl.Tensor[[64, 64], pl.FP16], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[32, 64], pl.FP32]]) -> pl.Tensor[[32, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP):
            t = pl.matmul(a, b, out_dtype=pl.FP32)
            if n > 3:
                u = pl.abs(t)
            o = pl.assemble(o, t, [0, 0])
        return o

# A number with an element type gives the result that type, also where tensors become tiles, and also by a name.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[64, 32], pl.FP16], o: pl.Out[pl.Tensor[[64, 32], pl.FP16]]) -> pl.Tensor[[64, 32], pl.FP16]:
        with pl.at(level=pl.Level.CORE_GROUP):
            half: pl.Scalar[pl.FP16] = pl.const(0.5, pl.FP16)
            a = pl.expands(x, half)
            b = pl.expands(x, pl.const(0.25, pl.FP16))
            c = pl.add(a, b)
            o = pl.assemble(o, c, [0, 0])
        return o

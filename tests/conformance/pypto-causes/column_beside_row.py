# A column that is made a row beside one that is laid out in rows already gives a square, which is no column again.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[128, 64], pl.INT16], o: pl.Out[pl.Tensor[[32, 1], pl.INT16]]) -> pl.Tensor[[32, 1], pl.INT16]:
        with pl.at(level=pl.Level.CORE_GROUP):
            a = pl.row_prod(x[64:96, 0:64])
            b = pl.full([32, 1], dtype=pl.INT16, value=2)
            c = pl.part_max(a, b)
            o = pl.assemble(o, c, [0, 0])
        return o

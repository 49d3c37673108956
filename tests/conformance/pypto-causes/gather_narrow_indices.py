# On 950 indices of 16 bits are widened, made flat and narrowed again, and rows that do not fill 32 bytes are counted by a column; the result is another name of what was gathered.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[8, 32], pl.FP16], y: pl.Tensor[[8, 12], pl.INT16], o: pl.Out[pl.Tensor[[8, 12], pl.FP16]]) -> pl.Tensor[[8, 12], pl.FP16]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
            v = x
            g = pl.gather(v, dim=-1, index=y)
            o = pl.assemble(o, g, [0, 0])
        return o

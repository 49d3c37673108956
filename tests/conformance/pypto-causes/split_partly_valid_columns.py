# Valid columns do not come from the cube in halves.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[64, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]):
            x = pl.slice(b, [128, 64], [0, 0], valid_shape=[128, 40])
            c = pl.matmul(a, x, out_dtype=pl.FP32)
            d = pl.add(c, c)
            o = pl.assemble(o, d, [0, 0])
        return o

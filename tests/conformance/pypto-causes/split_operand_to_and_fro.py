# Both directions in a pipeline: halves of rows go to the cube and come back.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[256, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], o: pl.Out[pl.Tensor[[256, 64], pl.FP32]]) -> pl.Tensor[[256, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            for i in pl.pipeline(0, 256, 64, stage=2):
                x = a[i:i + 64, :]
                y = pl.add(x, x)
                c = pl.matmul(y, b, out_dtype=pl.FP32)
                d = pl.add(c, c)
                o = pl.assemble(o, d, [i, 0])
        return o

# A parameter takes tiles, or elements.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[512, 896], pl.FP32], y: pl.Tensor[[128, 112], pl.FP32], alpha: pl.Scalar[pl.FP32], o: pl.Out[pl.Tensor[[64, 112], pl.FP32]]) -> pl.Tensor[[64, 112], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP):
            a = x[128:192, 0:112]
            b = pl.assemble(y, a, [64, 0])
            pl.write(b, [93, 102], alpha)
            o = pl.assemble(o, a, [0, 0])
        return o

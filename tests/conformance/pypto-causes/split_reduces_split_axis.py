# A reduction along the axis that pl.split divides.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, p1: pl.Tensor[[16, 128], pl.FP32], p2: pl.Tensor[[1024, 32], pl.FP32], o0: pl.Out[pl.Tensor[[512, 16], pl.FP32]]) -> pl.Tensor[[512, 16], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            v3 = pl.slice(p2, [128, 16], [896, 16])
            v4 = pl.matmul(p1, v3)
            v5 = pl.col_max(v3)
        return o0

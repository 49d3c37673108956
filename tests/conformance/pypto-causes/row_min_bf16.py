# row_min of bf16.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, p1: pl.Tensor[[256, 512], pl.BF16], p2: pl.Tensor[[512, 128], pl.BF16], n: pl.Scalar[pl.INDEX], o0: pl.Out[pl.Tensor[[32, 16], pl.INT32]], o1: pl.Out[pl.Tensor[[512, 32], pl.BF16]]) -> tuple[pl.Tensor[[32, 16], pl.INT32], pl.Tensor[[512, 32], pl.BF16]]:
        v3 = pl.slice(p1, [64, 512], [0, 0], valid_shape=[pl.min(n, 64), 512])
        v4 = pl.slice(p2, [512, 128], [0, 0])
        v5 = pl.matmul(v3, v4)
        v6 = pl.row_min(v5)
        return o0, o1

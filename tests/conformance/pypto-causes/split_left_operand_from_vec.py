# Each vector unit pushes its half; the cube takes both out of the queue as one tile, moves it to memory of its own, and frees the entry.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, p1: pl.Tensor[[64, 512], pl.BF16], p2: pl.Tensor[[128, 512], pl.BF16], p3: pl.Tensor[[512, 256], pl.BF16], o0: pl.Out[pl.Tensor[[64, 256], pl.FP32]], o1: pl.Out[pl.Tensor[[64, 1024], pl.BF16]]) -> tuple[pl.Tensor[[64, 256], pl.FP32], pl.Tensor[[64, 1024], pl.BF16]]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            v3 = p2[0:0 + 128, 0:0 + 512]
            v4 = pl.matmul(p1, v3, b_trans=True)
            v7 = pl.maximum(p1, p1)
            v8 = p3[0:0 + 512, 0:0 + 128]
            v9 = pl.matmul(v3, v8, out_dtype=pl.FP32)
            v11 = pl.row_sum(v9)
        return o0, o1

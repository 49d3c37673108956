# The same behind pl.unroll.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, p1: pl.Tensor[[1, 8], pl.FP32], o0: pl.Out[pl.Tensor[[1, 16], pl.INT32]], o1: pl.Out[pl.Tensor[[8, 128], pl.FP32]], o2: pl.Out[pl.Tensor[[2, 640], pl.BF16]], o3: pl.Out[pl.Tensor[[16, 80], pl.BF16]]) -> tuple[pl.Tensor[[1, 16], pl.INT32], pl.Tensor[[8, 128], pl.FP32], pl.Tensor[[2, 640], pl.BF16], pl.Tensor[[16, 80], pl.BF16]]:
        for b in pl.spmd(4):
            for i2 in pl.unroll(2):
                v3 = pl.cast(p1, pl.INT32, mode="rint")
                o0[i2 * 1:i2 * 1 + 1, 0:8] = v3
        return o0, o1, o2, o3

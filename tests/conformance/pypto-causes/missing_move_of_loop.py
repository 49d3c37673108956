# As missing_move: what a loop of the cube makes is not computed again, so that DSA-RP finds a place for it in the loop that begins with it,
# and none without.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[64, 64], pl.FP32], b: pl.Tensor[[16, 32], pl.FP32], o: pl.Out[pl.Tensor[[128, 32], pl.FP32]]) -> pl.Tensor[[128, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
            t = pl.create_tensor([64, 32], dtype=pl.FP32)
            for k in pl.pipeline(0, 8, stage=2):
                x = a[0:64, 16:32]
                if k == 0:
                    t = pl.matmul(x, b, out_dtype=pl.FP32)
                else:
                    t = pl.matmul_acc(t, x, b)
            o[0:64, 0:32] = t
            for i in pl.range(0, 3):
                t = pl.abs(t)
            o[64:128, 0:32] = t
        return o

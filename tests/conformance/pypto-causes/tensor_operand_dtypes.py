# row_expand_add of two dtypes (fp16 + float is fp32).
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, p0: pl.Tensor[[128, 200], pl.FP16], o0: pl.Out[pl.Tensor[[64, 64], pl.INT32]], o1: pl.Out[pl.Tensor[[128, 100], pl.FP16]], o2: pl.Out[pl.Tensor[[32, 1], pl.FP16]]) -> tuple[pl.Tensor[[64, 64], pl.INT32], pl.Tensor[[128, 100], pl.FP16], pl.Tensor[[32, 1], pl.FP16]]:
        for b in pl.spmd(4):
            v1 = p0[b * 32:b * 32 + 32, 0:0 + 100]
            v2 = pl.row_sum(v1)
            v3 = pl.add(v1, 0.125)
            v4 = pl.row_expand_add(v3, v2)
        return o0, o1, o2

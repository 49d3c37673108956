# pl.cast to the dtype that the value has (bf16 * float is fp32).
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, p0: pl.Tensor[[16, 32], pl.BF16], o0: pl.Out[pl.Tensor[[16, 1], pl.FP32]], o1: pl.Out[pl.Tensor[[16, 64], pl.FP32]]) -> tuple[pl.Tensor[[16, 1], pl.FP32], pl.Tensor[[16, 64], pl.FP32]]:
        v1 = pl.mul(p0, 0.125)
        v2 = pl.cast(v1, pl.FP32)
        return o0, o1

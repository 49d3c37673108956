# tensor.div of bf16.
import pypto.language as pl


@pl.program
class P:
    @pl.function(type=pl.FunctionType.InCore)
    def main(self, p1: pl.Tensor[[16, 32], pl.BF16], p2: pl.Tensor[[128, 128], pl.BF16], o0: pl.Out[pl.Tensor[[64, 64], pl.FP32]]) -> pl.Tensor[[64, 64], pl.FP32]:
        v3 = pl.slice(p2, [32, 64], [0, 0])
        v4 = pl.matmul(p1, v3)
        v9 = pl.div(v4, v4)
        return o0

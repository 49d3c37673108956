# Operands that do not fit L1 together are loaded batch by batch, and turned one by one.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, x: pl.Tensor[[8, 64, 64], pl.BF16], y: pl.Tensor[[8, 64, 64], pl.BF16], big: pl.Tensor[[16, 256, 256], pl.BF16], o: pl.Out[pl.Tensor[[8, 64, 64], pl.FP32]], p: pl.Out[pl.Tensor[[16, 64, 64], pl.FP32]]) -> tuple[pl.Tensor[[8, 64, 64], pl.FP32], pl.Tensor[[16, 64, 64], pl.FP32]]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
            c = pl.matmul(big[0:8, 0:64, 0:256], big[8:16, 0:64, 0:256], b_trans=True, out_dtype=pl.FP32)
            p = pl.assemble(p, c, [0, 0, 0])
        return o, p

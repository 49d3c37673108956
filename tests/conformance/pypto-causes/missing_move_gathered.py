# As missing_move: what is gathered from a value of the other core lies in Vec here, so that its copy is the vector pipe's under DSA-RP.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[32, 64], pl.BF16], b: pl.Tensor[[64, 176], pl.BF16], at: pl.Tensor[[32, 155], pl.INT32], c: pl.Tensor[[64, 32], pl.FP32], d: pl.Tensor[[64, 1], pl.FP32], o: pl.Out[pl.Tensor[[64, 32], pl.FP32]]) -> pl.Tensor[[64, 32], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
            product = pl.create_tensor([32, 176], dtype=pl.FP32)
            for k in pl.range(0, 8):
                if k == 0:
                    product = pl.matmul(a, b, out_dtype=pl.FP32)
                else:
                    product = pl.matmul_acc(product, a, b)
            gathered = pl.gather(product, dim=-1, index=at[0:32, 0:155])
            most = pl.row_expand_max(c[0:64, 0:32], d)
            for i, (carried,) in pl.range(4, init_values=(product,)):
                squared = pl.mul(carried, carried)
                last = pl.yield_(squared)
            o[0:64, 0:32] = most
        return o

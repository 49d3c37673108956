# What the vector core takes from the cube, and what it computes again in front of a loop, are one name: loaded, it has memory; received,
# none. The second vector unit declares the load in Mat. On 910B without `pl.split` the other order does not go through StampTfreeSplit.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[512, 256], pl.BF16], o: pl.Out[pl.Tensor[[512, 64], pl.FP32]], u: pl.Out[pl.Tensor[[256, 128], pl.BF16]]) -> tuple[pl.Tensor[[512, 64], pl.FP32], pl.Tensor[[256, 128], pl.BF16]]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
            x = a[384:512, 0:128]
            y = a[0:128, 96:128]
            z = pl.matmul(x, y, out_dtype=pl.FP32)
            for i, (c,) in pl.range(0, 4, init_values=(z,)):
                d = pl.abs(c)
                e = pl.yield_(d)
            o[0:128, 0:32] = z
            u[128:256, 64:96] = y
        return o, u

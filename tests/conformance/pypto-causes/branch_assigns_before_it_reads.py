# A name that both branches assign, one of them before it reads it.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, x5: pl.Tensor[[4, 64], pl.FP32], n: pl.Scalar[pl.INT64], m: pl.Scalar[pl.INDEX], o3: pl.Out[pl.Tensor[[4, 64], pl.FP32]]) -> pl.Tensor[[4, 64], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope7"):
            o3[0:4, 0:64] = x5
            if n < 2:
                t8 = pl.log(x5)
            else:
                t8 = pl.abs(x5)
                t9 = pl.abs(t8)
        return o3

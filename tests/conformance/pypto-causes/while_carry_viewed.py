# What stands behind a `while` loop gets memory under DSA-RP where a view of it is made, and only then.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[16, 64], pl.FP16], n: pl.Scalar[pl.INT64], o: pl.Out[pl.Tensor[[32, 16], pl.FP16]]) -> pl.Tensor[[32, 16], pl.FP16]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope"):
            tile = pl.slice(a, [16, 32], [0, 0])
            k = pl.const(0, pl.INT64)
            while k < n:
                tile = pl.row_expand_max(tile, a[0:16, 2:3])
                k = k + 1
            turned = pl.reshape(tile, [32, 16])
            o[0:32, 0:16] = pl.exp(turned)
        return o

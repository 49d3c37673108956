# What a tile from the cube and a loaded one make may take the loaded one's memory: the compiler means to keep them apart in a divided scope of
# the 910B, but looks for received tiles among those that have memory of their own. Seen under DSA-RP, where it cost a place.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[16, 32], pl.BF16], b: pl.Tensor[[32, 48], pl.BF16], c: pl.Tensor[[16, 48], pl.FP32], o: pl.Out[pl.Tensor[[16, 48], pl.FP32]]) -> pl.Tensor[[16, 48], pl.FP32]:
        with pl.at(level=pl.Level.CORE_GROUP, name_hint="scope", optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            product = pl.matmul(a, b, out_dtype=pl.FP32)
            bias = c[0:16, 0:48]
            o[0:16, 0:48] = pl.part_min(product, bias)
        return o

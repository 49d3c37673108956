# What is set valid is shared where it does not fit into a half, and set for both units where it does.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[64, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], f: pl.Tensor[[64, 128], pl.FP32], u: pl.Tensor[[64, 128], pl.UINT32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]], o2: pl.Out[pl.Tensor[[64, 512], pl.FP32]]) -> tuple[pl.Tensor[[64, 64], pl.FP32], pl.Tensor[[64, 512], pl.FP32]]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            x = pl.add(a, a)
            c = pl.matmul(x, b, out_dtype=pl.FP32)
            h = pl.exp(f)
            e = pl.set_validshape(h, 40, 128)
            g = pl.set_validshape(pl.add(h, 1.0), 20, 128)
            d = pl.exp(c)
            o = pl.assemble(o, d, [0, 0])
            o2 = pl.assemble(o2, e, [0, 0])
            o2 = pl.assemble(o2, g, [0, 128])
        return o, o2

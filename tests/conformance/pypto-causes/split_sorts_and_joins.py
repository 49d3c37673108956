# Operations that look at more than one element at a time are halved like the others.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[64, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], f: pl.Tensor[[64, 128], pl.FP32], u: pl.Tensor[[64, 128], pl.UINT32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]], o2: pl.Out[pl.Tensor[[64, 512], pl.FP32]]) -> tuple[pl.Tensor[[64, 64], pl.FP32], pl.Tensor[[64, 512], pl.FP32]]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.UP_DOWN)]):
            x = pl.add(a, a)
            c = pl.matmul(x, b, out_dtype=pl.FP32)
            d = pl.concat(c, c)
            e = pl.sort32(f, u)
            r = pl.read(e, [0, 0])
            g = pl.add(d, r)
            o2 = pl.assemble(o2, e, [0, 0])
            o2 = pl.assemble(o2, g, [0, 256])
        return o, o2

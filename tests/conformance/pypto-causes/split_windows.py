# Windows of halves are halved where they are: one is valid in part, one is not at the beginning.
import pypto.language as pl


@pl.program
class P:
    @pl.function
    def main(self, a: pl.Tensor[[64, 128], pl.BF16], b: pl.Tensor[[128, 64], pl.BF16], f: pl.Tensor[[64, 128], pl.FP32], u: pl.Tensor[[64, 128], pl.UINT32], o: pl.Out[pl.Tensor[[64, 64], pl.FP32]], o2: pl.Out[pl.Tensor[[64, 512], pl.FP32]]) -> tuple[pl.Tensor[[64, 64], pl.FP32], pl.Tensor[[64, 512], pl.FP32]]:
        with pl.at(level=pl.Level.CORE_GROUP, optimizations=[pl.split(pl.SplitMode.LEFT_RIGHT)]):
            x = pl.add(a, a)
            c = pl.matmul(x, b, out_dtype=pl.FP32)
            h = pl.exp(f)
            w = pl.slice(h, [32, 64], [0, 0], valid_shape=[20, 48])
            v = pl.slice(h, [16, 64], [32, 16])
            e = pl.exp(v)
            d = pl.exp(c)
            o = pl.assemble(o, d, [0, 0])
            o2 = pl.assemble(o2, w, [0, 0])
            o2 = pl.assemble(o2, e, [32, 128])
        return o, o2
